"""An answer that stops where a person should decide: the page asks, and goes on with what was chosen."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.page.steps import bring, view

pytestmark = pytest.mark.e2e

BIRDS = ("Heron", "Stork", "Egret", "Crane", "Ibis", "Bittern")
# Mercury is a planet and a metal, and no word of every passage.
SKY: list[dict[str, Any]] = [
    {"type": "document", "id": "d1", "title": "Sky"},
    {"type": "chunk", "id": "c1", "documentId": "d1", "text": "The planet Mercury orbits the sun in 88 days."},
    {"type": "document", "id": "d2", "title": "Metals"},
    {"type": "chunk", "id": "c2", "documentId": "d2", "text": "The metal quicksilver, or mercury, melts at -39 degrees."},
    {"type": "entity", "id": "e1", "name": "Planet Mercury", "entityType": "planet", "aliases": ["Mercury"], "description": "The innermost planet.", "chunkIds": ["c1"]},
    {"type": "entity", "id": "e2", "name": "Quicksilver", "entityType": "metal", "aliases": ["Mercury"], "description": "A liquid metal.", "chunkIds": ["c2"]},
    *({"type": "document", "id": f"b{n}", "title": bird} for n, bird in enumerate(BIRDS)),
    *({"type": "chunk", "id": f"p{n}", "documentId": f"b{n}", "text": f"The {bird} wades."} for n, bird in enumerate(BIRDS)),
]  # fmt: skip
QUESTION = "At how many degrees does Mercury melt?"


@pytest.fixture
def form(page: Page) -> Locator:
    """Return the form that the question about Mercury brings."""
    bring(page, f"sky-{uuid4()}", *SKY)
    view(page, "Ask")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    shown = page.get_by_role("group", name="“Mercury” may mean several things.")
    expect(shown).to_be_visible()
    expect(page.locator("#status")).to_have_text("Your decision is needed.")
    return shown


def test_which_of_two_things_a_name_means_is_asked_and_the_answer_is_about_that(
    page: Page, form: Locator
) -> None:
    expect(form.get_by_role("radio", name="All of them")).to_be_checked()
    form.get_by_role("radio", name="A liquid metal.").check()
    page.get_by_role("button", name="Continue").click()

    expect(page.locator("#status")).to_contain_text("Answered in")
    turn = page.get_by_role("article")
    expect(turn).to_have_count(1)
    expect(turn.locator(".answer")).to_contain_text("melts at -39 degrees")
    expect(turn.locator(".answer")).not_to_contain_text("88 days")
    expect(form).to_have_count(0)


def test_all_meanings_are_searched_for_from_the_keyboard(page: Page, form: Locator) -> None:
    expect(form.get_by_role("radio", name="All of them")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(page.locator(".answer")).to_contain_text("melts at -39 degrees")


def test_the_answer_is_written_from_the_sources_that_are_chosen(page: Page) -> None:
    bring(page, f"sky-{uuid4()}", *SKY)
    view(page, "Ask")
    page.get_by_label("Choose sources").check()
    page.get_by_label("Your question").fill("At how many degrees does the metal quicksilver melt?")
    page.keyboard.press("Enter")
    form = page.get_by_role("group", name="The answer is written from these passages.")
    metal = form.get_by_role(
        "checkbox", name="The metal quicksilver, or mercury, melts at -39 degrees."
    )
    expect(metal).to_be_checked()
    form.get_by_role("checkbox", name="All passages").uncheck()
    expect(metal).not_to_be_checked()
    metal.check()
    page.get_by_role("button", name="Continue").click()

    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(page.locator(".answer")).to_contain_text("melts at -39 degrees")
    expect(page.get_by_role("article").locator(".sources > li")).to_have_count(1)


def test_without_any_source_nothing_is_answered(page: Page) -> None:
    bring(page, f"sky-{uuid4()}", *SKY)
    view(page, "Ask")
    page.get_by_label("Choose sources").check()
    page.get_by_label("Your question").fill("At how many degrees does the metal quicksilver melt?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="None of them").click()

    expect(page.locator("#status")).to_contain_text("Answered in")
    expect(page.locator(".answer")).not_to_contain_text("-39")


def test_a_question_may_be_stopped_instead_of_decided(page: Page, form: Locator) -> None:
    page.get_by_role("button", name="Stop").click()

    expect(form).to_have_count(0)
    expect(page.get_by_role("article").get_by_text("Stopped.", exact=True)).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
