"""Find communities of entities by hierarchical Leiden, and update them after changes.

Between two full runs, only new entities and those without an edge into their community move; all others stay, so
that few reports change (2.8 % of the leaves after a topical batch, against 62 % after another full run; docs/graph.md).
A full run keeps the ids of communities that are still alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import graspologic_native as leiden
import numpy as np
import numpy.typing as npt

from sextant.ingestion.graph.communities.network import (
    Floats,
    Indices,
    Network,
    labels,
    modularity,
    pairs,
    runs,
)
from sextant.stores.graph.arrays import GraphArrays

# The largest community that is not split; 10 would cost six times the reports (100,000 entities: 27,778).
CAP = 100
# A full run is due after this change of the number of edges, or this loss of modularity.
_GROWN, _FALLEN = 0.2, 0.01
_SAME = 0.5  # least Jaccard index of a community and its successor


@dataclass(frozen=True, slots=True)
class CommunityGroup:
    """A community with the sorted indices of its members; level 0 is the coarsest."""

    id: UUID
    level: int
    parent_id: UUID | None
    members: Indices


@dataclass(frozen=True, slots=True)
class CommunityDraft:
    """A community without an id; its parent is another draft, by index, or a community with an id."""

    level: int
    parent: int | None
    parent_id: UUID | None
    members: Indices


def build(
    network: Network, arrays: GraphArrays, stored: Sequence[CommunityGroup]
) -> list[CommunityGroup]:
    """Partition the whole network; a community that is like a stored one gets its id."""
    drafts = partition(network)
    known = _matches([draft.members for draft in drafts], stored)
    return assign_ids(drafts, arrays, known, {group.id for group in stored})


def partition(
    network: Network, level: int = 0, parent_id: UUID | None = None
) -> list[CommunityDraft]:
    """Return the communities of a network, from the coarsest down to at most `CAP` members; deterministic."""
    rows = _leiden(network)
    if not len(rows):
        return []
    starts = np.flatnonzero(np.diff(rows[:, 1], prepend=-1) | np.diff(rows[:, 0], prepend=-1))
    drafts = list[CommunityDraft]()
    numbers = dict[tuple[int, int], int]()
    for part in np.split(rows, starts[1:]):
        depth, cluster, above = part[0, :3].tolist()
        numbers[depth, cluster] = len(drafts)
        parent = numbers.get((depth - 1, above)) if depth else None
        drafts.append(
            CommunityDraft(level + depth, parent, parent_id if parent is None else None, part[:, 3])
        )
    return drafts


def _leiden(network: Network) -> npt.NDArray[np.int64]:
    """Return sorted rows of level, community, parent community (or -1) and entity."""
    if not len(network.source):
        return np.empty((0, 4), np.int64)
    names = [str(number) for number in range(network.size)]
    edges = [
        (names[source], names[target], weight)
        for source, target, weight in zip(
            network.source.tolist(), network.target.tolist(), network.weight.tolist(), strict=True
        )
    ]
    found = leiden.hierarchical_leiden(
        edges,
        starting_communities=None,
        resolution=1.0,
        randomness=0.001,
        iterations=1,
        use_modularity=True,
        max_cluster_size=CAP,
        seed=20_190_326,  # any number
    )
    rows = np.array(
        [
            (
                one.level,
                one.cluster,
                -1 if one.parent_cluster is None else one.parent_cluster,
                int(one.node),
            )
            for one in found
        ],
        np.int64,
    )
    return rows[np.lexsort((rows[:, 3], rows[:, 1], rows[:, 0]))]


def is_outdated(
    network: Network, groups: Sequence[CommunityGroup], *, edges: int, modularity_then: float
) -> bool:
    """Return whether so much has changed since the last full run that another one is due."""
    grown = abs(len(network.source) - edges) > _GROWN * edges
    return grown or modularity(network, top(groups, network.size)) < modularity_then - _FALLEN


def top(groups: Sequence[CommunityGroup], size: int) -> Indices:
    """Return for each entity the index of its community among those of level 0; -1 for none."""
    return labels([group.members for group in groups if group.level == 0], size)


def leaves_of(groups: Sequence[CommunityGroup]) -> list[int]:
    """Return the indices of the communities that have no children."""
    parents = {group.parent_id for group in groups}
    return [index for index, group in enumerate(groups) if group.id not in parents]


def _matches(members: Sequence[Indices], stored: Sequence[CommunityGroup]) -> dict[int, UUID]:
    """Return the id of the stored community that each new one continues; the most alike pairs come first."""
    if not members or not stored:
        return {}
    old, new = _rows([group.members for group in stored]), _rows(members)
    left, right = pairs(old[1], new[1])
    codes, shared = np.unique(old[0][left] * len(members) + new[0][right], return_counts=True)
    one, other = codes // len(members), codes % len(members)
    sizes = np.array([len(group.members) for group in stored])[one]
    alike = shared / (sizes + np.array([len(part) for part in members])[other] - shared)
    known = dict[int, UUID]()
    used = set[UUID]()
    for row in np.lexsort((other, one, -alike)).tolist():
        if alike[row] < _SAME:
            break
        same = stored[int(one[row])].id
        if int(other[row]) not in known and same not in used:
            known[int(other[row])] = same
            used.add(same)
    return known


def _rows(members: Sequence[Indices]) -> tuple[Indices, Indices]:
    sizes = [len(part) for part in members]
    return np.repeat(np.arange(len(members)), sizes), np.concatenate(members)


def assign_ids(
    drafts: Sequence[CommunityDraft],
    arrays: GraphArrays,
    known: Mapping[int, UUID],
    taken: set[UUID],
) -> list[CommunityGroup]:
    """Give communities their known ids, or new ones that follow from their members."""
    used = taken | set(known.values())
    ids = list[UUID]()
    for index, draft in enumerate(drafts):
        id_ = known.get(index) or _new_id(arrays, draft, used)
        used.add(id_)
        ids.append(id_)
    return [
        CommunityGroup(
            ids[index],
            draft.level,
            draft.parent_id if draft.parent is None else ids[draft.parent],
            draft.members,
        )
        for index, draft in enumerate(drafts)
    ]


def _new_id(arrays: GraphArrays, draft: CommunityDraft, used: set[UUID]) -> UUID:
    digest = hashlib.md5(arrays.entities[draft.members].tobytes(), usedforsecurity=False)
    while (id_ := UUID(bytes=digest.digest())) in used:
        digest.update(b"another")
    return id_


_OUTGROWN = 2  # times the cap: a community that has grown so large is split


def join(
    network: Network, arrays: GraphArrays, stored: Sequence[CommunityGroup]
) -> list[CommunityGroup]:
    """Return the stored communities with new entities added and deleted ones removed."""
    leaves = leaves_of(stored)
    label = labels([stored[leaf].members for leaf in leaves], network.size)
    label = _settle(network, label, len(leaves))
    groups_of = dict(_by_label(label))
    alive = [
        (leaf, groups_of[index])
        for index, leaf in enumerate(leaves)
        if _is_group(groups_of.get(index))
    ]
    fresh = [members for index, members in groups_of.items() if index >= len(leaves)]
    remaining = _with_members(stored, dict(alive))
    drafts = [CommunityDraft(0, None, None, members) for members in fresh if _is_group(members)]
    taken = {group.id for group in stored}
    grown = [*remaining, *assign_ids(drafts, arrays, {}, taken)]
    taken |= {group.id for group in grown}
    return [*grown, *_split(network, arrays, grown, taken)]


def _settle(network: Network, label: Indices, taken: int) -> Indices:
    """Return labels after loose entities have moved to the community with the largest gain of modularity.

    Loose entities are in no community, or have no edge into theirs. Each begins alone, with a label from `taken` on;
    the others stay (local moving, Blondel et al. 2008).
    """
    label = label.copy()
    loose = _loose(network, label)
    label[loose] = taken + np.arange(len(loose))
    strength = network.strength
    total = np.bincount(label[label >= 0], strength[label >= 0], minlength=taken + len(loose))
    scale = 2 * network.weight.sum()
    neighbours = _Neighbours(network, loose)
    for _ in range(8):
        moved = False
        for index, node in enumerate(loose.tolist()):
            nodes, weights = neighbours.of(index)
            choice, where = np.unique(label[nodes], return_inverse=True)
            total[label[node]] -= strength[node]
            gain = np.bincount(where, weights) - strength[node] * total[choice] / scale
            best = int(choice[gain.argmax()]) if gain.max() > 0 else taken + index
            total[best] += strength[node]
            moved |= best != label[node]
            label[node] = best
        if not moved:
            break
    return label


def _loose(network: Network, label: Indices) -> Indices:
    """Return the entities that have edges, but none into their community; label them -1."""
    same = (label[network.source] == label[network.target]) & (label[network.source] >= 0)
    stays_in = np.zeros(network.size, np.bool_)
    stays_in[network.source[same]] = stays_in[network.target[same]] = True
    joined = np.zeros(network.size, np.bool_)
    joined[network.source] = joined[network.target] = True
    label[~stays_in] = -1
    return np.flatnonzero(joined & ~stays_in)


class _Neighbours:
    """The edges of some entities, by index among these."""

    def __init__(self, network: Network, nodes: Indices) -> None:
        positions = np.full(network.size, -1)
        positions[nodes] = np.arange(len(nodes))
        sources = np.concatenate([positions[network.source], positions[network.target]])
        other = np.concatenate([network.target, network.source])
        weight = np.concatenate([network.weight, network.weight])
        order = np.argsort(sources, kind="stable")
        order = order[np.searchsorted(sources[order], 0) :]
        self._other, self._weight = other[order], weight[order]
        self._starts = np.searchsorted(sources[order], np.arange(len(nodes) + 1))

    def of(self, node: int) -> tuple[Indices, Floats]:
        """Return the neighbours of an entity, and the weights of the edges."""
        part = slice(self._starts[node], self._starts[node + 1])
        return self._other[part], self._weight[part]


def _by_label(label: Indices) -> Iterator[tuple[int, Indices]]:
    order = np.argsort(label, kind="stable")
    for rows, part in runs(label[order]):
        if rows >= 0:
            yield rows, order[part]


def _is_group(members: Indices | None) -> bool:
    return members is not None and len(members) > 1


def _with_members(
    groups: Sequence[CommunityGroup], leaves: Mapping[int, Indices]
) -> list[CommunityGroup]:
    """Return these leaves and the communities above them, each with the members of its leaves."""
    numbers = {group.id: number for number, group in enumerate(groups)}
    parts: list[list[Indices]] = [[] for _ in groups]
    for leaf, members in leaves.items():
        above: int | None = leaf
        while above is not None:
            parts[above].append(members)
            parent = groups[above].parent_id
            above = numbers.get(parent) if parent else None
    return [
        replace(group, members=np.sort(np.concatenate(part)))
        for group, part in zip(groups, parts, strict=True)
        if part
    ]


def _split(
    network: Network, arrays: GraphArrays, groups: Sequence[CommunityGroup], taken: set[UUID]
) -> list[CommunityGroup]:
    """Return communities inside leaves that have grown too large."""
    inner = list[CommunityGroup]()
    for leaf in leaves_of(groups):
        group = groups[leaf]
        if len(group.members) <= _OUTGROWN * CAP:
            continue
        drafts = partition(network.subnetwork(group.members), group.level + 1, group.id)
        if len(drafts) > 1:
            inner += assign_ids(drafts, arrays, {}, taken)
            taken |= {one.id for one in inner}
    return inner
