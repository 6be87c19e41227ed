"""A document opened on the page: read, found again from a citation, saved, asked about alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.conftest import SAMPLES
from tests.e2e.page.steps import GUIDE, QUESTION, add, ask, begin, note, row, use, view

pytestmark = pytest.mark.e2e

HARBOUR = (
    "# Harbour\n\nShips wait here.\n\n## Light\n\nThe lighthouse is kept by Ailsa Munro.\n\n"
    "| Lamp | Metres |\n| --- | --- |\n| North | 14 |\n"
)


def opened(page: Page, name: str) -> None:
    """Open a document from the list."""
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def taken_in(page: Page, *files: tuple[str, str]) -> None:
    """Begin a knowledge base of these texts."""
    begin(page, f"page-{uuid4()}")
    add(page, [note(name, text) for name, text in files])
    for name, _ in files:
        expect(row(page, name).locator("a")).to_be_visible()


def test_a_document_is_read_with_its_headings_tables_and_contents(page: Page) -> None:
    taken_in(page, ("harbour.md", HARBOUR))
    expect(row(page, "harbour.md")).to_contain_text(re.compile(r"\d passages? · 1 kB · \d+ \w+ 20"))
    opened(page, "harbour.md")
    expect(page.locator("#text :is(h3, h4, h5)")).to_have_text(["Harbour", "Light"])
    expect(page.locator("#text p")).to_have_text(
        ["Ships wait here.", "The lighthouse is kept by Ailsa Munro."]
    )
    expect(page.locator("#text td")).to_have_text(["North", "14"])
    contents = page.get_by_role("navigation", name="Contents").get_by_role("link")
    expect(contents).to_have_text(["Harbour", "Light"])
    expect(page.locator("header [aria-current=page]")).to_have_text("Documents")
    page.get_by_role("link", name="All documents").click()
    expect(row(page, "harbour.md")).to_be_visible()


def test_a_citation_leads_to_its_place_in_the_document_and_its_address_leads_there_again(
    page: Page,
) -> None:
    use(page, "page")
    turn = ask(page, QUESTION)
    turn.locator(".cite").first.click()
    quoted = page.locator("#passage-text mark").first.text_content()
    page.get_by_role("link", name="Read in the document").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", name=GUIDE)).to_be_visible()
    marked = page.locator("#text mark").first
    expect(marked).to_have_text(str(quoted))
    expect(marked).to_be_in_viewport()
    page.reload()
    expect(marked).to_be_in_viewport()


def test_a_long_document_is_read_in_parts_from_any_place_of_it(page: Page) -> None:
    taken_in(page, ("log.md", "# Log\n\nThe tide turns.\n"))
    chapters = [f"Chapter {n} 𝛼\n\n" + "The tide turns. " * 500 + "\n\n" for n in range(12)]
    long(page, chapters)
    opened(page, "log.md")
    headings = page.locator("#text h3")
    expect(headings).to_have_text(["Chapter 0 𝛼", "Chapter 1 𝛼"])
    page.get_by_role("button", name="Read on").click()
    expect(headings).to_have_text([f"Chapter {n} 𝛼" for n in range(4)])
    page.get_by_role("link", name="Chapter 9 𝛼").click()
    expect(headings.first).to_have_text("Chapter 9 𝛼")
    expect(headings.first).to_be_in_viewport()
    page.get_by_role("button", name="Read on").click()
    expect(headings.last).to_have_text("Chapter 11 𝛼")
    expect(page.get_by_role("button", name="Read on")).to_be_hidden()
    before = page.get_by_role("button", name="What comes before")
    for first in (7, 5, 2, 0):
        before.click()
        expect(headings.first).to_have_text(f"Chapter {first} 𝛼")
    expect(before).to_be_hidden()
    text = page.locator("#text").evaluate("(one) => one.textContent.replaceAll(/\\s/g, '')")
    assert text == "".join("".join(chapters).split())


def long(page: Page, chapters: Sequence[str]) -> None:
    """Have the document read as these chapters; taking in so much would take a minute."""
    text = "".join(chapters)
    starts = [sum(map(len, chapters[:n])) for n in range(len(chapters))]
    sections = [{"start": 0, "end": len(text), "level": 0, "title": "log.md"}] + [
        {"start": start, "end": start + len(chapter), "level": 1, "title": chapter.splitlines()[0]}
        for start, chapter in zip(starts, chapters, strict=True)
    ]

    def slice_of(route: Route) -> None:
        asked = parse_qs(urlsplit(route.request.url).query)
        start = int(asked["start"][0])
        end = min(int(asked["end"][0]), start + 20_000)
        route.fulfill(json={"start": start, "end": end, "text": text[start:end]})

    page.route(
        "**/documents/*/structure*", lambda route: route.fulfill(json={"sections": sections})
    )
    page.route("**/documents/*/text?*", slice_of)


def test_the_original_is_saved_as_it_was_uploaded(page: Page) -> None:
    use(page, "page")
    view(page, "Documents")
    opened(page, GUIDE)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the original").click()
    assert saved.value.suggested_filename == GUIDE
    assert Path(saved.value.path()).read_bytes() == (SAMPLES / "documents" / GUIDE).read_bytes()


def test_questions_are_about_one_document_until_all_are_asked_again(page: Page) -> None:
    taken_in(
        page,
        ("skerry.md", "The lighthouse of Skerry Vore is kept by Ailsa Munro.\n"),
        ("bell.md", "The lighthouse of Bell Rock is kept by Tom Penrose.\n"),
    )
    opened(page, "bell.md")
    page.get_by_role("button", name="Ask about this document").click()
    turn = ask(page, "Who keeps the lighthouse?")
    expect(turn.locator(".answer")).to_contain_text("Tom Penrose")
    expect(turn.locator(".answer")).not_to_contain_text("Ailsa Munro")
    expect(turn.locator(".sources")).not_to_contain_text("skerry.md")
    expect(turn.locator(".chips")).to_have_text("Only in bell.md")

    page.get_by_role("button", name="Ask all documents again").click()
    turn = ask(page, "Who keeps the lighthouse of Skerry Vore?")
    expect(turn.locator(".answer")).to_contain_text("Ailsa Munro")
    expect(turn.locator(".chips")).to_have_count(0)


def test_the_bound_to_a_document_ends_with_its_knowledge_base(page: Page) -> None:
    taken_in(page, ("bell.md", "The lighthouse of Bell Rock is kept by Tom Penrose.\n"))
    opened(page, "bell.md")
    page.get_by_role("button", name="Ask about this document").click()
    expect(page.locator("#only")).to_contain_text("Only in bell.md")
    use(page, "page")
    expect(page.locator("#only")).to_be_empty()


def test_another_knowledge_base_closes_the_document(page: Page) -> None:
    taken_in(page, ("bell.md", "The lighthouse of Bell Rock is kept by Tom Penrose.\n"))
    opened(page, "bell.md")
    use(page, "page")
    expect(row(page, GUIDE)).to_be_visible()


def test_a_document_that_is_gone_says_so(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#documents/{uuid4()}/3-9")
    expect(page.locator("#reading-status")).to_have_text("The document no longer exists.")
    expect(page.get_by_role("button", name="Ask about this document")).to_be_hidden()
    page.get_by_role("link", name="All documents").click()
    expect(page.locator("#files")).to_be_attached()


def test_an_answer_is_copied_with_its_sources(browser: Browser, address: str) -> None:
    context = browser.new_context(locale="en-GB", permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(address)
    use(page, "page")
    turn = ask(page, QUESTION)
    turn.get_by_role("button", name="Copy").click()
    expect(turn.get_by_role("button", name="Copied")).to_be_visible()
    copied = str(page.evaluate("navigator.clipboard.readText()"))
    assert "[1]" in copied
    assert f"\n\n[1] {GUIDE} › " in copied
    context.close()


def test_how_much_of_a_file_was_read_is_shown_with_its_text(page: Page) -> None:
    menu = f"<nav>{'Home and more ' * 20}</nav>"
    body = f"<html><body>{menu}<h1>Fees</h1><p>The entry costs 12 EUR.</p></body></html>"
    taken_in(page, ("fees.html", body))
    opened(page, "fees.html")
    shown = page.locator("#reading-facts")

    shown.get_by_text("What was read: 23 characters").click()

    expect(shown.get_by_role("listitem")).to_have_text(
        ["headings: 4", "text: 19", "left out with a reason: 220"]
    )
    expect(shown).to_contain_text("220 in menus and feet of the page")
