"""A sentence answers only if it, or the heading over it, has the kind of thing that is asked for."""

from __future__ import annotations

import pytest

from domain.retrieval import ItemKind, RetrievedItem
from models.offline.extractive import ExtractiveAnswerer

RELEASES = {
    "4.1.0 (2025-06-30)": "Added: dark mode",
    "4.0.0 (2025-03-11)": "Removed: the dark theme",
}


def item(text: str, *path: str) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, text[:8], text, 1.0, metadata={"section_path": path})


@pytest.mark.parametrize(
    "question", ["Which version added dark mode?", "When was dark mode added?"]
)
async def test_what_only_a_heading_tells_is_quoted_under_it(question: str) -> None:
    items = [item(text, "Changelog", heading) for heading, text in RELEASES.items()]
    found = await ExtractiveAnswerer().extract(question, items, language="en")
    best = found.quotations[0]
    assert (best.under, best.sentence) == ("4.1.0 (2025-06-30)", "Added: dark mode")


async def test_the_day_in_a_documents_title_does_not_say_when_all_in_it_was() -> None:
    items = [item("The belt was replaced.", "Minutes of 18 September 2025")]
    found = await ExtractiveAnswerer().extract("When was the belt replaced?", items, language="en")
    assert not found.quotations


async def test_who_asks_for_somebody_is_not_told_of_things() -> None:
    items = [item("The printer is repaired on the second floor of the house.")]
    found = await ExtractiveAnswerer().extract("Who repairs the printer?", items, language="en")
    assert not found.quotations


@pytest.mark.parametrize("heading", ["5.3 Versions", "1. INC-2025-017", "Office 2019"])
async def test_the_number_of_a_chapter_or_a_code_is_no_version(heading: str) -> None:
    items = [item("The drum was replaced by a belt.", "Handbook", heading)]
    found = await ExtractiveAnswerer().extract(
        "Which version replaced the drum by a belt?", items, language="en"
    )
    assert not found.quotations


async def test_a_release_is_told_above_the_heading_of_its_part() -> None:
    path = ("Log", "3.3.0 (17 October 2024)", "New")
    items = [item("Exits can be grouped.", *path)]
    found = await ExtractiveAnswerer().extract(
        "In which version can exits be grouped?", items, language="en"
    )
    assert [one.under for one in found.quotations] == ["3.3.0 (17 October 2024)"]
