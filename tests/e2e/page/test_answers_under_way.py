"""An answer under way: it goes on while one looks elsewhere or comes back, and ends when it is stopped."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.page.steps import (
    DONE,
    QUESTION,
    ask,
    caught,
    go_on,
    halfway,
    hold,
    late,
    submit,
    use,
    view,
)

pytestmark = pytest.mark.e2e

FIRST = ("token", {"text": "The ferry"})


def deletions(page: Page) -> list[str]:
    """Return what the page asks to be deleted from here on, such as an answer that it ends."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if one.method == "DELETE" else None)
    return asked


def ask_halfway(page: Page) -> list[Route]:
    """Ask, and see the first words of an answer that breaks off behind them; who comes for the rest is held."""
    halfway(page, FIRST)
    submit(page)
    expect(page.locator(".answer")).to_have_text("The ferry")
    page.unroute_all()
    return hold(page, "**/api/query/half/events")


def test_an_answer_whose_connection_breaks_is_taken_up_where_it_was(page: Page) -> None:
    use(page, "page")
    came_back: list[str] = []

    def cut(route: Route) -> None:
        answer = route.fetch()
        first, second, *_ = answer.text().split("\n\n")
        route.fulfill(response=answer, body=f"{first}\n\n{second}\n\nid: ")

    page.route("**/api/query", cut)
    page.on(
        "request",
        lambda one: (
            came_back.append(one.headers.get("last-event-id", ""))
            if one.url.endswith("/events")
            else None
        ),
    )
    turn = ask(page, QUESTION)
    expect(turn.locator(".answer")).to_contain_text("多饮")
    assert [place.rpartition("-")[2] for place in came_back] == ["2"]


@pytest.mark.parametrize("at_once", [False, True])
def test_stopping_ends_the_answer_on_the_server_too(page: Page, at_once: bool) -> None:
    """Also where all of it had come already: to a busy browser it may come in one piece."""
    use(page, "page")
    if at_once:
        page.route("**/api/query", lambda route: route.fulfill(response=route.fetch()))
    ended: list[int | None] = []
    page.on(
        "response",
        lambda one: ended.append(one.status) if one.request.method == "DELETE" else None,
    )
    page.evaluate(
        """() => new MutationObserver(() => {
             if (document.querySelector('.steps [aria-current=step]')) document.getElementById('stop').click();
           }).observe(document.body, { subtree: true, childList: true, attributes: true })"""
    )
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    assert ended == [204]


def test_a_running_answer_goes_on_while_other_views_are_looked_at(page: Page) -> None:
    use(page, "page")
    held = halfway(page, ("token", {"text": "The ferry"}))
    submit(page)
    view(page, "Documents")
    view(page, "Ask")
    expect(page.locator(".answer")).to_have_text("The ferry")
    rest = {**DONE, "answer": "The ferry leaves at nine."}
    go_on(page, held, ("done", rest))
    expect(page.locator(".answer")).to_have_text("The ferry leaves at nine.")


def test_a_question_is_not_lost_when_the_page_is_loaded_anew_before_its_answer(page: Page) -> None:
    use(page, "page")
    halfway(page, ("token", {"text": "The ferry"}))
    submit(page)
    expect(page.locator(".answer")).to_have_text("The ferry")
    page.unroute_all()
    page.reload()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#status")).to_contain_text("Answered in")
    page.reload()
    expect(page.locator(".question")).to_have_text(QUESTION)
    expect(page.get_by_label("Your question")).to_have_value("")


def test_an_answer_goes_on_while_the_page_is_loaded_anew(page: Page) -> None:
    use(page, "page")
    ended = deletions(page)
    held = ask_halfway(page)
    page.reload()
    go_on(page, held, FIRST, ("done", {**DONE, "answer": "The ferry leaves at nine."}))
    expect(page.locator(".answer")).to_have_text("The ferry leaves at nine.")
    expect(page.locator(".question")).to_have_text(QUESTION)
    expect(page.get_by_label("Your question")).to_have_value("")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    assert ended == []


def test_an_answer_that_was_taken_up_can_be_stopped_and_asked_for_again(page: Page) -> None:
    use(page, "page")
    held = ask_halfway(page)
    page.reload()
    go_on(page, held, FIRST)  # and breaks off
    expect(page.locator(".answer")).to_have_text("The ferry")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(page.locator(".question")).to_have_text([QUESTION])


def test_who_loads_the_page_anew_at_once_has_the_question_and_its_answer_once(page: Page) -> None:
    use(page, "page")
    with page.expect_response("**/api/query"):
        submit(page)
    page.reload()
    expect(page.locator(".answer")).to_contain_text("多饮")
    expect(page.locator(".question")).to_have_text([QUESTION])
    page.reload()
    expect(page.locator(".answer")).to_contain_text("多饮")
    expect(page.locator(".question")).to_have_text([QUESTION])
    expect(page.get_by_label("Your question")).to_have_value("")


