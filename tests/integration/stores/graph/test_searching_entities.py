"""`EntitySearch` over each graph store: a search with numbers computed by hand."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sextant.domain.errors import EmbeddingModelChanged, OptionInvalid
from sextant.retrievers import FusionWeights, SearchOptions
from tests.integration.stores.graph.entity_world import ENTITIES, QUERY, Build, Pointing


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
    assert found.debug is not None
    index = {"m": 16, "efConstruction": 64, "efSearch": 100}
    assert found.debug.constants.items() >= {"threshold": 0.5, "decay": 0.7, **index}.items()


@pytest.mark.parametrize("question", ["Cargo", "ｃａｒｇｏ", "cargo tool"])
async def test_what_the_question_names_comes_first_and_is_said_to_be_named(
    build: Build, question: str
) -> None:
    """Cosine 0.4 and a relation from the best: by the lanes alone 所有权系统 and Rust come before Cargo.

    Vector: Cargo 1.0 → 1, 所有权系统 0.9 → 0.75, Rust 0.8 → 0.5, 借用检查器 0.6 → 0.
    """
    world = await build()
    await world.alias("Cargo", "cargo tool")
    found = await world.search().search(question, world.scope, SearchOptions(explain=True))
    first, *others = found.results
    assert first.entity.name == "Cargo"
    assert (first.scores.vector, first.scores.fts) == (1.0, 1.0)
    assert [one.scores.vector for one in others if "vector" in one.sources] == pytest.approx(
        [0.75, 0.5, 0.0], abs=1e-5
    )
    assert first.explanation is not None
    assert first.explanation.named
    assert not any(one.explanation and one.explanation.named for one in others)
    parts = [lane.contribution for lane in first.explanation.lanes.values()]
    assert first.scores.final == pytest.approx(sum(parts) + first.explanation.bonus)
    finals = [one.scores.final for one in found.results]
    assert finals == sorted(finals, reverse=True)


async def test_a_named_entity_that_the_filters_keep_out_is_not_found(build: Build) -> None:
    world = await build()
    options = SearchOptions(filters={"entityTypes": ["concept"]})
    found = await world.search().search("Cargo", world.scope, options)
    assert "Cargo" not in {one.entity.name for one in found.results}


async def test_the_answer_is_the_seeds_json(build: Build) -> None:
    """搜索请求 and 搜索响应: keys and nesting, `nextCursor` only where there is more."""
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


def _is_of_product(task: asyncio.Task[Any]) -> bool:
    """Return whether a task runs our code; the connection pool starts tasks, too."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "site-packages" not in code.co_filename


async def test_a_question_of_another_model_is_refused_and_leaves_nothing_running(
    build: Build,
) -> None:
    """The search for words went on after the refusal, and met a database that was closed by then."""
    world = await build()
    world.embedder = Pointing(64)
    before = asyncio.all_tasks()

    with pytest.raises(EmbeddingModelChanged):
        await world.search().search(QUERY, world.scope, SearchOptions())

    started = {task for task in asyncio.all_tasks() - before if _is_of_product(task)}
    await asyncio.wait_for(asyncio.gather(*started, return_exceptions=True), 60)
    assert all(task.cancelled() for task in started)
