"""A quote from a PDF, opened on its page: the picture of the page with the quote framed, beside the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from tests.e2e.page.steps import add, ask, begin, row, view
from tests.pdf_writer import PdfText, write_pdf

pytestmark = pytest.mark.e2e

QUOTE = "The conveyor belt FF-0071 lasts nine hundred hours of work."
MANUAL = write_pdf(
    [
        [PdfText(70, 780, "Manual of the press", size=20, bold=True)],
        [
            PdfText(70, 780, "Maintenance", size=16, bold=True),
            PdfText(70, 200, QUOTE),
        ],
    ]
)


def asked(page: Page) -> Locator:
    """Return the answer to a question about the manual, which alone is in a new knowledge base."""
    begin(page, f"page-{uuid4()}")
    add(page, [FilePayload(name="press.pdf", mimeType="application/pdf", buffer=MANUAL)])
    expect(row(page, "press.pdf").locator("a")).to_be_visible()
    view(page, "Ask")
    return ask(page, "How long does the conveyor belt FF-0071 last?")


@pytest.fixture
def narrow(browser: Browser, address: str) -> Iterator[Page]:
    """Yield the page as a telephone shows it."""
    page = browser.new_page(locale="en-GB", viewport={"width": 390, "height": 800})
    page.goto(address)
    yield page
    page.close()


def test_a_quote_is_framed_on_its_page_beside_the_text(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    asked(page).locator(".cite").first.click()
    picture = page.get_by_role("img", name="Page 2 of press.pdf")
    expect(picture).to_be_visible()
    frame = page.locator(".sheet span")
    expect(frame).to_have_count(1)
    expect(frame).to_be_in_viewport()
    expect(page.locator("#passage-text mark").first).to_be_in_viewport()
    expect(page.get_by_role("tablist")).to_be_hidden()

    around, inside = picture.bounding_box(), frame.bounding_box()
    assert around
    assert inside
    top = (inside["y"] - around["y"]) / around["height"]
    assert top < 1 - 200 / 842 < top + inside["height"] / around["height"]
    assert (inside["x"] - around["x"]) / around["width"] == pytest.approx(70 / 595, abs=0.01)


def test_in_a_narrow_window_page_and_text_are_tabs_for_the_keyboard_too(narrow: Page) -> None:
    page = narrow
    asked(page).locator(".cite").first.click()
    original, text = (page.get_by_role("tab", name=name) for name in ("Original page", "Text"))
    expect(original).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel", name="Original page")).to_be_visible()
    expect(page.locator("#passage-text")).to_be_hidden()

    original.focus()
    page.keyboard.press("ArrowRight")

    expect(text).to_be_focused()
    expect(text).to_have_attribute("aria-selected", "true")
    expect(page.locator("#passage-text mark").first).to_be_in_viewport()
    expect(page.locator(".sheet img")).to_be_hidden()
    page.keyboard.press("Home")
    expect(original).to_be_focused()
    expect(page.locator(".sheet span")).to_be_in_viewport()


@pytest.mark.parametrize("broken", ["boxes", "pages"])
def test_the_text_is_shown_where_the_page_is_not_to_be_had(page: Page, broken: str) -> None:
    page.route(re.compile(rf"/documents/[^/]+/{broken}\b"), lambda route: route.abort())
    asked(page).locator(".cite").first.click()
    expect(page.locator("#passage-text mark").first).to_be_in_viewport()
    page.wait_for_load_state("networkidle")
    expect(page.locator(".sheet")).to_have_count(0)
    expect(page.get_by_role("tablist")).to_be_hidden()