def test_an_answer_that_was_left_before_it_had_an_address_is_shown_once_it_is_stored(
    page: Page,
) -> None:
    use(page, "page")
    held = hold(page, "**/api/query")
    submit(page)
    asked = caught(page, held)
    page.route("**/api/threads/page-*", lambda route: route.fulfill(status=404, json={}), times=1)
    page.reload()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    asked.fetch()  # the server answers, though nobody listens
    expect(page.locator(".answer")).to_contain_text("多饮")
    expect(page.locator(".question")).to_have_text([QUESTION])
    expect(page.get_by_label("Your question")).to_have_value("")


def test_leaving_ends_a_comparison_which_no_conversation_keeps(page: Page) -> None:
    use(page, "page")
    page.get_by_label("Mode").select_option("compare")
    halfway(page, ("token", {"text": "The ferry"}))
    # What a page asks for while it is left is not told to those who watch it.
    page.evaluate(
        """() => { const ask = window.fetch; window.fetch = (url, options) => {
             if (options?.method === 'DELETE')
               localStorage.setItem('ended', `${localStorage.getItem('ended')} ${url}`);
             return ask(url, options);
           }; }"""
    )
    submit(page)
    expect(page.locator(".answer", has_text="The ferry")).to_be_visible()
    page.unroute_all()
    page.reload()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    # Each mode's answer that was under way, in whichever order they had come.
    assert "api/query/half" in str(page.evaluate("localStorage.getItem('ended')")).split()


def test_another_conversation_knows_nothing_of_the_one_that_was_broken_off(page: Page) -> None:
    use(page, "page")
    halfway(page, ("token", {"text": "The ferry"}))
    submit(page)
    expect(page.locator(".answer")).to_have_text("The ferry")
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_value("")
    expect(page.locator("#status")).to_be_empty()


def test_an_answer_goes_on_while_another_conversation_is_looked_at(page: Page) -> None:
    """Its conversation is new, so the server does not list it yet."""
    use(page, "page")
    ended = deletions(page)
    held = ask_halfway(page)
    page.get_by_role("button", name="New conversation").click()
    ask(page, "血糖的单位是什么？")  # meanwhile
    page.locator("#threads").get_by_role("link", name=QUESTION).first.click()
    go_on(page, held, FIRST, ("done", {**DONE, "answer": "The ferry leaves at nine."}))
    expect(page.locator(".answer")).to_have_text("The ferry leaves at nine.")
    expect(page.locator(".question")).to_have_text([QUESTION])
    expect(page.get_by_label("Your question")).to_have_value("")
    assert ended == []


def test_deleting_a_conversation_ends_the_answer_that_would_bring_it_back(page: Page) -> None:
    use(page, "page")
    halfway(page, ("token", {"text": "The ferry"}))
    ended = deletions(page)
    submit(page)
    expect(page.locator(".answer")).to_have_text("The ferry")
    page.unroute_all()
    page.get_by_role("button", name="New conversation").click()
    left = page.locator("#threads li").first
    expect(left).to_contain_text(QUESTION)
    left.get_by_role("button").click()
    with page.expect_request(
        lambda one: one.method == "DELETE" and not one.url.endswith("/query/half")
    ) as deletion:
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(left).not_to_have_attribute("data-name", deletion.value.url.rpartition("/")[2])
    assert ended[0].endswith("/api/query/half")


def test_an_answer_can_be_stopped_while_its_server_is_gone(page: Page) -> None:
    use(page, "page")
    held = halfway(page, ("token", {"text": "The ferry"}))
    submit(page)
    caught(page, held)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#status")).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def test_a_list_of_conversations_that_comes_late_is_not_added_to_the_newer(page: Page) -> None:
    expect(page.locator("#threads li").first).to_be_attached()
    held = hold(page, "**/api/threads?*")
    page.reload()
    use(page, "page")
    ask(page, QUESTION)
    current = page.locator("#threads [aria-current=page]")
    expect(current).to_have_count(1)
    late(page, held)
    expect(current).to_have_count(1)


def test_a_conversation_that_comes_late_says_that_it_is_opened(page: Page) -> None:
    use(page, "page")
    ask(page, QUESTION)
    held = hold(page, "**/api/threads/page-*")
    page.reload()
    expect(page.locator("#turns")).to_have_text("Opening…")
    late(page, held)
    expect(page.locator(".question")).to_have_text(QUESTION)
    expect(page.locator("#turns")).not_to_contain_text("Opening")
