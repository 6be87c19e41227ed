"""Communities: planted ones are found, whatever the order of edges, and a batch disturbs few."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sextant.domain.graph import CO_OCCURS, MentionKind
from sextant.ingestion.graph.communities.membership import (
    CAP,
    CommunityGroup,
    build,
    is_outdated,
    join,
    partition,
    top,
)
from sextant.ingestion.graph.communities.network import Network, modularity, network_of, pairs
from sextant.stores.graph.arrays import KINDS, GraphArrays

NAMES = UUID(int=1)
Edge = tuple[int, int, float]


def arrays(
    size: int,
    relations: Sequence[tuple[int, int, str, float]] = (),
    mentions: Sequence[tuple[int, int, MentionKind]] = (),
) -> GraphArrays:
    """Return a graph of entities 0..size-1 as the record hands it out."""
    ids = sorted(uuid5(NAMES, str(number)).bytes for number in range(size))
    types = tuple(sorted({kind for _, _, kind, _ in relations}))
    chunks = max((chunk for _, chunk, _ in mentions), default=-1) + 1
    return GraphArrays(
        version=1,
        chunks=np.zeros((chunks, 2), np.uint64),
        entities=np.frombuffer(b"".join(ids), ">u8").reshape(-1, 2).astype(np.uint64),
        names=[f"Name {number}" for number in range(size)],
        entity_types=["TERM"] * size,
        mention_entity=np.array([row[0] for row in mentions], np.int32),
        mention_chunk=np.array([row[1] for row in mentions], np.int32),
        mention_kind=np.array([KINDS.index(row[2]) for row in mentions], np.int8),
        relation_source=np.array([row[0] for row in relations], np.int32),
        relation_target=np.array([row[1] for row in relations], np.int32),
        relation_type=np.array([types.index(row[2]) for row in relations], np.int32),
        relation_weight=np.array([row[3] for row in relations], np.float64),
        relation_types=types,
        statement_relation=np.empty(0, np.int32),
        statement_chunk=np.empty(0, np.int32),
        alias_norms=[],
        alias_entity=np.empty(0, np.int32),
    )


def network(size: int, edges: Sequence[Edge]) -> Network:
    source, target, weight = (np.array(column) for column in zip(*edges, strict=True))
    return Network.of(size, source.astype(np.int64), target.astype(np.int64), weight)


def planted(groups: int, members: int, *, within: float, seed: int = 0) -> list[Edge]:
    """Return edges of communities of equal size; a share `within` of each member's ten stay inside."""
    random = np.random.default_rng(seed)
    size = groups * members
    edges = list[Edge]()
    for node in range(size):
        home = node // members * members
        for _ in range(10):
            inside = random.random() < within
            other = home + random.integers(members) if inside else random.integers(size)
            if other != node:
                edges.append((node, int(other), 1.0))
    return edges


def members(groups: Sequence[CommunityGroup], level: int = 0) -> set[tuple[int, ...]]:
    return {tuple(group.members.tolist()) for group in groups if group.level == level}


def test_planted_communities_are_found() -> None:
    graph = network(400, planted(10, 40, within=0.9))
    groups = build(graph, arrays(400), [])
    assert members(groups) == {tuple(range(start, start + 40)) for start in range(0, 400, 40)}


def test_every_component_has_communities_and_an_entity_without_relations_has_none() -> None:
    graph = network(8, [(0, 1, 1.0), (2, 3, 1.0), (3, 4, 1.0), (6, 7, 1.0)])
    assert members(build(graph, arrays(8), [])) == {(0, 1), (2, 3, 4), (6, 7)}
    assert build(Network.of(3, *_no_edges()), arrays(3), []) == []


