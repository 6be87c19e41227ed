"""Sections quoted without a chat model hold only what stands under their heading."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.nodes.research.state import PlannedSection
from sextant.nodes.research.write import SectionAnswerer


def passage(heading: str, text: str) -> RetrievedItem:
    path = ["Tern changelog", heading]
    return RetrievedItem(ItemKind.CHUNK, heading, text, 1.0, metadata={"section_path": path})


PASSAGES = [
    passage("Storage", "The documents say the limits are 72 hours."),
    passage("Limits", "A message has 4 MB at most."),
]


@pytest.mark.parametrize(("subject", "sources"), [("Limits", [1]), ("hours", [0])])
async def test_a_section_quotes_passages_under_its_heading_where_there_are_any(
    subject: str, sources: list[int]
) -> None:
    section = PlannedSection(
        subject, [f"What do the documents say about {subject}?"], [subject], []
    )
    answerer = SectionAnswerer(ExtractiveAnswerer(), section, "What are the limits?")
    found = await answerer.extract("", PASSAGES, language="en")
    assert [one.source for one in found.quotations] == sources
