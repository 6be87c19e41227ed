"""The page at `/` in a real browser: ask, watch, read, open a citation, add and remove a document."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.served import served

pytestmark = pytest.mark.e2e

GUIDE = "糖尿病诊疗指南.pdf"
QUESTION = "糖尿病患者的主要症状是什么？"
# Ingesting and the first answer take seconds on a busy machine; nothing here is measured.
PATIENCE = 60_000


@pytest.fixture(scope="module")
def address(environment: dict[str, str], sextant: Sextant) -> Iterator[str]:
    """A server over one sample document."""
    sextant("ingest", SAMPLES / "documents" / GUIDE, "--graph", "page", "--json").json()
    with served(environment) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, or the one that SEXTANT_CHROMIUM names."""
    named = os.environ.get("SEXTANT_CHROMIUM")
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    program = named or next(filter(None, found), None)
    assert program, "scripts/chromium.sh says how to get a browser"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, freshly loaded in English; it must have asked nobody but its own server."""
    context = browser.new_context(locale="en-GB")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    asked: list[str] = []
    broken: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    opened.on("request", note)
    opened.on("pageerror", lambda error: broken.append(str(error)))
    opened.goto(address)
    yield opened
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert broken == []
    context.close()


def use(page: Page, graph: str) -> None:
    base = page.get_by_label("Knowledge base")
    base.fill(graph)
    base.press("Tab")


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_question_is_answered_with_citations_that_open_their_passage(page: Page) -> None:
    use(page, "page")
    ask(page, QUESTION)
    expect(page.locator("#status")).to_contain_text("Answered in")
    worked = page.locator("#steps li.done").all_text_contents()
    assert worked == ["analyze", "route", "retrieve", "grade", "generate"]
    answer = page.locator("article .answer")
    expect(answer).to_contain_text("多饮")
    cite = answer.get_by_role("button", name="Citation 1: open the passage").first
    cite.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text(GUIDE)
    quote = dialog.locator("mark")
    expect(quote).to_be_visible()
    assert (quote.text_content() or "") in (dialog.locator("blockquote").text_content() or "")
    assert len(dialog.locator("blockquote").text_content() or "") > len(quote.text_content() or "")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_the_keyboard_is_enough_and_a_conversation_goes_on(page: Page) -> None:
    use(page, "page")
    question = page.get_by_label("Your question")
    question.fill(QUESTION)
    question.press("Enter")
    expect(page.locator("#status")).to_contain_text("Answered in")
    question.fill("谢谢")
    question.press("Enter")
    expect(page.locator("article")).to_have_count(2)
    expect(page.locator("#status")).to_contain_text("Answered in")
    page.get_by_role("button", name="New conversation").press("Enter")
    expect(page.locator("article")).to_have_count(0)


def test_a_document_is_added_watched_asked_about_and_removed(page: Page, tmp_path: Path) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    use(page, f"page-{uuid4()}")
    expect(page.locator("#list")).to_contain_text("No documents yet.")
    note = tmp_path / "note.md"
    note.write_text("# Harbour\n\nThe lighthouse keeper of Skerry Vore is called Ailsa Munro.\n")
    page.locator("#files").set_input_files(note)
    page.get_by_role("button", name="Add", exact=True).click()
    row = page.locator("#list li").filter(has_text="note.md")
    expect(row).to_contain_text("1 passages")
    ask(page, "Who is the lighthouse keeper of Skerry Vore?")
    expect(page.locator("article .answer")).to_contain_text("Ailsa Munro")
    row.get_by_role("button", name="Delete: note.md").click()
    expect(page.locator("#list")).to_contain_text("No documents yet.")


def test_what_cannot_be_done_is_said_in_words(page: Page, tmp_path: Path) -> None:
    use(page, "nobody-made-this")
    ask(page, QUESTION)
    expect(page.locator("#status")).to_contain_text("nobody-made-this")
    image = tmp_path / "program.exe"
    image.write_bytes(b"MZ\x00\x01\x02")
    page.locator("#files").set_input_files(image)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#upload-status")).to_contain_text("program.exe")


def test_text_of_documents_is_never_markup(page: Page, tmp_path: Path) -> None:
    use(page, f"page-{uuid4()}")
    note = tmp_path / "bad.txt"
    note.write_text(
        "The secret word of the harbour is <img src=x onerror=alert(1)> "
        "![leak](http://example.org/x.png) barnacle.\n"
    )
    page.locator("#files").set_input_files(note)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#list li").filter(has_text="bad.txt")).to_contain_text("1 passages")
    ask(page, "What is the secret word of the harbour?")
    answer = page.locator("article .answer")
    expect(answer).to_contain_text("img src=x onerror")
    answer.get_by_role("button").first.click()
    expect(page.get_by_role("dialog").locator("blockquote")).to_contain_text("<img src=x onerror")
    assert page.locator("article img, dialog img, article a").count() == 0


def test_the_page_speaks_chinese(page: Page) -> None:
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_label("你的问题")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.locator("#steps")).to_contain_text("检索")
    page.reload()
    expect(page.get_by_label("知识库")).to_be_visible()