def test_large_communities_are_split_and_lie_within_their_parents() -> None:
    graph = network(3000, planted(60, 50, within=0.75, seed=3))
    groups = build(graph, arrays(3000), [])
    known = {group.id: group for group in groups}
    parents = {group.parent_id for group in groups}
    leaves = [group for group in groups if group.id not in parents]
    assert max(len(leaf.members) for leaf in leaves) <= CAP
    assert sorted(np.concatenate([leaf.members for leaf in leaves])) == list(range(3000))
    for group in groups:
        if group.parent_id is not None:
            parent = known[group.parent_id]
            assert parent.level == group.level - 1
            assert set(group.members) <= set(parent.members)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_the_order_and_direction_of_edges_do_not_matter(seed: int) -> None:
    edges = planted(8, 20, within=0.7)
    random = np.random.default_rng(seed)
    shuffled = [edges[place] for place in random.permutation(len(edges))]
    turned = [(b, a, w) if random.random() < 0.5 else (a, b, w) for a, b, w in shuffled]
    first = build(network(160, edges), arrays(160), [])
    again = build(network(160, turned), arrays(160), [])
    assert [(one.id, one.level, one.parent_id) for one in first] == [
        (one.id, one.level, one.parent_id) for one in again
    ]
    assert members(first) == members(again)


def test_duplicates_are_summed_and_negative_weights_count_nothing() -> None:
    graph = network(4, [(0, 1, 1.0), (1, 0, 2.0), (2, 2, 5.0), (2, 3, -1.0)])
    assert graph.source.tolist() == [0]
    assert graph.target.tolist() == [1]
    assert graph.weight.tolist() == [3.0]


def test_a_new_entity_joins_its_neighbours_and_nobody_else_moves() -> None:
    edges = planted(10, 40, within=0.9)
    old = build(network(400, edges), arrays(400), [])
    more = [*edges, (400, 7, 1.0), (400, 9, 1.0), (400, 45, 1.0)]
    groups = join(network(401, more), arrays(401), old)
    changed = {one.id for one in groups} - {
        one.id
        for one, known in zip(groups, old, strict=True)
        if len(one.members) == len(known.members)
    }
    assert [one.id for one in groups] == [one.id for one in old]
    (only,) = [one for one in groups if one.id in changed]
    assert only.members.tolist() == [*range(40), 400]


def test_new_entities_that_keep_to_themselves_are_a_new_community() -> None:
    edges = planted(10, 40, within=0.9)
    old = build(network(400, edges), arrays(400), [])
    more = [*edges, *((400 + a, 400 + b, 1.0) for a in range(5) for b in range(a))]
    groups = join(network(405, more), arrays(405), old)
    (new,) = [one for one in groups if one.id not in {known.id for known in old}]
    assert new.level == 0
    assert new.members.tolist() == [400, 401, 402, 403, 404]


def test_an_entity_that_nothing_joins_to_its_community_any_more_moves() -> None:
    edges = [
        (a, b, 1.0) for start in (0, 5) for a in range(start, start + 5) for b in range(start, a)
    ]
    old = build(network(10, edges), arrays(10), [])
    left = [edge for edge in edges if 4 not in edge[:2]]
    groups = join(network(10, [*left, (4, 7, 1.0)]), arrays(10), old)
    assert members(groups) == {(0, 1, 2, 3), (4, 5, 6, 7, 8, 9)}
    assert {one.id for one in groups} == {one.id for one in old}


def test_a_community_that_is_left_by_all_but_one_is_gone() -> None:
    edges = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0)]
    old = build(network(5, edges), arrays(5), [])
    assert members(join(network(5, edges[:3]), arrays(5), old)) == {(0, 1, 2)}


def test_a_leaf_that_outgrows_the_cap_is_split_and_keeps_its_id() -> None:
    starts = range(0, 630, 30)
    cliques = [(start + a, start + b, 1.0) for start in starts for a in range(30) for b in range(a)]
    old = build(network(630, cliques), arrays(630), [])
    (first,) = [one for one in old if 0 in one.members]
    into = [(node, (node + step) % 30, 1.0) for node in range(630, 880) for step in (0, 7, 13)]
    beside = [(node, node + 1, 1.0) for node in range(630, 879) if node % 50]
    groups = join(network(880, [*cliques, *into, *beside]), arrays(880), old)
    (grown,) = [one for one in groups if one.id == first.id]
    assert grown.members.tolist() == [*range(30), *range(630, 880)]
    inner = [one for one in groups if one.parent_id == first.id]
    assert sorted(np.concatenate([one.members for one in inner])) == grown.members.tolist()
    assert max(len(one.members) for one in inner) <= CAP
    assert {one.id for one in groups} - {one.id for one in old} == {one.id for one in inner}


