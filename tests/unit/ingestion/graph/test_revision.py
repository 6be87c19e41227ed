"""A report is written anew when what it tells is gone, or when it would lack much; not before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from sextant.domain.graph import Finding, Relation
from sextant.ingestion.graph.communities.report_writer import news, note_sources, stays
from sextant.ingestion.graph.communities.reports import CommunityEvidence
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.community_store import KnownReport, StoredReport
from tests.unit.ingestion.graph.test_reports import chunk, evidence

OWN = UUID(int=9)
TEXTS = [f"Passage {number}." for number in range(8)]
CITED = (UUID(int=1), UUID(int=3))


def named(number: int) -> list[str]:
    return [f"Entity {n}" for n in range(number)]


def stating(names: Sequence[str], words: str = "so") -> list[tuple[str, Relation, str]]:
    ids = [UUID(int=n) for n in range(3)]
    return [(names[0], Relation(ids[0], ids[1], ids[2], "KNOWS", words, 1.0), names[1])]


def found(of: CommunityEvidence) -> dict[UUID, StoredChunk]:
    return {one.id: one for one in of.chunks}


def known(of: CommunityEvidence) -> KnownReport:
    """Return the report that is written of a community: it cites the first passage and the third."""
    stored = StoredReport(OWN, "T", "S", (Finding("It is so.", CITED),), 5.0, evidence=OWN)
    noted = note_sources(stored, of, found(of))
    return KnownReport(OWN, "", OWN, noted.cited, noted.content, noted.sources)


def is_kept(then: CommunityEvidence, now: CommunityEvidence) -> bool:
    return stays(now, found(now), known(then))


BEFORE = evidence(named(20), TEXTS, stating(named(20)))


def test_a_report_of_which_nothing_has_changed_stays() -> None:
    assert is_kept(BEFORE, BEFORE)
    assert not stays(BEFORE, found(BEFORE), None)


def test_a_member_at_the_edge_changes_no_report_and_a_leading_one_does() -> None:
    names = named(20)
    assert is_kept(BEFORE, evidence([*names, "Late"], TEXTS, stating(names)))
    assert is_kept(BEFORE, evidence(names[:-1], TEXTS, stating(names)))
    assert not is_kept(BEFORE, evidence(["New", *names], TEXTS, stating(names)))
    assert not is_kept(BEFORE, evidence([*names[:5], *names[6:]], TEXTS, stating(names)))


def test_a_third_member_of_two_is_news() -> None:
    pair = evidence(named(2), TEXTS, stating(named(2)))
    assert not is_kept(pair, evidence(named(3), TEXTS, stating(named(2))))


def test_a_report_that_states_what_is_said_otherwise_now_is_written_anew() -> None:
    assert not is_kept(BEFORE, evidence(named(20), TEXTS, stating(named(20), "otherwise")))
    assert not is_kept(BEFORE, evidence(named(20), TEXTS))


@pytest.mark.parametrize(("changed", "kept"), [(0, False), (1, True), (2, False)])
def test_a_cited_passage_must_be_there_unchanged(changed: int, *, kept: bool) -> None:
    texts = [f"{text} Changed." if n == changed else text for n, text in enumerate(TEXTS)]
    assert is_kept(BEFORE, evidence(named(20), texts, stating(named(20)))) is kept


def test_a_cited_passage_may_be_none_of_the_best_any_more() -> None:
    chunks = [chunk(30, "Another.") if one.id == CITED[1] else one for one in BEFORE.chunks]
    now = replace(BEFORE, chunks=chunks)
    assert stays(now, found(now) | found(BEFORE), known(BEFORE))
    assert not stays(now, found(now), known(BEFORE))


def test_news_is_the_share_of_the_weight_that_was_not_there() -> None:
    keys = [UUID(int=n) for n in range(3)]
    assert news(dict(zip(keys, (1.0, 1.0, 2.0), strict=True)), {keys[0], keys[1]}) == 0.5
    assert news({}, set()) == 0.0
