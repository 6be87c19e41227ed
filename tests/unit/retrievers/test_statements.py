"""Relation types that a question names, and the passages that state them of its entities."""

from __future__ import annotations

import numpy as np
import pytest

from retrievers.lexical import LexicalIndex
from retrievers.statements import RelationTypes, stated
from retrievers.walk import GraphArrays

_DRUG, _DISEASE, _ORGAN = range(3)
_TREATS, _AFFECTS = range(2)


def graph() -> GraphArrays:
    """The drug treats the disease (stated in passages 0 and 1); the disease affects the organ (2)."""
    return GraphArrays(
        passages=4,
        entities=3,
        types=2,
        mentions=np.empty((0, 2), np.int64),
        titles=np.empty((0, 2), np.int64),
        relations=np.array([[_DRUG, _DISEASE, _TREATS], [_DISEASE, _ORGAN, _AFFECTS]]),
        relation_weights=np.ones(2, np.float32),
        statements=np.array([[0, 0], [0, 1], [1, 2]]),
    )


def test_a_type_is_named_by_the_share_of_its_information() -> None:
    lexical = LexicalIndex.build(["his mother", "the mother of the bride", "his step mother"])
    types = RelationTypes(["mother", "step_mother", "father"], lexical)
    named = types.named_by("Who is the mother of X?")
    assert named[0] == pytest.approx(1)
    assert 0 < named[1] < 1
    assert 2 not in named


def test_passages_that_state_the_named_relation_of_a_named_entity_are_found() -> None:
    found = stated(graph(), {_DRUG: 0.5}, {_TREATS: 1.0})
    assert found.tolist() == [0.5, 0.5, 0, 0]


def test_a_relation_of_an_entity_that_is_not_named_is_not_found() -> None:
    assert stated(graph(), {_DRUG: 1.0}, {_AFFECTS: 1.0}).tolist() == [0, 0, 0, 0]


def test_without_words_the_type_nearest_in_meaning_is_found() -> None:
    found = stated(graph(), {_DISEASE: 1.0}, {}, np.array([0.8, 0.9], np.float32))
    assert found.tolist() == [0, 0, 1, 0]


def test_nothing_named_and_nothing_stated_find_nothing() -> None:
    assert not stated(graph(), {}, {_TREATS: 1.0}).any()
    assert not stated(graph(), {_DRUG: 1.0}, {}).any()
