"""The part of a graph that a walk is kept to: the whole is walked as the graph, a part as near it."""

from __future__ import annotations

import numpy as np
import pytest

from sextant.retrievers.index.walk import ScopeGraph, Subgraph, WalkIndex


def made_up(passages: int, entities: int, seed: int) -> ScopeGraph:
    """Return three entities a passage, half of them titles of one, and twice as many relations as entities."""
    rng = np.random.default_rng(seed)
    mentions = np.stack(
        [np.arange(3 * passages) % passages, rng.integers(0, entities, 3 * passages)], 1
    )
    titles = np.stack([np.arange(passages // 2), rng.permutation(entities)[: passages // 2]], 1)
    ends = rng.integers(0, entities, (2 * entities, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    return ScopeGraph(
        passages=passages,
        entities=entities,
        types=2,
        mentions=np.unique(mentions, axis=0),
        titles=titles,
        relations=np.column_stack([ends, rng.integers(0, 2, len(ends))]),
        relation_weights=rng.random(len(ends)).astype(np.float32) + np.float32(0.1),
        statements=np.empty((0, 2), np.int64),
    )


def whole(index: WalkIndex) -> Subgraph:
    return Subgraph(index, np.arange(index.passages), np.arange(index.entities))


def test_passages_about_entities_are_those_of_the_graph() -> None:
    index = WalkIndex(made_up(12, 9, 1))
    entities, weights = np.array([2, 5]), np.array([0.25, 0.5], np.float32)
    np.testing.assert_allclose(
        whole(index).about(np.zeros(2, np.intp), entities, weights, 1)[0],
        index.passages_about(entities, weights),
        rtol=1e-5,
    )


def test_a_part_gives_no_node_more_than_the_graph_does() -> None:
    index = WalkIndex(made_up(60, 40, 2))
    kept = np.arange(0, 60, 2)
    seeds = np.zeros(60)
    seeds[kept[:3]] = 1 / 3
    fit = np.zeros(60, np.float32)
    fit[kept] = 0.5
    part = Subgraph(index, kept, np.arange(10))
    passages, entities = part.walk(seeds[kept], {}, fit[kept], {})
    all_passages, all_entities = whole(index).walk(seeds, {}, fit, {})
    assert (passages <= all_passages[kept] + 1e-6).all()
    assert (entities <= all_entities + 1e-6).all()
    assert passages.sum() + entities.sum() == pytest.approx(1, abs=0.5)


def test_the_walk_of_a_part_starts_where_it_is_told() -> None:
    index = WalkIndex(made_up(60, 40, 3))
    part = Subgraph(index, np.array([1, 4, 8, 30]), np.empty(0, np.intp))
    passages, _ = part.walk(np.array([0.0, 1.0, 0.0, 0.0]), {}, np.zeros(4, np.float32), {})
    assert passages.argmax() == 1


def test_of_a_hubs_many_relations_a_light_one_of_the_type_asked_for_is_walked() -> None:
    neighbours = np.arange(1, 301)
    ends = np.column_stack([np.zeros(300, np.int64), neighbours])
    wanted = np.where(neighbours == 300, 1, 0)
    index = WalkIndex(
        ScopeGraph(
            passages=1,
            entities=301,
            types=2,
            mentions=np.array([[0, 0]]),
            titles=np.empty((0, 2), np.int64),
            relations=np.column_stack([ends, wanted]),
            relation_weights=np.where(wanted, 1, 2).astype(np.float32),
            statements=np.empty((0, 2), np.int64),
        )
    )
    part = Subgraph(index, np.array([0]), np.array([0]))
    _, entities = part.walk(np.zeros(1), {0: 1.0}, np.zeros(1, np.float32), {1: 1.0})
    assert entities[1:].argmax() == 299
