"""Relations in memory: the heaviest ones around entities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import sextant.retrievers.index.relations as relations_module
from sextant.retrievers.index.relations import Relations

Edge = tuple[int, int, int, float]


def relations_of(edges: Sequence[Edge], entities: int) -> Relations:
    table = np.array([edge[:3] for edge in edges], np.int64).reshape(-1, 3)
    weights = np.array([edge[3] for edge in edges], np.float32)
    return Relations(table, weights, np.empty((0, 2), np.int64), entities)


def hops(relations: Relations, seeds: list[int], **options: int) -> list[tuple[int, ...]]:
    found = relations.expand(np.array(seeds), **options)
    columns = (found.relation, found.node, found.neighbour, found.depth)
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]


CHAIN: list[Edge] = [(0, 1, 0, 1.0), (1, 2, 0, 2.0), (2, 3, 0, 3.0)]


def test_an_expansion_follows_relations_level_by_level_in_both_directions() -> None:
    relations = relations_of(CHAIN, 4)
    assert hops(relations, [3]) == [(2, 3, 2, 1), (2, 2, 3, 2), (1, 2, 1, 2)]
    assert hops(relations, [0], depth=1) == [(0, 0, 1, 1)]


def test_only_the_heaviest_relations_of_a_node_are_followed() -> None:
    star: list[Edge] = [(0, n, 0, float(n)) for n in range(1, 6)]
    assert hops(relations_of(star, 6), [0], depth=1, per_node=2) == [(4, 0, 5, 1), (3, 0, 4, 1)]


def test_a_relation_between_two_seeds_is_met_from_both() -> None:
    assert hops(relations_of(CHAIN[:1], 2), [0, 1]) == [(0, 0, 1, 1), (0, 1, 0, 1)]


def test_a_hub_is_reached_but_not_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations_module, "HUB_DEGREE", 2)
    edges: list[Edge] = [(0, 1, 0, 1.0), (1, 2, 0, 1.0), (1, 3, 0, 1.0)]
    assert [row[0] for row in hops(relations_of(edges, 4), [0])] == [0]
    assert {row[0] for row in hops(relations_of(edges, 4), [1])} == {0, 1, 2}


def test_nothing_is_around_an_entity_without_relations() -> None:
    assert hops(relations_of(CHAIN, 5), [4]) == []
    assert hops(relations_of([], 2), [0]) == []


def test_of_a_hubs_relations_the_heaviest_are_walked_with_their_types() -> None:
    edges: list[Edge] = [(0, n, n % 2, float(n)) for n in range(1, 101)]
    relations = relations_of(edges, 101)
    walked = relations.heaviest(np.array([0, 100, 7]), 3)
    assert walked.target.tolist() == [100, 99, 98, 0, 0]
    assert walked.weights.tolist() == [100, 99, 98, 100, 7]
    assert relations.kinds_at(walked.positions).tolist() == [0, 1, 0, 0, 1]


def test_an_entity_is_as_strong_and_central_as_all_its_relations_make_it() -> None:
    edges: list[Edge] = [(0, n, 0, float(n)) for n in range(1, 101)]
    relations = relations_of(edges, 101)
    assert relations.strength[:3].tolist() == [5050, 1, 2]
    assert relations.centrality(np.arange(2)).tolist() == pytest.approx([100 / 110, 1 / 11])
    assert len(relations.touching({0: 1.0})[0]) == 100
