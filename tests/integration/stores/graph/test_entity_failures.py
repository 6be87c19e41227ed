"""What an entity search does about lanes and rerankers that fail, and odd or refused questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sextant.domain.errors import (
    EmbeddingModelChanged,
    GraphStoreUnavailable,
    ModelUnavailable,
    QuestionInvalid,
)
from sextant.domain.retrieval import RetrievalError
from sextant.domain.warnings import WarningCode
from sextant.retrievers import SearchOptions
from sextant.retrievers.entity_search.lanes import GRAPH
from sextant.text.characters import language_of
from tests.integration.stores.graph.entity_world import QUERY, Build, Pointing
from tests.sentences import sentence


@pytest.mark.parametrize(
    "query",
    [
        "the of and",
        "的了吗",
        "！？…",
        "?!.,",
        "🙂🙃",
        "问" * 2000,
        "a " * 1000,
        "' OR 1=1 --",
        '+-&|!(){}[]^"~*?:\\/',
    ],
)
async def test_an_odd_question_is_searched_all_the_same(build: Build, query: str) -> None:
    world = await build()
    found = await world.search().search(query, world.scope)
    assert "所有权系统" in {one.entity.name for one in found.results}  # by meaning
    assert found.warnings is None


@pytest.mark.parametrize("query", ["", "  ", "x" * 2001, "\x00"])
async def test_no_question_and_a_too_long_one_are_refused(build: Build, query: str) -> None:
    world = await build()
    with pytest.raises(QuestionInvalid):
        await world.search().search(query, world.scope)


async def test_without_a_vector_words_go_on_and_say_so(build: Build) -> None:
    world = await build()
    world.embedder.broken = True
    search = world.search()
    found = await search.search("Rust", world.scope)
    assert found.results[0].entity.name == "Rust"
    assert found.warnings == (
        "Vector search of entities failed; the results come from full-text search.",
        "no vector for 4 characters",
    )
    world.embedder.broken = False
    again = await search.search("Rust", world.scope)
    assert again.warnings is None
    assert len(again.results) > len(found.results)


async def test_a_lane_that_fails_stops_no_other_and_all_causes_are_told(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await build()

    async def fails(*args: Any, **kwargs: Any) -> Any:
        raise GraphStoreUnavailable("gone")

    kind = type(world.reading.graph)
    monkeypatch.setattr(kind, "neighbourhood", fails)
    found = await world.search().search(QUERY, world.scope)
    assert {GRAPH} & {source for one in found.results for source in one.sources} == set()
    assert found.warnings == ("图遍历失败，使用向量与全文检索结果", "gone")
    monkeypatch.setattr(kind, "entities_by_words", fails)
    found = await world.search().search(QUERY, world.scope)
    assert {one.sources for one in found.results} == {("vector",)}
    world.embedder.broken = True
    with pytest.raises(RetrievalError, match="知识库检索失败") as failed:
        await world.search().search(QUERY, world.scope)
    assert set(failed.value.causes) == {"vector", "fts"}


async def test_a_vector_of_another_length_is_a_clear_error(build: Build) -> None:
    world = await build()
    world.embedder = Pointing(64)
    with pytest.raises(EmbeddingModelChanged, match="reembed"):
        await world.search().search(QUERY, world.scope)


class ByName:
    """A reranker that orders by the length of a text."""

    name = "by length"

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        assert query == QUERY
        return [-float(len(text)) for text in texts]


class Broken(ByName):
    """A reranker whose model does not answer."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        raise ModelUnavailable(f"no scores for {len(texts)}")


async def test_a_reranker_orders_name_and_description_anew(build: Build) -> None:
    world = await build()
    options = SearchOptions(rerank=True, top_k=10)
    found = await world.search(ByName()).search(QUERY, world.scope, options)
    lengths = [len(f"{one.entity.name}: {one.entity.description}") for one in found.results]
    assert lengths == sorted(lengths)
    assert [one.scores.rerank for one in found.results] == [-float(size) for size in lengths]
    finals = [one.scores.final for one in found.results]
    assert finals == sorted(finals, reverse=True)
    plain = await world.search(ByName()).search(QUERY, world.scope)
    for reranker in (Broken(), None):
        kept = await world.search(reranker).search(QUERY, world.scope, options)
        assert [one.entity for one in kept.results] == [one.entity for one in plain.results]
        assert kept.warnings is not None
    assert kept.warnings == (sentence(WarningCode.RERANKER_MISSING, language_of(QUERY)),)
