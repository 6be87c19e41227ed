"""The page of a server that asks who you are, and that has room for one question."""

from __future__ import annotations

import time
from collections.abc import Iterator

import jwt
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Sextant
from tests.e2e.page.steps import add, row, view
from tests.e2e.served import served

pytestmark = pytest.mark.e2e

SECRET, ISSUER, AUDIENCE = "s" * 40, "https://login.example", "sextant"


def token(scope: str) -> str:
    claims = {"sub": "reader", "iss": ISSUER, "aud": AUDIENCE, "scope": scope}
    return jwt.encode(claims | {"exp": int(time.time()) + 3600}, SECRET, "HS256")


@pytest.fixture(scope="module")
def guarded(environment: dict[str, str], sextant: Sextant) -> Iterator[str]:
    """Yield a server with logins, over a document of the user `reader`."""
    sextant("graphs", "--json").json()
    with served(
        environment
        | {
            "SEXTANT_AUTH__JWT_SECRET": SECRET,
            "SEXTANT_AUTH__JWT_ISSUER": ISSUER,
            "SEXTANT_AUTH__JWT_AUDIENCE": AUDIENCE,
            "SEXTANT_RUNS__PER_USER": "1",
        }
    ) as running:
        yield running


@pytest.fixture
def page(browser: Browser, guarded: str) -> Iterator[Page]:
    opened = browser.new_page(locale="en-GB")
    opened.set_default_timeout(60_000)
    opened.goto(guarded)
    yield opened
    opened.close()


def sign_in(page: Page, key: str) -> None:
    page.get_by_label("API key or token").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_the_key_is_asked_for_and_kept_until_the_tab_is_closed(
    page: Page, browser: Browser, guarded: str
) -> None:
    sign_in(page, "wrong")
    expect(page.get_by_role("alert")).to_have_text("The server does not accept this key.")
    sign_in(page, token("read ingest admin"))
    expect(page.get_by_label("API key or token")).to_be_hidden()
    page.reload()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert page.evaluate("JSON.stringify(localStorage) + document.cookie").count("ey") == 0

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key or token")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_key_that_ends_is_asked_for_anew_and_the_conversation_stays(page: Page) -> None:
    expect(page.get_by_label("API key or token")).to_be_focused()
    sign_in(page, "密钥 that no header takes")
    expect(page.get_by_role("alert")).to_have_text("The server does not accept this key.")
    sign_in(page, token("read ingest admin"))
    expect(page.get_by_label("API key or token")).to_be_hidden()
    view(page, "Documents")  # without any the second try would fail, too
    add(
        page, {"name": "note.txt", "mimeType": "text/plain", "buffer": b"The ferry leaves at nine."}
    )
    expect(row(page, "note.txt")).to_contain_text("1 passage")
    view(page, "Ask")
    question = page.get_by_label("Your question")
    page.route("**/api/query", lambda route: route.fulfill(status=401, json={}), times=1)
    question.fill("When does the ferry leave?")
    question.press("Enter")
    expect(page.get_by_label("API key or token")).to_be_focused()
    sign_in(page, token("read ingest admin"))
    expect(page.get_by_label("API key or token")).to_be_hidden()
    turn = page.get_by_role("article")
    expect(turn).to_contain_text("The server does not accept this key.")
    expect(question).to_have_value("When does the ferry leave?")
    turn.get_by_role("button", name="Try again").click()
    expect(turn.locator(".answer")).to_contain_text("The ferry leaves at nine.")
    expect(turn.locator(".bad")).to_have_count(0)


def test_what_a_key_does_not_permit_says_whom_to_ask(page: Page) -> None:
    sign_in(page, token("read"))
    view(page, "Documents")
    add(
        page, {"name": "mine.txt", "mimeType": "text/plain", "buffer": b"The ferry leaves at nine."}
    )
    expect(row(page, "mine.txt").get_by_role("alert")).to_contain_text(
        "Ask whoever runs the server for a key with this permission (`sextant keys create --scope"
    )


def test_where_there_is_no_room_the_page_says_when_to_come_again(page: Page) -> None:
    sign_in(page, token("read ingest admin"))
    view(page, "Documents")
    add(
        page, {"name": "note.txt", "mimeType": "text/plain", "buffer": b"The ferry leaves at nine."}
    )
    expect(row(page, "note.txt")).to_contain_text("1 passage")
    view(page, "Ask")
    page.get_by_label("Mode").select_option("compare")
    # The status tells of whichever mode came last, and that may be one that was refused.
    page.get_by_label("Your question").fill("When does the ferry leave?")
    page.keyboard.press("Enter")
    whole = page.locator("#turns > article")
    expect(whole.locator(".bad").first).to_contain_text("Try again in")
    expect(whole.locator(".note", has_text="Answered in").first).to_be_visible()
