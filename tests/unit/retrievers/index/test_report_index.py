"""Reports in memory: what each is made of, as rows of an index."""

from __future__ import annotations

from uuid import UUID

import pytest

from sextant.domain.graph import Community, Finding
from sextant.retrievers.index.passages import ReportRows
from sextant.stores.graph.arrays import halves_of


def test_a_report_is_placed_by_its_entities_and_by_the_passages_of_its_findings() -> None:
    entities, chunks = [UUID(int=n) for n in range(1, 5)], [UUID(int=n) for n in range(11, 15)]
    report = Community(
        id=UUID(int=99),
        level=0,
        parent_id=None,
        title="Baking",
        summary="",
        rating=5,
        entity_ids=(entities[2], UUID(int=77), entities[0]),
        findings=(
            Finding(text="first", chunk_ids=(chunks[3],)),
            Finding(text="second", chunk_ids=(UUID(int=88), chunks[1], chunks[3])),
        ),
    )
    rows = ReportRows.of(report, halves_of(entities), halves_of(chunks))
    assert rows.members.tolist() == [2, 0]
    assert rows.passages.tolist() == [3, 1, 3]
    assert rows.lateness.tolist() == pytest.approx([0, 0.5, 0.5])
