"""Assertions by columns are what looking at each row gives, and nothing else passes."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.graph import MentionKind
from sextant.stores.graph.evidence import (
    Accepted,
    AliasRow,
    GraphEvidence,
    MentionRow,
    RelationRow,
    collect_assertions,
    drop_problem_rows,
)

ids = st.integers(1, 4).map(lambda number: UUID(int=number))
texts = st.sampled_from(["Ada", " Ada  Lovelace ", "", "\0", "爱达", "x" * 201, "N\ud800N"])
weights = st.sampled_from([1.0, 2, 0.5, 0.0, -1.0, 1e13, 10**400, float("nan"), float("inf")])
mentions = st.builds(
    MentionRow, ids, st.none(), st.just(MentionKind.IMPORT), texts, texts, texts, st.none() | texts
)
relations = st.builds(RelationRow, ids, ids, texts, st.none(), weights, texts)


@given(st.lists(mentions, max_size=4), st.lists(relations, max_size=4))
def test_the_sound_rows_are_those_that_are_accepted_one_by_one(
    named: list[MentionRow], stated: list[RelationRow]
) -> None:
    evidence, one_by_one = GraphEvidence(named, stated), Accepted(0)
    one_by_one.add(evidence)
    columns = collect_assertions(evidence)
    assert (columns is None) == bool(one_by_one.problems)
    columns = collect_assertions(drop_problem_rows(evidence, one_by_one.problems))
    assert columns is not None
    accepted = [(row[1], *row[5:]) for row in one_by_one.mentions]
    assert columns.named == accepted
    _, *said = zip(*one_by_one.relations, strict=True) if one_by_one.relations else [()] * 7
    assert [UUID(int=one) for one in columns.sources] == list(said[0])
    assert [UUID(int=one) for one in columns.targets] == list(said[1])
    assert columns.types == list(said[2])
    assert columns.weights.tolist() == list(said[4])
    assert columns.descriptions == list(said[5])


A, B, CHUNK = UUID(int=1), UUID(int=2), UUID(int=3)


@pytest.mark.parametrize(
    "evidence",
    [
        GraphEvidence([MentionRow(A, CHUNK, MentionKind.IMPORT, "Ada")]),
        GraphEvidence([MentionRow(A, CHUNK, MentionKind.TERM, "Ada")]),
        GraphEvidence((), [RelationRow(A, B, "KNOWS", CHUNK)]),
        GraphEvidence((), (), [AliasRow(A, "Ada", "import")]),
    ],
)
def test_what_passages_say_and_aliases_are_no_assertions(evidence: GraphEvidence) -> None:
    assert collect_assertions(evidence) is None
