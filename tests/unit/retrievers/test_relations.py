"""Relations in memory: preferred types, and the heaviest relations around entities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrievers.index.relations as relations_module
from retrievers.index.relations import Relations

Edge = tuple[int, int, int, float]


def relations_of(edges: Sequence[Edge], entities: int, types: int = 2) -> Relations:
    table = np.array([edge[:3] for edge in edges], np.int64).reshape(-1, 3)
    weights = np.array([edge[3] for edge in edges], np.float32)
    return Relations(table, weights, np.empty((0, 2), np.int64), entities, types)


def hops(relations: Relations, seeds: list[int], **options: int) -> list[tuple[int, ...]]:
    found = relations.expand(np.array(seeds), **options)
    columns = (found.relation, found.node, found.neighbour, found.depth)
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]


CHAIN: list[Edge] = [(0, 1, 0, 1.0), (1, 2, 0, 2.0), (2, 3, 0, 3.0)]


def test_an_expansion_follows_relations_level_by_level_in_both_directions() -> None:
    relations = relations_of(CHAIN, 4)
    assert hops(relations, [3]) == [(2, 3, 2, 1), (1, 2, 1, 2)]
    assert hops(relations, [0], depth=1) == [(0, 0, 1, 1)]


def test_only_the_heaviest_relations_of_a_node_are_followed() -> None:
    star: list[Edge] = [(0, n, 0, float(n)) for n in range(1, 6)]
    assert hops(relations_of(star, 6), [0], depth=1, per_node=2) == [(4, 0, 5, 1), (3, 0, 4, 1)]


def test_a_relation_between_two_seeds_is_listed_once() -> None:
    assert [row[0] for row in hops(relations_of(CHAIN[:1], 2), [0, 1])] == [0]


def test_a_hub_is_reached_but_not_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations_module, "HUB_DEGREE", 2)
    edges: list[Edge] = [(0, 1, 0, 1.0), (1, 2, 0, 1.0), (1, 3, 0, 1.0)]
    assert [row[0] for row in hops(relations_of(edges, 4), [0])] == [0]
    assert sorted(row[0] for row in hops(relations_of(edges, 4), [1])) == [0, 1, 2]


def test_nothing_is_around_an_entity_without_relations() -> None:
    assert hops(relations_of(CHAIN, 5), [4]) == []
    assert hops(relations_of([], 2, 0), [0]) == []


def test_the_named_type_outweighs_the_others_by_a_hundred() -> None:
    relations = relations_of([(0, 1, 0, 2.0), (0, 2, 1, 2.0)], 3)
    adjacency, strength = relations.conditioned({1: 0.5})
    assert strength.tolist() == [2 + 2 * 51, 2, 2 * 51]
    assert adjacency.times(np.array([1, 0, 0], np.float32)).tolist() == [0, 2, 102]
    plain, before = relations.conditioned({})
    assert before.tolist() == [4, 2, 2]
    assert plain.times(np.array([1, 0, 0], np.float32)).tolist() == [0, 2, 2]


edges = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 1), st.floats(1, 9, width=16)),
    max_size=20,
).map(lambda found: [edge for edge in found if edge[0] != edge[1]])


@given(edges)
def test_the_adjacency_is_symmetric_and_its_rows_sum_to_the_strength(found: list[Edge]) -> None:
    adjacency, strength = relations_of(found, 8).conditioned({0: 1.0})
    dense = np.array([adjacency.times(column) for column in np.eye(8, dtype=np.float32)])
    assert dense == pytest.approx(dense.T)
    assert dense.sum(axis=0) == pytest.approx(strength, rel=1e-5)
