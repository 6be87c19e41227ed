"""What an answer looks like: rows as a table, passages with theirs, and how each source was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.steps import QUESTION, ask, stream, use

pytestmark = pytest.mark.e2e

TABLE = (
    "Prices 𝛼:\n| Part | Price |\n| --- | --- |\n| BM-40 | 980 |\n| TB-18 | 310 |\nAll in euros."
)
ROW = "BM-40 | 980"
CITED = {
    "marker": 1, "source": "prices.md", "quote": ROW, "cell": "",
    "start": TABLE.index(ROW), "end": TABLE.index(ROW) + len(ROW),
}  # fmt: skip
SOURCE = {
    "marker": 1, "filename": "prices.md", "kind": "passage", "label": "", "sectionPath": [],
    "page": None, "text": TABLE,
    "lanes": {"vector": {"rank": 2}, "keyword": {"rank": 1}, "mix": {"rank": 1}},
}  # fmt: skip
DONE = {
    "answer": "", "mode": "mix", "citations": [CITED], "sources": [SOURCE], "warnings": [],
    "trust": "quoted", "grounded": False, "declined": False, "timings": {},
}  # fmt: skip


def answered(page: Page, done: Mapping[str, Any]) -> None:
    """Ask, and get this answer."""
    body = stream(("done", {**DONE, **done}))
    page.route(
        "**/api/query", lambda route: route.fulfill(content_type="text/event-stream", body=body)
    )
    use(page, "page")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).not_to_be_empty()


def rows(page: Page, inside: str) -> list[list[str]]:
    """Return the cells of the table there, row by row."""
    found: list[list[str]] = page.locator(inside).evaluate(
        "(table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    )
    return found


def test_rows_told_alike_are_shown_as_a_table_with_their_citations(page: Page) -> None:
    told = "Two parts:\nPart: BM-40; Price: 980; Note: a: b[1]\nPart: TB-18; Price: 310; Note: –[1]\nThat is all."
    answered(page, {"answer": told})
    assert rows(page, ".answer table") == [
        ["Part", "Price", "Note"],
        ["BM-40", "980", "a: b1"],
        ["TB-18", "310", "–1"],
    ]
    expect(page.locator(".answer > p")).to_have_text(["Two parts:", "That is all."])


def test_one_row_and_rows_of_other_columns_stay_sentences(page: Page) -> None:
    told = "Part: BM-40; Price: 980; Note: a[1]\nPart: TB-18; Cost: 310; Note: b[1]"
    answered(page, {"answer": told})
    expect(page.locator(".answer table")).to_have_count(0)
    expect(page.locator(".answer")).to_contain_text("Part: TB-18; Cost: 310; Note: b")


def test_a_list_whose_items_are_told_alike_stays_a_list(page: Page) -> None:
    told = "- Part: BM-40; Price: 980; Note: a[1]\n- Part: TB-18; Price: 310; Note: b[1]"
    answered(page, {"answer": told})
    expect(page.locator(".answer li")).to_have_count(2)
    expect(page.locator(".answer table")).to_have_count(0)


def test_a_passage_shows_its_table_with_the_quoted_cells_marked(page: Page) -> None:
    answered(page, {"answer": "The BM-40 costs 980.[1]"})
    page.get_by_role("button", name="Citation 1: open the passage").click()
    assert rows(page, "#passage-text table") == [
        ["Part", "Price"],
        ["BM-40", "980"],
        ["TB-18", "310"],
    ]
    marked = page.locator("#passage-text mark").all_text_contents()
    assert [text.strip() for text in marked] == ["BM-40", "980"]
    expect(page.locator("#passage-text th")).to_have_count(2)
    expect(page.locator("#passage-text")).to_contain_text("All in euros.")


def test_a_source_says_which_lanes_found_it_and_where(page: Page) -> None:
    answered(page, {"answer": "The BM-40 costs 980.[1]"})
    expect(page.locator(".sources .rank")).to_have_text(["words #1", "meaning #2"])


def test_a_source_that_ocr_read_says_so(page: Page) -> None:
    scanned = {**SOURCE, "filename": "scan.pdf", "page": 3, "ocr": True}
    answered(page, {"answer": "The BM-40 costs 980.[1]", "sources": [scanned]})
    expect(page.locator(".sources")).to_contain_text("scan.pdf › page 3 › read by OCR")


@pytest.mark.parametrize(
    ("declined", "trust", "said"),
    [
        (True, "quoted", "The documents do not say"),
        (False, "quoted", "Quoted word for word"),
        (False, "supported", "Every statement is supported"),
        (False, "partial", "Not every statement is supported"),
        (False, "unsupported", "No statement is supported"),
    ],
)
def test_an_answer_says_what_stands_behind_its_sentences(
    page: Page, declined: bool, trust: str, said: str
) -> None:
    nearest = "The documents do not say. The nearest passage is this one:\nBM-40[1]"
    answered(page, {"answer": nearest, "trust": trust, "declined": declined})
    expect(page.locator(".rest .note")).to_contain_text([said])


def test_a_search_tells_its_lanes_and_how_much_it_found(page: Page) -> None:
    use(page, "page")
    turn = ask(page, QUESTION)
    expect(turn.locator(".strip > span")).to_have_count(5)
    turn.get_by_text("Timeline").click()
    search = turn.locator(".trace > li").nth(2)
    expect(search).to_contain_text("Search: ")
    expect(search).to_contain_text("passage")
    expect(search.locator(".lane").first).to_contain_text(" ms")


def test_a_row_of_many_fields_that_stands_alone_has_a_line_for_each(page: Page) -> None:
    told = "One part:\nPart: BM-40; Price: 980; Stock: 3; Note: a: b[1]\nPart: TB-18; Price: 310[1]"
    times = "Boats: 12:30; 13:30; 14:30; 15:30"
    answered(page, {"answer": f"{told}\n\n{times}"})
    assert rows(page, ".answer table") == [
        ["Part", "BM-40"], ["Price", "980"], ["Stock", "3"], ["Note", "a: b1"],
    ]  # fmt: skip
    expect(page.locator(".answer")).to_contain_text("Part: TB-18; Price: 310")
    expect(page.locator(".answer")).to_contain_text(times)


def test_arabic_is_read_from_the_right_and_english_from_the_left(page: Page) -> None:
    answered(page, {"answer": "مدة التجربة ستة أشهر.\n\nSix months."})
    ends = page.locator(".answer p").evaluate_all(
        """(all) => all.map((one) => {
            const text = document.createRange();
            text.selectNodeContents(one);
            const [inner, outer] = [text.getBoundingClientRect(), one.getBoundingClientRect()];
            return [inner.left - outer.left < 1, outer.right - inner.right < 1];
        })"""
    )
    assert ends == [[False, True], [True, False]]


def test_on_paper_stand_question_answer_and_sources_alone(page: Page) -> None:
    answered(page, {"answer": TABLE + "[1]"})
    page.emulate_media(media="print")
    for shown in (".question", ".answer table", ".sources"):
        expect(page.locator(shown)).to_be_visible()
    for left_out in ("header", "aside", "#ask", ".rest > button"):
        expect(page.locator(left_out).first).to_be_hidden()