def test_a_full_run_keeps_the_ids_of_communities_that_are_still_the_same() -> None:
    edges = planted(10, 40, within=0.9)
    old = build(network(400, edges), arrays(400), [])
    random = np.random.default_rng(9)
    kept = [edge for edge in edges if random.random() < 0.9]
    again = build(network(400, kept), arrays(400), old)
    by_members = {tuple(one.members.tolist()): one.id for one in old}
    assert {by_members.get(tuple(one.members.tolist())) for one in again} == {one.id for one in old}


def test_a_full_run_is_due_when_edges_or_modularity_have_changed_much() -> None:
    graph = network(400, planted(10, 40, within=0.9))
    groups = build(graph, arrays(400), [])
    now = modularity(graph, top(groups, 400))
    edges = len(graph.source)
    assert not is_outdated(graph, groups, edges=edges, modularity_then=now)
    assert is_outdated(graph, groups, edges=int(edges * 0.8), modularity_then=now)
    assert is_outdated(graph, groups, edges=int(edges * 1.3), modularity_then=now)
    assert is_outdated(graph, groups, edges=edges, modularity_then=now + 0.02)


def test_modularity_is_what_newmans_formula_gives() -> None:
    two = network(6, [(0, 1, 1), (1, 2, 1), (0, 2, 1), (3, 4, 1), (4, 5, 1), (3, 5, 1), (2, 3, 1)])
    assert modularity(two, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(6 / 7 - 0.5)
    assert modularity(two, np.zeros(6, np.int64)) == pytest.approx(0)
    assert modularity(two, np.full(6, -1)) < 0


def test_terms_that_share_sentences_no_more_than_by_chance_are_not_joined() -> None:
    hub = [(0, node, CO_OCCURS, 1.0) for node in range(1, 20)]
    rare = [(1, 2, CO_OCCURS, 3.0), (0, 21, "TREATS", 2.0)]
    graph = network_of(arrays(22, [*hub, *rare]))
    weights = {
        (a, b): w
        for a, b, w in zip(
            graph.source.tolist(), graph.target.tolist(), graph.weight.tolist(), strict=True
        )
    }
    assert weights[1, 2] > weights[0, 5] > weights.get((0, 1), 0.0)
    assert weights[0, 21] == pytest.approx(np.log2(3))
    assert (graph.weight > 0).all()


def test_what_titles_a_passage_is_joined_to_what_the_passage_links_to() -> None:
    mentions = [
        (0, 0, MentionKind.TITLE),
        (1, 0, MentionKind.ALIAS),
        (2, 0, MentionKind.TERM),
        (0, 1, MentionKind.TITLE),
        (1, 1, MentionKind.ALIAS),
    ]
    graph = network_of(arrays(3, mentions=mentions))
    assert (graph.source.tolist(), graph.target.tolist()) == ([0], [1])
    assert graph.weight.tolist() == [pytest.approx(np.log2(3))]


def test_pairs_are_all_places_of_equal_keys() -> None:
    left, right = np.array([3, 1, 3, 9]), np.array([3, 7, 1, 3])
    one, other = pairs(left, right)
    assert sorted(zip(one.tolist(), other.tolist(), strict=True)) == [
        (0, 0), (0, 3), (1, 2), (2, 0), (2, 3),
    ]  # fmt: skip


def test_partitions_begin_at_the_level_they_are_asked_for() -> None:
    parent = UUID(int=7)
    drafts = partition(network(4, [(0, 1, 1.0), (2, 3, 1.0)]), 2, parent)
    assert {(draft.level, draft.parent_id) for draft in drafts} == {(2, parent)}


def _no_edges() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
