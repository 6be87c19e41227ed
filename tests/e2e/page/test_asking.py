"""Ask, watch, read, open a citation, go on; and what is said when it does not work."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.page.steps import (
    DONE,
    GUIDE,
    QUESTION,
    ask,
    begin,
    go_on,
    halfway,
    stream,
    submit,
    use,
    view,
)

pytestmark = pytest.mark.e2e


def test_what_is_wrong_with_a_long_question_is_on_the_screen_with_it(page: Page) -> None:
    use(page, "page")
    page.get_by_label("Your question").fill("word " * 500)
    page.keyboard.press("Enter")
    refusal = page.get_by_role("article").get_by_text("at most 2000")
    expect(refusal).to_be_visible()
    said, composer = refusal.bounding_box(), page.locator(".composer").bounding_box()
    assert said is not None
    assert composer is not None
    assert said["y"] + said["height"] <= composer["y"]


def test_a_question_is_answered_with_citations_that_open_their_passage(page: Page) -> None:
    use(page, "page")
    turn = ask(page, QUESTION)
    answer = turn.locator(".answer")
    expect(answer).to_contain_text("多饮")
    answer.get_by_role("button", name="Citation 1: open the passage").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text(GUIDE)
    quote = dialog.locator("mark")
    expect(quote).to_be_visible()
    assert len(dialog.locator("blockquote").text_content() or "") > len(quote.text_content() or "")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    expect(turn.get_by_text("Quoted word for word from the documents.")).to_be_visible()
    expect(turn.get_by_text("Sources (1)")).to_be_visible()
    expect(turn.get_by_role("button", name=GUIDE)).to_be_visible()


def test_each_step_of_an_answer_is_shown_at_work_and_with_its_time_afterwards(page: Page) -> None:
    use(page, "page")
    # Steps pass too quickly to be seen from outside; the page notes them itself.
    page.evaluate(
        """() => { window.seen = new Set(); new MutationObserver(() => {
             const now = document.querySelector('.steps [aria-current=step]');
             if (now) window.seen.add(now.dataset.node);
           }).observe(document.body, { subtree: true, childList: true, attributes: true }); }"""
    )
    turn = ask(page, QUESTION)
    assert page.evaluate("[...window.seen]") == [
        "analyze", "route", "retrieve", "grade", "generate",
    ]  # fmt: skip
    turn.get_by_text("Timeline").click()
    bars = turn.locator(".trace > li")
    expect(bars).to_have_count(5)
    expect(bars.nth(2)).to_contain_text("Search")
    expect(bars.nth(2)).to_contain_text(" ms")


def test_the_keyboard_is_enough_and_a_conversation_is_kept_continued_and_deleted(
    page: Page,
) -> None:
    use(page, "page")
    question = page.get_by_label("Your question")
    question.fill(QUESTION)
    question.press("Enter")
    current = page.locator("#threads [aria-current=page]")
    expect(current).to_have_text(QUESTION)
    kept = page.locator(f".thread a[href='{current.get_attribute('href')}']")

    page.reload()
    expect(page.locator(".question")).to_have_text(QUESTION)
    cite = page.get_by_role("article").get_by_role("button", name="Citation 1")
    cite.press("Enter")
    expect(page.get_by_role("dialog").locator("mark")).to_contain_text("多饮")
    page.keyboard.press("Escape")
    question.fill("谢谢")
    question.press("Enter")
    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(page.get_by_role("article")).to_have_count(2)

    page.get_by_role("button", name="New conversation").press("Enter")
    expect(page.get_by_role("article")).to_have_count(0)
    kept.click()
    expect(page.get_by_role("article")).to_have_count(2)
    forget = kept.locator("..").get_by_role("button", name=f"Delete: {QUESTION}")
    forget.click()
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    expect(page.get_by_role("article")).to_have_count(2)
    forget.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(kept).to_have_count(0)
    expect(page.get_by_role("article")).to_have_count(0)


def test_a_citation_opens_what_it_quotes_while_the_answer_is_written(page: Page) -> None:
    use(page, "page")
    cited = {
        "marker": 1, "source": "ferry.txt", "quote": "It leaves at nine.", "cell": "",
        "start": 0, "end": 18,
    }  # fmt: skip
    held = halfway(
        page,
        ("token", {"text": "The ferry leaves at nine [1]. It is late [2]"}),
        ("citation", {"citation": cited}),
    )
    submit(page)
    cite = page.get_by_role("button", name="Citation 1: open the passage")
    expect(page.get_by_role("button", name="Citation 2: open the passage")).to_be_disabled()
    cite.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("blockquote")).to_have_text("It leaves at nine.")
    answer = "The ferry leaves at nine [1]. It is late."
    go_on(page, held, ("done", {**DONE, "answer": answer, "citations": [cited]}))
    expect(page.locator(".answer")).to_contain_text("It is late.")
    page.keyboard.press("Escape")
    expect(cite).to_be_focused()


def test_the_focus_goes_from_ask_to_stop_and_back_to_the_question(page: Page) -> None:
    use(page, "page")
    halfway(page, ("token", {"text": "The ferry"}))
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).press("Enter")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_focused()
    expect(page.locator(".answer")).to_have_text("The ferry")
    stop.press("Enter")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.unroute_all()
    page.get_by_role("button", name="Try again").press("Enter")
    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(page.get_by_label("Your question")).to_be_focused()


def test_a_later_answer_is_not_written_behind_the_composer(page: Page) -> None:
    use(page, "page")
    ask(page, QUESTION)
    turn = ask(page, "糖尿病有哪些类型？")
    page.wait_for_function(  # its question is at the top of the window
        "(turn) => turn.getBoundingClientRect().top < 40", arg=turn.element_handle()
    )
    answer = turn.locator(".answer").bounding_box()
    composer = page.locator("#ask").bounding_box()
    assert answer
    assert composer
    assert answer["y"] + answer["height"] < composer["y"]


def test_code_and_tables_of_an_answer_stay_what_they_are(page: Page) -> None:
    text = (
        "Run [1]:\n```sh\n# a comment [2]\n- x **y**\n\n1. z\n``` [3]\n\n"
        "| Part | Price \\| € |\n|---|:-:|\n| BM | 5 | [4]\n| TB |\n\na | b\n| alone |"
        "\n\nYears: 1 to 4; Days: 15 [5]\nYears: 5; Days: 20\n\nFirst: this; then: that"
    )
    shown = page.evaluate(
        """async (text) => {
             const { prose } = await import('/static/any/prose.js');
             const whole = document.createElement('div');
             const mark = (textContent) => Object.assign(document.createElement('sup'), { textContent });
             whole.append(...prose(text, mark));
             for (const one of whole.querySelectorAll('[tabindex]')) one.removeAttribute('tabindex');
             return [...whole.children].map((one) => one.outerHTML);
           }""",
        text,
    )
    assert shown == [
        "<p>Run <sup>1</sup>:</p>",
        "<pre># a comment [2]\n- x **y**\n\n1. z\n</pre>",
        "<p> <sup>3</sup></p>",
        '<div class="wide"><table>'
        '<tr><th scope="col">Part</th><th scope="col">Price | €</th></tr>'
        "<tr><td>BM</td><td>5 <sup>4</sup></td></tr><tr><td>TB</td></tr></table></div>",
        "<p>a | b\n| alone |</p>",
        '<div class="wide" data-keys="Years\nDays"><table>'
        '<tr><th scope="col">Years</th><th scope="col">Days</th></tr>'
        "<tr><td>1 to 4</td><td>15 <sup>5</sup></td></tr><tr><td>5</td><td>20</td></tr></table></div>",
        "<p>First: this; then: that</p>",
    ]


def test_modes_are_compared_side_by_side_and_an_answer_that_is_the_same_is_folded(
    page: Page,
) -> None:
    use(page, "page")
    page.get_by_label("Mode").select_option("compare")

    def answer(route: Route) -> None:
        mode = (route.request.post_data_json or {})["mode"]
        text = "By topics." if mode == "global" else "By passages."
        done = {**DONE, "answer": text, "mode": mode}
        route.fulfill(content_type="text/event-stream", body=stream(("done", done)))

    page.route("**/api/query", answer)
    submit(page)
    expect(page.locator("#status")).to_have_text("5 modes compared: 2 different answers.")
    expect(page.locator(".rest > .note").first).to_have_text(
        "5 modes compared: 2 different answers."
    )
    cards = page.locator(".compared > article")
    expect(cards.locator("h3")).to_have_text(["naive", "local", "global", "hybrid", "mix"])
    expect(cards.locator("> .answer")).to_have_text(["By passages.", "By topics."])
    expect(cards.locator("> details > summary")).to_have_text(["The same answer as naive"] * 3)
    cards.nth(1).get_by_text("The same answer as naive").click()
    expect(cards.nth(1).locator(".answer")).to_have_text("By passages.")


def test_the_modes_of_a_comparison_are_really_asked(page: Page) -> None:
    use(page, "page")
    page.get_by_label("Mode").select_option("compare")
    submit(page)
    expect(page.locator("#status")).to_contain_text("5 modes compared")
    expect(page.locator(".compared .note", has_text="Answered in")).to_have_count(5)


def test_a_knowledge_base_without_documents_is_no_error_but_a_place_to_begin(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    view(page, "Graph")
    expect(page.locator("#graph-status")).to_contain_text("They are extracted from documents.")
    expect(page.locator("#picture").get_by_role("link", name="Add documents")).to_be_visible()
    view(page, "Ask")
    submit(page)
    turn = page.get_by_role("article")
    expect(turn).to_contain_text("This knowledge base has no documents yet.")
    expect(turn).not_to_contain_text("--graph")
    turn.get_by_role("link", name="Add documents").click()
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()
    expect(page.locator("#threads a", has_text="page-")).to_have_count(0)


def test_what_cannot_be_answered_is_said_in_words_and_can_be_tried_again(page: Page) -> None:
    use(page, "page")
    page.route("**/api/query", lambda route: route.abort())
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    turn = page.get_by_role("article")
    expect(turn).to_contain_text("The server cannot be reached. Check that it runs")
    page.unroute("**/api/query")
    turn.get_by_role("button", name="Try again").click()
    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(turn).to_have_count(1)


def test_a_screen_reader_hears_whole_sentences_once(page: Page) -> None:
    use(page, "page")
    page.evaluate(
        """() => { window.heard = []; new MutationObserver(() =>
             window.heard.push(document.getElementById('spoken').textContent),
           ).observe(document.getElementById('spoken'), { childList: true }); }"""
    )
    turn = ask(page, QUESTION)
    told = page.evaluate("window.heard.join('')")
    shown = turn.locator(".answer").inner_text()
    assert told.replace("[1]", "1").split() == shown.split()


def test_a_report_shows_its_plan_and_its_sections(page: Page) -> None:
    use(page, "page")
    page.evaluate(
        """() => { window.seen = []; new MutationObserver(() => {
             const plan = document.querySelector('.rest ol')?.textContent;
             const at = document.querySelector('.steps [data-node=write]')?.textContent;
             window.seen.push(plan ?? '', at ?? '');
           }).observe(document.body, { subtree: true, childList: true }); }"""
    )
    page.get_by_label("Effort").select_option("high")
    turn = ask(page, f"{QUESTION}如何治疗？")
    expect(turn.locator(".answer h4").first).to_have_text("如何治疗？")
    seen = page.evaluate("window.seen.join(' ')")
    assert "如何治疗？" in seen
    assert "Write 2/" in seen
