"""Relation types that a question names, and the passages that state them of its entities."""

from __future__ import annotations

import numpy as np
import pytest

from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.relations import (
    Relations,
    RelationTypes,
    score_statements,
)

_DRUG, _DISEASE, _ORGAN = range(3)
_TREATS, _AFFECTS = range(2)
# The drug treats the disease (stated in passages 0 and 1); the disease affects the organ (2).
_RELATIONS = Relations(
    np.array([[_DRUG, _DISEASE, _TREATS], [_DISEASE, _ORGAN, _AFFECTS]]),
    np.ones(2, np.float32),
    np.array([[0, 0], [0, 1], [1, 2]]),
    entities=3,
)


def found(
    named: dict[int, float],
    type_match: dict[int, float],
    type_similarity: list[float] | None = None,
) -> list[float]:
    similarity = None if type_similarity is None else np.array(type_similarity, np.float32)
    fit = score_statements(_RELATIONS, 4, named, type_match, similarity)
    dense = np.zeros(4, np.float32)
    if fit is not None:
        dense[fit.rows] = fit.values
    return [] if fit is None else dense.tolist()


def test_a_type_is_named_by_the_share_of_its_information() -> None:
    lexical = LexicalIndex.build(["his mother", "the mother of the bride", "his step mother"])
    types = RelationTypes(["mother", "step_mother", "father"], lexical)
    named = types.named_by("Who is the mother of X?")
    assert named[0] == pytest.approx(1)
    assert 0 < named[1] < 1
    assert 2 not in named


def test_passages_that_state_the_named_relation_of_a_named_entity_are_found() -> None:
    assert found({_DRUG: 0.5}, {_TREATS: 1.0}) == [0.5, 0.5, 0, 0]


def test_of_two_named_ends_the_surer_one_counts() -> None:
    assert found({_DRUG: 0.25, _DISEASE: 0.5}, {_TREATS: 1.0}) == [0.5, 0.5, 0, 0]


def test_a_relation_of_an_entity_that_is_not_named_is_not_found() -> None:
    assert found({_DRUG: 1.0}, {_AFFECTS: 1.0}) == [0, 0, 0, 0]


def test_without_words_the_type_nearest_in_meaning_is_found() -> None:
    assert found({_DISEASE: 1.0}, {}, [0.8, 0.9]) == [0, 0, 1, 0]


def test_a_type_of_unknown_meaning_fits_nothing_by_meaning() -> None:
    assert found({_DISEASE: 1.0}, {}, [0.8, float("nan")]) == [0, 0, 0, 0]
    assert found({_DISEASE: 1.0}, {}, [float("nan")] * 2) == [0, 0, 0, 0]


def test_nothing_named_and_nothing_stated_find_nothing() -> None:
    assert found({}, {_TREATS: 1.0}) == []
    assert found({_DRUG: 1.0}, {}) == [0, 0, 0, 0]
