"""图遍历: levels, decay and how many neighbours, over a graph store in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.scope import Scope
from sextant.retrievers.entity_search.lanes import ReachedEntity, traverse
from sextant.stores.graph.protocol import GraphStore, Hop

SCOPE = Scope("user", "graph")

Edge = tuple[int, int, float]


def node(number: int) -> UUID:
    return UUID(int=number)


class Edges:
    """A graph store that knows relations only; answers as `GraphStore.neighbourhood` says."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.hops = [
            Hop(UUID(int=1000 + place), node(a), node(b), "r", weight, 1)
            for place, (a, b, weight) in enumerate(edges)
        ]

    async def neighbourhood(
        self, scope: Scope, ids: Sequence[UUID], *, depth: int, per_node: int
    ) -> list[Hop]:
        assert (scope, depth) == (SCOPE, 1)
        near = set[Hop]()
        for one in ids:
            own = [hop for hop in self.hops if one in (hop.source_id, hop.target_id)]
            own.sort(key=lambda hop: (-hop.weight, hop.relation_id))
            near.update(own[:per_node])
        return sorted(near, key=lambda hop: (-hop.weight, hop.relation_id))


async def walk(
    edges: Sequence[Edge], *seeds: int, depth: int = 2, per_level: int = 10
) -> list[ReachedEntity]:
    graph = cast(GraphStore, Edges(edges))
    return await traverse(graph, SCOPE, [*map(node, seeds)], depth=depth, per_level=per_level)


async def test_the_score_is_weight_times_07_to_the_depth() -> None:
    """分数随深度衰减: 2·0.7 = 1.4 at depth 1, 4·0.49 = 1.96 at depth 2.

    Depth counts from 1; every score is
    0.7 of it, which min-max normalisation does not see.
    """
    near, far = await walk([(0, 1, 2.0), (1, 2, 4.0)], 0)
    assert (near.depth, far.depth) == (1, 2)
    assert near.score(0.7) == pytest.approx(1.4)
    assert far.score(0.7) == pytest.approx(1.96)


async def test_seeds_and_what_was_met_before_are_not_met_again() -> None:
    """visited: a triangle from one corner has two results, both at depth 1."""
    found = await walk([(0, 1, 1.0), (1, 2, 9.0), (2, 0, 2.0)], 0)
    assert [(one.id, one.depth, one.weight) for one in found] == [
        (node(2), 1, 2.0),
        (node(1), 1, 1.0),
    ]
    assert await walk([(0, 1, 1.0)], 0, 1) == []


async def test_a_level_has_its_heaviest_ten_and_goes_on_from_them() -> None:
    """max_neighbors = 10."""
    spokes = [(0, number, float(number)) for number in range(1, 13)]
    behind = [(1, 100, 50.0), (12, 101, 1.0)]
    found = await walk([*spokes, *behind], 0)
    assert [one.id for one in found if one.depth == 1] == [node(n) for n in range(12, 2, -1)]
    assert [one.id for one in found if one.depth == 2] == [node(101)]


async def test_relations_are_walked_both_ways_and_the_heaviest_of_parallel_ones_counts() -> None:
    (one,) = await walk([(5, 0, 1.0), (0, 5, 3.0)], 0)
    assert (one.id, one.via, one.weight) == (node(5), node(0), 3.0)


async def test_no_seeds_lead_nowhere() -> None:
    assert await walk([(0, 1, 1.0)]) == []


EDGE = st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(1, 4).map(float))
EDGES = st.lists(EDGE.filter(lambda edge: edge[0] != edge[1]), max_size=60)


@given(EDGES, st.lists(st.integers(0, 12), max_size=3), st.integers(1, 4))
async def test_of_any_graph_the_heaviest_new_neighbours_are_found(
    edges: list[Edge], seeds: list[int], per_level: int
) -> None:
    found = await walk(edges, *seeds, per_level=per_level)
    assert found == oracle(edges, seeds, per_level)


def oracle(edges: list[Edge], seeds: list[int], per_level: int) -> list[ReachedEntity]:
    visited, frontier, found = set(seeds), list(seeds), list[ReachedEntity]()
    for depth in (1, 2):
        best: dict[int, tuple[Any, ...]] = {}
        for start in dict.fromkeys(frontier):
            for place, (a, b, weight) in enumerate(edges):
                other = b if a == start else a if b == start else None
                if other is not None and other not in visited:
                    option = (-weight, place, start)
                    best[other] = min(best.get(other, option), option, key=lambda one: one[:2])
        level = sorted((option, other) for other, option in best.items())[:per_level]
        found += [
            ReachedEntity(node(other), node(start), "r", -weight, depth)
            for (weight, _, start), other in level
        ]
        frontier = [other for _, other in level]
        visited |= set(frontier)
    return found
