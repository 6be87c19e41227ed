"""Freeze and join: communities between two full runs.

A batch of documents does not start over: entities that are new, or that nothing joins to their
community any more, move to where most of their weight goes, and all others stay, so that a report
changes only when its community does (measured: 2.8 % of the leaves for a topical batch, against 62 %
for another full run; see docs/graph.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np

from sextant.ingestion.graph.communities.hierarchy import (
    CAP,
    CommunityDraft,
    CommunityGroup,
    assign_ids,
    leaves_of,
    partition,
)
from sextant.ingestion.graph.communities.network import Floats, Indices, Network, labels, runs
from sextant.stores.graph.arrays import GraphArrays

# A joined-to community is split when it has outgrown the cap by this factor.
_OUTGROWN = 2
_SWEEPS = 8


def join(
    network: Network, arrays: GraphArrays, standing: Sequence[CommunityGroup]
) -> list[CommunityGroup]:
    """Return the stored communities, with new entities joined and departed ones removed."""
    leaves = leaves_of(standing)
    label = labels([standing[leaf].members for leaf in leaves], network.size)
    label = _settle(network, label, len(leaves))
    held = dict(_by_label(label))
    alive = [(leaf, held[place]) for place, leaf in enumerate(leaves) if _is_group(held.get(place))]
    fresh = [members for place, members in held.items() if place >= len(leaves)]
    kept = _with_members(standing, dict(alive))
    drafts = [CommunityDraft(0, None, None, members) for members in fresh if _is_group(members)]
    taken = {group.id for group in standing}
    grown = [*kept, *assign_ids(drafts, arrays, {}, taken)]
    taken |= {group.id for group in grown}
    return [*grown, *_split(network, arrays, grown, taken)]


def _settle(network: Network, label: Indices, taken: int) -> Indices:
    """Return labels after the free entities have moved to where they add most modularity.

    Free are entities that are nowhere, or that nothing joins to where they are. Each begins alone,
    under a label from `taken` on; the others stay (local moving, Blondel et al. 2008).
    """
    label = label.copy()
    loose = _loose(network, label)
    label[loose] = taken + np.arange(len(loose))
    strength = network.strength
    total = np.bincount(label[label >= 0], strength[label >= 0], minlength=taken + len(loose))
    scale = 2 * network.weight.sum()
    around = _Neighbours(network, loose)
    for _ in range(_SWEEPS):
        moved = False
        for place, node in enumerate(loose.tolist()):
            nodes, weights = around.of(place)
            choice, where = np.unique(label[nodes], return_inverse=True)
            total[label[node]] -= strength[node]
            gain = np.bincount(where, weights) - strength[node] * total[choice] / scale
            best = int(choice[gain.argmax()]) if gain.max() > 0 else taken + place
            total[best] += strength[node]
            moved |= best != label[node]
            label[node] = best
        if not moved:
            break
    return label


def _loose(network: Network, label: Indices) -> Indices:
    """Return entities that have an edge, but none into a community of theirs."""
    same = (label[network.source] == label[network.target]) & (label[network.source] >= 0)
    held = np.zeros(network.size, np.bool_)
    held[network.source[same]] = held[network.target[same]] = True
    joined = np.zeros(network.size, np.bool_)
    joined[network.source] = joined[network.target] = True
    label[~held] = -1
    return np.flatnonzero(joined & ~held)


class _Neighbours:
    """The edges of a few entities, by their place among them."""

    def __init__(self, network: Network, nodes: Indices) -> None:
        place = np.full(network.size, -1)
        place[nodes] = np.arange(len(nodes))
        own = np.concatenate([place[network.source], place[network.target]])
        other = np.concatenate([network.target, network.source])
        weight = np.concatenate([network.weight, network.weight])
        order = np.argsort(own, kind="stable")
        order = order[np.searchsorted(own[order], 0) :]
        self._other, self._weight = other[order], weight[order]
        self._starts = np.searchsorted(own[order], np.arange(len(nodes) + 1))

    def of(self, place: int) -> tuple[Indices, Floats]:
        """Return the neighbours of the entity at this place, and the weights of the edges."""
        part = slice(self._starts[place], self._starts[place + 1])
        return self._other[part], self._weight[part]


def _by_label(label: Indices) -> Iterator[tuple[int, Indices]]:
    order = np.argsort(label, kind="stable")
    for own, part in runs(label[order]):
        if own >= 0:
            yield own, order[part]


def _is_group(members: Indices | None) -> bool:
    return members is not None and len(members) > 1


def _with_members(
    groups: Sequence[CommunityGroup], leaves: Mapping[int, Indices]
) -> list[CommunityGroup]:
    """Return the groups above and at these leaves, each with the members of its leaves."""
    place = {group.id: number for number, group in enumerate(groups)}
    parts: list[list[Indices]] = [[] for _ in groups]
    for leaf, members in leaves.items():
        above: int | None = leaf
        while above is not None:
            parts[above].append(members)
            parent = groups[above].parent_id
            above = place.get(parent) if parent else None
    return [
        replace(group, members=np.sort(np.concatenate(own)))
        for group, own in zip(groups, parts, strict=True)
        if own
    ]


def _split(
    network: Network, arrays: GraphArrays, groups: Sequence[CommunityGroup], taken: set[UUID]
) -> list[CommunityGroup]:
    """Return communities inside of leaves that have outgrown the cap."""
    inner = list[CommunityGroup]()
    for leaf in leaves_of(groups):
        group = groups[leaf]
        if len(group.members) <= _OUTGROWN * CAP:
            continue
        drafts = partition(network.within(group.members), group.level + 1, group.id)
        if len(drafts) > 1:
            inner += assign_ids(drafts, arrays, {}, taken)
            taken |= {one.id for one in inner}
    return inner
