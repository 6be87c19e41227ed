"""`EntitySearch` over each graph store: seed 001's search with numbers computed by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from domain.errors import (
    EmbeddingModelChanged,
    GraphNotFound,
    GraphStoreUnavailable,
    ModelUnavailable,
    OptionInvalid,
    QuestionInvalid,
    RetrievalError,
)
from domain.graph import MentionKind
from domain.scope import Scope
from models.protocols import Reranker, Vectors
from retrievers import EntitySearch, FusionWeights, SearchOptions
from retrievers.entity_search.lanes import GRAPH
from retrievers.entity_search.ranking import NO_RERANKER
from stores.database import Database
from stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from stores.graph.ids import entity_id
from stores.graph.record import GraphRecord
from stores.graph.vectors import EntityVectors
from testing.hash_embedder import HashEmbedder
from tests.integration.stores.graph.conftest import ReadSide

QUERY = "Rust内存安全特性"

# Name → type, description, cosine to the query.
ENTITIES = {
    "所有权系统": ("concept", "Rust的核心内存管理机制，保证内存安全。", 0.9),
    "Rust": ("language", "A language with memory safety and no garbage collector.", 0.8),
    "借用检查器": ("tool", "检查引用的有效性。", 0.6),
    "Cargo": ("tool", "Builds packages.", 0.4),
    "生命周期": ("concept", "引用有效的范围。", 0.3),
    "LLVM": ("tool", "Optimises code.", 0.2),
}
RELATIONS = [
    ("借用检查器", "part_of", "所有权系统", 2.0),
    ("Rust", "uses", "Cargo", 3.0),
    ("生命周期", "checked_by", "借用检查器", 4.0),
    ("Cargo", "calls", "LLVM", 5.0),
]


class Pointing(HashEmbedder):
    """Every question points along the first axis; of `length` dimensions."""

    def __init__(self, length: int = 384, *, broken: bool = False) -> None:
        super().__init__(length)
        self.broken = broken
        self.asked = 0

    async def embed_query(self, text: str) -> Vectors:
        self.asked += 1
        if self.broken:
            raise ModelUnavailable(f"no vector for {len(text)} characters")
        return at(1.0, self.dimension)


def at(cosine: float, length: int = 384) -> Vectors:
    vector = np.zeros(length, np.float32)
    vector[0], vector[1] = cosine, math.sqrt(1 - cosine**2)
    return vector


@dataclass
class World:
    """A knowledge base to search, and what changes it."""

    scope: Scope
    reading: ReadSide
    record: GraphRecord
    database: Database
    embedder: Pointing = field(default_factory=Pointing)

    def search(self, reranker: Reranker | None = None, **more: Any) -> EntitySearch:
        own = self.database.settings
        if more:
            updated = own.entity_search.model_copy(update=more)
            own = own.model_copy(update={"entity_search": updated})
        return EntitySearch(
            self.database, self.reading.graph, self.embedder, own, reranker=reranker
        )

    async def add(
        self,
        entities: dict[str, tuple[str, str, float]],
        relations: Sequence[tuple[str, str, str, float]] = (),
    ) -> None:
        await self.record.add(
            self.scope,
            GraphEvidence(
                [
                    MentionRow(self.id(name), None, MentionKind.IMPORT, name, kind, said)
                    for name, (kind, said, _) in entities.items()
                ],
                [RelationRow(self.id(a), self.id(b), kind, None, w) for a, kind, b, w in relations],
            ),
        )
        vectors = EntityVectors(self.database)
        cosines = {**ENTITIES, **entities}
        if waiting := await vectors.to_embed(self.scope):
            rows = [at(cosines[one.text.split("\n")[0]][2]) for one in waiting]
            await vectors.store(self.scope, waiting, np.stack(rows))
        await self.reading.catch_up(self.scope)

    def id(self, name: str) -> UUID:
        return entity_id(self.scope, name)


Build = Callable[[], Awaitable[World]]


@pytest.fixture
def build(reading: ReadSide, record: GraphRecord, database: Database, scope: Scope) -> Build:
    async def run() -> World:
        world = World(scope, reading, record, database)
        await world.add(ENTITIES, RELATIONS)
        return world

    return run


async def test_three_lanes_are_fused_as_the_seed_computes(build: Build) -> None:
    """`0.5·v + 0.3·f + 0.2·g`, min-max per lane, bonus 0.02: numbers by hand.

    Vector (threshold 0.5): 所有权系统 0.9 → 1, Rust 0.8 → 2/3, 借用检查器 0.6 → 0. These are all seeds,
    so level 1 reaches Cargo (3·0.7 = 2.1) and 生命周期 (4·0.7 = 2.8), level 2 LLVM (5·0.49 = 2.45).
    Shares: 生命周期 1, LLVM 0.5, Cargo 0. Words rust, 内存, 安全, 特性: no entity holds all, so any of
    them counts: 所有权系统 (three in the description) and Rust (in the name).
    """
    world = await build()
    options = SearchOptions(weights=FusionWeights(), top_k=10, explain=True)
    found = await world.search().search(QUERY, world.scope, options)
    by_name = {one.entity.name: one for one in found.results}
    assert set(by_name) == set(ENTITIES)
    life, llvm, cargo = by_name["生命周期"], by_name["LLVM"], by_name["Cargo"]
    assert [one.scores.graph for one in (life, llvm, cargo)] == pytest.approx([1.0, 0.5, 0.0])
    assert [one.scores.final for one in (life, llvm, cargo)] == pytest.approx([0.2, 0.1, 0.0])
    assert life.sources == ("graph",)
    owned, rust = by_name["所有权系统"], by_name["Rust"]
    assert (owned.scores.vector, rust.scores.vector) == pytest.approx((1.0, 2 / 3), abs=1e-5)
    assert owned.sources == rust.sources == ("vector", "fts")
    assert {owned.scores.fts, rust.scores.fts} == {0.0, 1.0}
    for one in (owned, rust):
        agreeing = 0.02 if one.scores.fts > 0 else 0.0
        expected = 0.5 * one.scores.vector + 0.3 * one.scores.fts + agreeing
        assert one.scores.final == pytest.approx(expected)
    assert by_name["借用检查器"].scores.final == pytest.approx(0.0, abs=1e-6)
    finals = [one.scores.final for one in found.results]
    assert finals == sorted(finals, reverse=True)

    assert life.explanation is not None
    assert life.explanation.path is not None
    assert life.explanation.path.relation_type == "checked_by"
    assert (life.explanation.path.depth, life.explanation.path.weight) == (1, 4.0)
    assert life.explanation.lanes["graph"].raw == pytest.approx(2.8)
    assert llvm.explanation is not None
    assert llvm.explanation.lanes["graph"].raw == pytest.approx(5.0 * 0.7**2)
    for one in found.results:
        assert one.explanation is not None
        parts = [lane.contribution for lane in one.explanation.lanes.values()]
        assert one.scores.final == pytest.approx(sum(parts) + one.explanation.bonus)


async def test_the_answer_is_the_seeds_json(build: Build) -> None:
    """搜索响应: keys and nesting of seed 001, `nextCursor` only where there is more."""
    world = await build()
    options = SearchOptions(top_k=2, include_related=True)
    found = await world.search().search(QUERY, world.scope, options)
    body = json.loads(found.model_dump_json())
    assert list(body) == ["results", "total", "query", "searchTimeMs", "nextCursor"]
    assert (body["total"], body["query"]) == (2, QUERY)
    first = body["results"][0]
    assert list(first) == ["entity", "scores", "sources", "relatedEntities"]
    assert list(first["entity"]) == ["id", "name", "description", "entityType"]
    assert list(first["scores"]) == ["vector", "fts", "graph", "final"]
    related = {
        one["entity"]["name"]: one
        for result in body["results"]
        for one in result["relatedEntities"]
    }
    assert related["Cargo"] == {
        "entity": {"id": str(world.id("Cargo")), "name": "Cargo"},
        "relationType": "uses",
    }
    assert related["借用检查器"]["relationType"] == "part_of"
    last = await world.search().search(QUERY, world.scope, SearchOptions(top_k=50))
    assert list(json.loads(last.model_dump_json())) == ["results", "total", "query", "searchTimeMs"]


async def test_filters_bound_every_lane(build: Build) -> None:
    world = await build()
    search = world.search()
    for given, expected in (
        (
            {"entityTypes": ["concept", "TOOL"]},
            {"所有权系统", "借用检查器", "Cargo", "LLVM", "生命周期"},
        ),
        ({"entity_types": "language"}, {"Rust"}),
        ({"createdAfter": "2999-01-01"}, set()),
        ({"createdBefore": "2000-01-01"}, set()),
        ({"createdAfter": "2000-01-01", "entityTypes": ["language"]}, {"Rust"}),
    ):
        options = SearchOptions(filters=given, top_k=50)
        found = await search.search(QUERY, world.scope, options)
        names = {one.entity.name for one in found.results}
        assert names <= expected, given
        assert bool(names) == bool(expected), given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"entityType": ["x"]}, "entityTypes"),
        ({"createdafter": "2024-01-01", "creatdAfter": 1}, "createdAfter"),
        ({"tags": ["x"]}, "entityTypes"),
        ({"createdAfter": "yesterday"}, "2026-03-01"),
        ({"createdAfter": "2024-02-01", "createdBefore": "2024-01-01"}, "Exchange"),
    ],
)
def test_a_filter_that_cannot_be_names_what_can(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionInvalid, match=said):
        SearchOptions(filters=given).only()


async def paged(
    world: World, search: EntitySearch, top_k: int, between: Callable[[int], Awaitable[None]]
) -> list[tuple[UUID, float]]:
    cursor, seen = None, []
    for page in range(100):
        options = SearchOptions(top_k=top_k, cursor=cursor)
        found = await search.search(QUERY, world.scope, options)
        seen += [(one.entity.id, one.scores.final) for one in found.results]
        cursor = found.next_cursor
        if cursor is None:
            return seen
        await between(page)
    raise AssertionError("pages without end")


@pytest.mark.parametrize("cache_seconds", [300.0, 0.0], ids=["kept", "taken anew"])
@pytest.mark.parametrize("top_k", [1, 2, 4])
async def test_pages_make_up_the_whole_list_whatever_is_added_meanwhile(
    build: Build, top_k: int, cache_seconds: float
) -> None:
    world = await build()
    search = world.search(cache_seconds=cache_seconds)

    async def insert(page: int) -> None:
        await world.add({f"Rust内存安全 {page}": ("concept", "内存安全 Rust", 0.95)})

    async def nothing(_: int) -> None: ...

    whole = await paged(world, search, 100, nothing)
    assert await paged(world, search, top_k, insert) == whole
    after = await paged(world, search, 100, nothing)
    assert len(after) > len(whole)


async def test_a_page_shows_nothing_that_is_gone(build: Build) -> None:
    world = await build()
    search = world.search()
    first = await search.search(QUERY, world.scope, SearchOptions(top_k=1))
    await world.record.empty(world.scope)
    await world.reading.catch_up(world.scope)
    options = SearchOptions(top_k=10, cursor=first.next_cursor)
    assert (await search.search(QUERY, world.scope, options)).results == ()


async def test_a_hot_query_is_answered_from_memory_until_something_is_written(build: Build) -> None:
    """结果缓存: five minutes, per user, dropped on write of the graph or of vectors."""
    world = await build()
    now = [0.0]
    search = EntitySearch(
        world.database, world.reading.graph, world.embedder, world.database.settings,
        clock=lambda: now[0],
    )  # fmt: skip
    one = SearchOptions(explain=True)

    async def cached() -> bool:
        found = await search.search(QUERY, world.scope, one)
        assert found.debug is not None
        return found.debug.cached

    assert [await cached(), await cached()] == [False, True]
    asked = world.embedder.asked
    now[0] = 299.0
    assert await cached()
    assert world.embedder.asked == asked
    now[0] = 300.0
    assert [await cached(), await cached()] == [False, True]
    tokio = MentionRow(world.id("Tokio"), None, MentionKind.IMPORT, "Tokio", "tool", "Rust内存")
    await world.record.add(world.scope, GraphEvidence([tokio]))
    await world.reading.catch_up(world.scope)
    assert [await cached(), await cached()] == [False, True]
    vectors = EntityVectors(world.database)
    waiting = await vectors.to_embed(world.scope)
    await vectors.store(world.scope, waiting, np.stack([at(0.7)]))
    assert [await cached(), await cached()] == [False, True]


async def test_another_user_finds_nothing_and_cannot_use_a_cursor(build: Build) -> None:
    world = await build()
    search = world.search()
    found = await search.search(QUERY, world.scope, SearchOptions(top_k=1))
    assert found.next_cursor is not None
    stranger = Scope(f"user-{uuid4()}", world.scope.graph_id)
    with pytest.raises(GraphNotFound):
        await search.search(QUERY, stranger)
    other = Scope(stranger.user_id, "own")
    await world.record.add(
        other,
        GraphEvidence(
            [
                MentionRow(
                    entity_id(other, "Mine"), None, MentionKind.IMPORT, "Mine", "x", "Rust内存"
                )
            ]
        ),
    )
    await world.reading.catch_up(other)
    mine = await search.search(QUERY, other)
    assert [one.entity.name for one in mine.results] == ["Mine"]
    with pytest.raises(OptionInvalid, match="cursor"):
        await search.search(QUERY, other, SearchOptions(cursor=found.next_cursor))


async def test_a_cursor_of_another_search_or_a_changed_one_is_refused(build: Build) -> None:
    world = await build()
    search = world.search()
    found = await search.search(QUERY, world.scope, SearchOptions(top_k=1))
    cursor = found.next_cursor
    assert cursor is not None
    weights = FusionWeights(vector=1.0)
    filters = {"entityTypes": ["tool"]}
    for query, options in (
        ("else", SearchOptions(cursor=cursor)),
        (QUERY, SearchOptions(cursor=cursor, weights=weights)),
        (QUERY, SearchOptions(cursor=cursor, filters=filters)),
        *((QUERY, SearchOptions(cursor=bad)) for bad in changed(cursor)),
    ):
        with pytest.raises(OptionInvalid, match="cursor") as refused:
            await search.search(query, world.scope, options)
        assert refused.value.field == "cursor"


def changed(cursor: str) -> list[str]:
    swapped = [
        cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        for place in range(0, len(cursor), 7)
    ]
    return [*swapped, "", "x", cursor + "AAAA", cursor[:-4], "长" * 10, "=" * 64, "A" * 5000]


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
    assert found.warnings == ("实体向量检索失败，仅使用全文检索结果",)
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
    assert found.warnings == ("图遍历失败，使用向量与全文检索结果",)
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
    assert kept.warnings == (NO_RERANKER,)


async def test_hubs_are_walked_exactly_and_follow_every_change(build: Build) -> None:
    """预计算: what is kept of a high-degree entity is that of the present graph."""
    world = await build()
    spokes = {f"spoke {number:03}": ("part", "", 0.1) for number in range(60)}
    links = [("所有权系统", "has", name, 10.0 + place) for place, name in enumerate(spokes)]
    # Parallel relations fill what is read of the hub at first.
    links += [("所有权系统", f"kind {n}", "spoke 059", 100.0) for n in range(40)]
    await world.add(spokes, links)
    search = world.search(cache_seconds=0.0)

    async def reached() -> list[str]:
        found = await search.search(QUERY, world.scope, SearchOptions(top_k=100, explain=True))
        paths = {one.entity.name: one.explanation for one in found.results}
        return sorted(
            name
            for name, said in paths.items()
            if said is not None and said.path is not None and said.path.depth == 1
        )

    expected = [f"spoke {number:03}" for number in range(50, 60)]
    assert await reached() == expected
    assert await reached() == expected
    await world.add({}, [("所有权系统", "has", "spoke 000", 1000.0)])
    assert await reached() == ["spoke 000", *expected[1:]]
