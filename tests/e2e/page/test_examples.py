"""Questions that the page offers to begin with."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.steps import GUIDE, QUESTION, ask, begin, caught, hold, use, view

pytestmark = pytest.mark.e2e


def test_a_question_from_the_documents_headings_is_asked_by_one_click(page: Page) -> None:
    use(page, "page")
    examples = page.locator(".examples button")
    expect(examples).to_have_count(3)
    offered = examples.first.text_content() or ""
    examples.first.click()
    turn = page.get_by_role("article")
    expect(turn.get_by_role("heading")).to_have_text(offered)
    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(turn.locator(".cite").first).to_be_visible()
    expect(turn.locator(".sources")).to_contain_text(GUIDE)
    expect(examples.first).to_be_hidden()
    expect(page.get_by_label("Your question")).to_be_focused()


def test_the_page_is_there_before_its_example_questions_and_without_them(page: Page) -> None:
    use(page, "page")
    expect(page.locator(".examples button")).to_have_count(3)
    held = hold(page, "**/questions?*")
    page.reload()  # what was chosen stays
    caught(page, held)
    expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
    expect(page.locator(".examples")).to_be_empty()
    held[0].fulfill(status=503, json={})
    expect(ask(page, QUESTION).locator(".answer")).to_contain_text("多饮")


def test_where_there_are_no_documents_yet_no_questions_are_offered(page: Page) -> None:
    begin(page, "no documents in here")
    view(page, "Ask")
    expect(page.get_by_role("link", name="Add documents")).to_be_visible()
    expect(page.locator(".examples")).to_have_count(0)
