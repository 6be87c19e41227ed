"""What questions share is taken out of their vectors; relation types are compared by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

import sextant.retrievers.index.passages as meanings_module
from sextant.domain.errors import ModelUnavailable
from sextant.domain.graph import CO_OCCURS
from sextant.models.protocols import Vectors
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.passages import GENERIC_QUESTIONS, QueryVectors
from sextant.retrievers.index.relations import RelationTypes


class Fixed:
    """An embedder for which every question lies at (1, 0); counts what it is asked."""

    name, dimension = "fixed", 2

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing = False
        self.gate: asyncio.Event | None = None

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def embed_query(self, text: str) -> Vectors:
        [vector] = await self.embed_passages([text])
        return np.asarray(vector)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.gate is not None:
            await self.gate.wait()
        if self.failing:
            raise ModelUnavailable("No model.")
        self.asked += texts
        known = {"treats": (0, 1), "is part of": (1, 0)}
        return np.array([known.get(text, (1, 0)) for text in texts], np.float32)


@pytest.fixture
def embedder() -> Fixed:
    return Fixed()


def vector(*numbers: float) -> Vectors:
    return np.array(numbers, np.float32)


async def test_half_of_what_questions_share_is_taken_out(embedder: Fixed) -> None:
    centred = await QueryVectors(embedder).centred(vector(0.8, 0.6))
    # (0.8, 0.6) - 0.5 · (1, 0) = (0.3, 0.6), of length √0.45
    assert centred == pytest.approx(vector(0.3, 0.6) / np.sqrt(0.45))
    assert centred.dtype == np.float32


async def test_the_questions_are_embedded_once_for_all_who_ask(embedder: Fixed) -> None:
    meanings = QueryVectors(embedder)
    one, other = await asyncio.gather(*(meanings.centred(vector(0, 1)) for _ in range(2)))
    assert one.tolist() == other.tolist()
    assert sorted(embedder.asked) == sorted(GENERIC_QUESTIONS)


async def test_a_failing_embedder_leaves_the_question_as_it_is_and_is_asked_again(
    embedder: Fixed,
) -> None:
    meanings, question = QueryVectors(embedder), vector(0.8, 0.6)
    embedder.failing = True
    assert (await meanings.centred(question)).tolist() == question.tolist()
    assert await meanings.type_similarity(types("treats"), question) is None
    embedder.failing = False
    assert (await meanings.centred(question)).tolist() != question.tolist()


async def test_a_question_does_not_wait_long_and_a_later_one_has_the_result(
    embedder: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meanings_module, "_PATIENCE_SECONDS", 0.01)
    embedder.gate = asyncio.Event()
    meanings, question = QueryVectors(embedder), vector(0, 1)
    assert await meanings.type_similarity(types("treats"), question) is None
    embedder.gate.set()
    monkeypatch.setattr(meanings_module, "_PATIENCE_SECONDS", 60)
    found = await meanings.type_similarity(types("treats"), question)
    assert found is not None
    assert found.tolist() == [1]
    assert embedder.asked == ["treats"]


def types(*names: str, uses: Sequence[int] | None = None) -> RelationTypes:
    counts = None if uses is None else np.array(uses, np.intp)
    return RelationTypes(names, LexicalIndex.build(["a text"]), counts)


async def test_types_are_compared_as_words_and_only_new_ones_are_embedded(
    embedder: Fixed,
) -> None:
    meanings, question = QueryVectors(embedder), vector(0.6, 0.8)
    first = await meanings.type_similarity(types("treats"), question)
    second = await meanings.type_similarity(types("treats", "is_part_of"), question)
    assert first is not None
    assert second is not None
    assert first == pytest.approx(vector(0.8))
    assert second == pytest.approx(vector(0.8, 0.6))
    assert embedder.asked == ["treats", "is part of"]


async def test_only_the_commonest_types_are_compared_and_co_occurrence_is_none(
    embedder: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.retrievers.index.relations._MAX_COMPARED", 1)
    several = types(CO_OCCURS, "is_part_of", "treats", uses=[99, 3, 7])
    assert several.common == ("treats",)
    found = await QueryVectors(embedder).type_similarity(several, vector(0, 1))
    assert found is not None
    assert np.isnan(found).tolist() == [True, True, False]
    assert found[2] == 1


async def test_a_graph_without_types_asks_nothing(embedder: Fixed) -> None:
    assert await QueryVectors(embedder).type_similarity(types(), vector(0, 1)) is None
    assert embedder.asked == []
