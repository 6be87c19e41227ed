"""Reports without a model: names, quoted sentences with their passages, stated relations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest

from sextant.domain.documents import Modality
from sextant.domain.graph import Relation
from sextant.ingestion.graph.communities.membership import CommunityGroup
from sextant.ingestion.graph.communities.outlines import Outline
from sextant.ingestion.graph.communities.reports import (
    CommunityEvidence,
    distinct_names,
    extractive_report,
    rating,
)
from sextant.stores.chunks.stored import StoredChunk

NIL = UUID(int=0)


def chunk(number: int, text: str) -> StoredChunk:
    return StoredChunk(
        id=UUID(int=number), document_id=NIL, source="a.md", filename="a.md", document_title="A",
        section_id=NIL, ordinal=number, start=0, end=len(text), text=text, page=None,
        section_path=(), modality=Modality.TEXT, context="", token_count=1, title="", summary="",
        tags=(), topics=(), keywords=(), entities=(), topic_labels=(), neighbours=(),
        external_id=None, created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def outline(size: int, passages: int) -> Outline:
    members = np.arange(size)
    weights = np.linspace(2.0, 1.0, size)
    group = CommunityGroup(UUID(int=9), 0, None, members)
    mentioned = np.arange(passages)
    return Outline(
        group, members, weights, mentioned[:8], np.ones(min(passages, 8)), mentioned, np.arange(0)
    )


def evidence(
    names: Sequence[str], texts: Sequence[str], relations: Sequence[tuple[str, Relation, str]] = ()
) -> CommunityEvidence:
    chunks = [chunk(number, text) for number, text in enumerate(texts, start=1)]
    types = ["TERM"] * len(names)
    return CommunityEvidence(outline(len(names), len(texts)), names, types, chunks, relations)


def test_the_sentence_that_names_most_comes_first_and_the_next_names_something_else() -> None:
    report = extractive_report(
        evidence(
            ["Insulin", "Diabetes", "Metformin"],
            [
                "The weather was fine. Insulin treats diabetes.",
                "Diabetes and insulin again! Metformin is taken first.",
            ],
        )
    )
    assert report.title == "Insulin, Diabetes, Metformin"
    assert [(one.text, one.chunk_ids) for one in report.findings[:2]] == [
        ("Insulin treats diabetes.", (UUID(int=1),)),
        ("Metformin is taken first.", (UUID(int=2),)),
    ]
    assert report.summary.startswith("About Insulin, Diabetes, Metformin. Insulin treats diabetes.")
    assert not any("weather" in one.text for one in report.findings)


def test_a_chinese_report_is_chinese() -> None:
    report = extractive_report(
        evidence(["热控系统", "蓄电池"], ["热控系统由蓄电池供电。其余从略。"])
    )
    assert report.title == "热控系统、蓄电池"
    assert report.summary == "关于热控系统、蓄电池。热控系统由蓄电池供电。"


@pytest.mark.parametrize(
    ("said", "names", "text", "summary"),
    [
        ("Ada built it (in 1843)", "Ada", "Ada is an engineer.",
         "About Ada. Ada built it (in 1843). Ada is an engineer."),
        ("甲泵由乙厂制造", "甲泵", "甲泵是一种水泵。", "关于甲泵。甲泵由乙厂制造。甲泵是一种水泵。"),
        ("Pump A is old", "甲泵", "甲泵是一种水泵。", "关于甲泵。Pump A is old. 甲泵是一种水泵。"),
    ],
)  # fmt: skip
def test_in_a_summary_every_finding_ends_as_a_sentence(
    said: str, names: str, text: str, summary: str
) -> None:
    relation = Relation(UUID(int=5), NIL, NIL, "MADE", said, 1.0, (UUID(int=1),))
    report = extractive_report(evidence([names], [text], [(names, relation, "it")]))

    assert report.summary == summary
    assert report.findings[0].text == said


def test_described_relations_come_before_sentences_and_bare_ones_only_for_want_of_more() -> None:
    described = Relation(
        UUID(int=5), NIL, NIL, "TREATS", "Metformin treats diabetes.", 1.0, (UUID(int=1),)
    )
    bare = Relation(UUID(int=6), NIL, NIL, "LOWERS", "", 1.0, ())
    related = [("Metformin", described, "Diabetes"), ("Metformin", bare, "Sugar")]
    report = extractive_report(evidence(["Metformin"], ["Metformin is cheap to make."], related))
    assert [one.text for one in report.findings] == [
        "Metformin treats diabetes.",
        "Metformin is cheap to make.",
        "Metformin — LOWERS — Sugar",
    ]
    assert report.findings[0].chunk_ids == (UUID(int=1),)


def test_no_passage_fills_a_report_alone() -> None:
    many = " ".join(f"Insulin is number {n} here." for n in range(20))
    report = extractive_report(evidence(["Insulin"], [many, "Insulin is told of here, too."]))
    cited = [one.chunk_ids[0] for one in report.findings]
    assert sorted(cited) == [UUID(int=1), UUID(int=1), UUID(int=2)]


def test_a_tables_head_is_no_finding_where_only_its_rows_can_be() -> None:
    table = "| Site | Manager |\n| --- | --- |\n| Graz | Mara |\n| Turin | Site office |"
    report = extractive_report(evidence(["Site", "Graz"], [table]))
    assert {one.text for one in report.findings} == {"Graz | Mara", "Turin | Site office"}


def test_names_inside_each_other_are_told_once() -> None:
    assert distinct_names(["New York", "New York City", "Paris", "york"]) == ["New York", "Paris"]
    [long] = distinct_names(["x" * 5000])
    assert len(long) < 100


@pytest.mark.parametrize(
    ("size", "passages", "rated"), [(2, 1, 1.3), (100, 200, 7.1), (10**6, 10**6, 10.0)]
)
def test_the_rating_grows_with_members_and_passages(size: int, passages: int, rated: float) -> None:
    assert rating(outline(size, passages)) == rated
