"""Communities of entities: hierarchical Leiden, and between two full runs freeze-and-join.

A full run partitions the whole graph (Traag, Waltman, van Eck 2019, as graspologic-native has it) and
splits what has more than `CAP` members again. Edges are sorted and duplicates summed first, because
the same seed on shuffled edges gives another partition. A batch of documents does not start over:
entities that are new, or that nothing joins to their community any more, move to where most of their
weight goes, and all others stay, so that a report changes only when its community does (measured:
2.8 % of the leaves for a topical batch, against 62 % for another full run; see docs/graph.md).

An entity without relations is in no community: a report of one name would say what the entity does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import graspologic_native as leiden
import numpy as np
import numpy.typing as npt

from domain.graph import CO_OCCURS, MentionKind
from stores.graph.arrays import KINDS, GraphArrays

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Members of a community that is not split further; 10 would cost six times the reports for leaves of
# little quality (100,000 entities: 27,778 reports against 4,372).
CAP = 100
# A joined-to community is split when it has outgrown the cap by this factor.
_OUTGROWN = 2
_SEED = 20_190_326  # any number; the day Leiden was published
_SWEEPS = 8
# When a full run is due: edges by this share more or fewer, modularity by this much less.
_GROWN, _FALLEN = 0.2, 0.01
_SAME = 0.5  # Jaccard index from which on a community is still the one it was


@dataclass(frozen=True, slots=True)
class Network:
    """An undirected graph of entities by their numbers: source < target, sorted, each pair once.

    Weights are > 0; `size` counts all entities, also those without an edge.
    """

    size: int
    source: Indices
    target: Indices
    weight: Floats

    @classmethod
    def of(cls, size: int, source: Indices, target: Indices, weight: Floats) -> Network:
        """Sort edges of any direction, sum duplicates, and drop what joins nothing to nothing."""
        low, high = np.minimum(source, target), np.maximum(source, target)
        codes, place = np.unique(low * size + high, return_inverse=True)
        total = np.bincount(place, np.maximum(weight, 0.0), minlength=len(codes))
        low, high = codes // max(size, 1), codes % max(size, 1)
        kept = (total > 0) & (low != high)
        return cls(size, low[kept], high[kept], total[kept])

    @property
    def strength(self) -> Floats:
        """Per entity the summed weight of its edges."""
        return self._sums(self.source) + self._sums(self.target)

    def within(self, members: Indices) -> Network:
        """The edges among some entities, under the same numbers."""
        inside = np.zeros(self.size, np.bool_)
        inside[members] = True
        both = inside[self.source] & inside[self.target]
        return Network(self.size, self.source[both], self.target[both], self.weight[both])

    def _sums(self, ends: Indices) -> Floats:
        return np.bincount(ends, self.weight, minlength=self.size).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Group:
    """A community by the numbers of its members, sorted; level 0 is the coarsest."""

    id: UUID
    level: int
    parent_id: UUID | None
    members: Indices


def network_of(arrays: GraphArrays) -> Network:
    """What joins entities, each kind on the scale of log2(1 + how often), about 1 for once.

    Stated relations count their weight. Terms that share sentences count by how much more often
    than chance they do (normalised pointwise mutual information, 0 to 1, negative ones 0; Bouma
    2009). An entity that titles a passage is joined to what the passage links to.
    """
    size = len(arrays.entities)
    by_chance = _is_type(arrays, CO_OCCURS)
    stated, shared = _relations(arrays, ~by_chance), _relations(arrays, by_chance)
    linked = _links(arrays)
    parts = (stated, shared, linked)
    weights = [np.log2(1 + part.weight) for part in parts]
    weights[1] *= _information(shared)
    return Network.of(
        size,
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate(weights),
    )


def partition(network: Network, level: int = 0, parent_id: UUID | None = None) -> list[_Draft]:
    """Every component's communities, from the coarsest down to at most `CAP` members.

    Deterministic; the extension runs without the interpreter's lock.
    """
    if not len(network.source):
        return []
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
        seed=_SEED,
    )
    rows = np.array(
        [(one.level, one.cluster, _or_none(one.parent_cluster), int(one.node)) for one in found],
        np.int64,
    )
    rows = rows[np.lexsort((rows[:, 3], rows[:, 1], rows[:, 0]))]
    starts = np.flatnonzero(np.diff(rows[:, 1], prepend=-1) | np.diff(rows[:, 0], prepend=-1))
    drafts = list[_Draft]()
    place = dict[tuple[int, int], int]()
    for part in np.split(rows, starts[1:]):
        depth, cluster, above = part[0, :3].tolist()
        place[depth, cluster] = len(drafts)
        own = place.get((depth - 1, above)) if depth else None
        drafts.append(_Draft(level + depth, own, parent_id if own is None else None, part[:, 3]))
    return drafts


@dataclass(frozen=True, slots=True)
class _Draft:
    """A community that has no id yet: its parent is another draft by place, or one that has an id."""

    level: int
    parent: int | None
    parent_id: UUID | None
    members: Indices


def _or_none(cluster: int | None) -> int:
    return -1 if cluster is None else cluster


def build(network: Network, arrays: GraphArrays, standing: Sequence[Group]) -> list[Group]:
    """A full run. A community that shares half with one that stands (Jaccard index) has its id."""
    drafts = partition(network)
    known = _matches([draft.members for draft in drafts], standing)
    return _named(drafts, arrays, known, {group.id for group in standing})


def join(network: Network, arrays: GraphArrays, standing: Sequence[Group]) -> list[Group]:
    """The standing communities with what is new joined to them, and what has left them gone."""
    leaves = _leaves(standing)
    label = labels([standing[leaf].members for leaf in leaves], network.size)
    label = _settle(network, label, len(leaves))
    held = dict(_by_label(label))
    alive = [(leaf, held[place]) for place, leaf in enumerate(leaves) if _is_group(held.get(place))]
    fresh = [members for place, members in held.items() if place >= len(leaves)]
    kept = _with_members(standing, dict(alive))
    drafts = [_Draft(0, None, None, members) for members in fresh if _is_group(members)]
    taken = {group.id for group in standing}
    grown = [*kept, *_named(drafts, arrays, {}, taken)]
    taken |= {group.id for group in grown}
    return [*grown, *_split(network, arrays, grown, taken)]


def is_outdated(
    network: Network, groups: Sequence[Group], *, edges: int, modularity_then: float
) -> bool:
    """Whether so much has changed since a full run that joining no longer does."""
    grown = abs(len(network.source) - edges) > _GROWN * edges
    return grown or modularity(network, top(groups, network.size)) < modularity_then - _FALLEN


def modularity(network: Network, label: Indices) -> float:
    """Newman's modularity of a partition; entities with label -1 are alone. 0 without edges."""
    total = network.weight.sum()
    if not total:
        return 0.0
    alone = np.flatnonzero(label < 0)
    own = label.copy()
    own[alone] = np.arange(len(alone)) + label.max(initial=-1) + 1
    inside = network.weight[own[network.source] == own[network.target]].sum()
    strength = np.bincount(own, network.strength)
    return float(inside / total - ((strength / (2 * total)) ** 2).sum())


def top(groups: Sequence[Group], size: int) -> Indices:
    """Per entity the place of its coarsest community among those of level 0; -1 for none."""
    return labels([group.members for group in groups if group.level == 0], size)


def pairs(left: Indices, right: Indices) -> tuple[Indices, Indices]:
    """The places (in left, in right) of all pairs of equal keys."""
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    first = np.searchsorted(ranked, left, "left")
    times = np.searchsorted(ranked, left, "right") - first
    own = np.repeat(np.arange(len(left)), times)
    step = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return own, order[np.repeat(first, times) + step]


def runs(label: Indices) -> Iterator[tuple[int, slice]]:
    """The runs of equal labels in a sorted array: each label and where it lies."""
    ends = np.flatnonzero(np.diff(label, append=label[-1:] + 1)) + 1
    start = 0
    for end in ends.tolist():
        yield int(label[start]), slice(start, end)
        start = end


def _is_type(arrays: GraphArrays, relation_type: str) -> npt.NDArray[np.bool_]:
    if relation_type not in arrays.relation_types:
        return np.zeros(len(arrays.relation_type), np.bool_)
    return np.equal(arrays.relation_type, arrays.relation_types.index(relation_type))


def _relations(arrays: GraphArrays, chosen: npt.NDArray[np.bool_]) -> Network:
    return Network.of(
        len(arrays.entities),
        arrays.relation_source[chosen].astype(np.int64),
        arrays.relation_target[chosen].astype(np.int64),
        arrays.relation_weight[chosen],
    )


def _information(network: Network) -> Floats:
    """Per edge its normalised pointwise mutual information, at least 0."""
    if not len(network.weight):
        return network.weight
    both = network.weight / network.weight.sum()
    strength = network.strength / network.weight.sum() / 2
    expected = 2 * strength[network.source] * strength[network.target]
    certain = np.maximum(-np.log2(both), 1e-9)
    return np.asarray(np.clip(np.log2(both / expected) / certain, 0.0, 1.0), np.float64)


def _links(arrays: GraphArrays) -> Network:
    """What titles a passage, joined to what the passage's text names; weight counts passages."""
    entity, chunk = arrays.mention_entity.astype(np.int64), arrays.mention_chunk.astype(np.int64)
    titles = arrays.mention_kind == KINDS.index(MentionKind.TITLE)
    names = arrays.mention_kind == KINDS.index(MentionKind.ALIAS)
    one, other = pairs(chunk[titles], chunk[names])
    source, target = entity[titles][one], entity[names][other]
    return Network.of(len(arrays.entities), source, target, np.ones(len(source)))


def _settle(network: Network, label: Indices, taken: int) -> Indices:
    """Labels after the free entities have moved to where they add most modularity.

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
    """Entities that have an edge, but none into a community of theirs."""
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
        """The neighbours of the entity at this place, and the weights of the edges."""
        part = slice(self._starts[place], self._starts[place + 1])
        return self._other[part], self._weight[part]


def _leaves(groups: Sequence[Group]) -> list[int]:
    parents = {group.parent_id for group in groups}
    return [place for place, group in enumerate(groups) if group.id not in parents]


def labels(members: Sequence[Indices], size: int) -> Indices:
    """Per entity the place of the member list that it is in; -1 for none."""
    label = np.full(size, -1, np.int64)
    for place, part in enumerate(members):
        label[part] = place
    return label


def _by_label(label: Indices) -> Iterator[tuple[int, Indices]]:
    order = np.argsort(label, kind="stable")
    for own, part in runs(label[order]):
        if own >= 0:
            yield own, order[part]


def _is_group(members: Indices | None) -> bool:
    return members is not None and len(members) > 1


def _with_members(groups: Sequence[Group], leaves: Mapping[int, Indices]) -> list[Group]:
    """The groups above and at these leaves, each with the members of its leaves."""
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
    network: Network, arrays: GraphArrays, groups: Sequence[Group], taken: set[UUID]
) -> list[Group]:
    """Communities inside of leaves that have outgrown the cap."""
    inner = list[Group]()
    for leaf in _leaves(groups):
        group = groups[leaf]
        if len(group.members) <= _OUTGROWN * CAP:
            continue
        drafts = partition(network.within(group.members), group.level + 1, group.id)
        if len(drafts) > 1:
            inner += _named(drafts, arrays, {}, taken)
            taken |= {one.id for one in inner}
    return inner


def _matches(members: Sequence[Indices], standing: Sequence[Group]) -> dict[int, UUID]:
    """Which standing community each new one continues, the most alike first."""
    if not members or not standing:
        return {}
    old, new = _rows([group.members for group in standing]), _rows(members)
    left, right = pairs(old[1], new[1])
    codes, shared = np.unique(old[0][left] * len(members) + new[0][right], return_counts=True)
    one, other = codes // len(members), codes % len(members)
    sizes = np.array([len(group.members) for group in standing])[one]
    alike = shared / (sizes + np.array([len(part) for part in members])[other] - shared)
    known = dict[int, UUID]()
    used = set[UUID]()
    for row in np.lexsort((other, one, -alike)).tolist():
        if alike[row] < _SAME:
            break
        same = standing[int(one[row])].id
        if int(other[row]) not in known and same not in used:
            known[int(other[row])] = same
            used.add(same)
    return known


def _rows(members: Sequence[Indices]) -> tuple[Indices, Indices]:
    sizes = [len(part) for part in members]
    return np.repeat(np.arange(len(members)), sizes), np.concatenate(members)


def _named(
    drafts: Sequence[_Draft], arrays: GraphArrays, known: Mapping[int, UUID], taken: set[UUID]
) -> list[Group]:
    """Give communities the ids they had, or new ones that follow from who is in them."""
    used = taken | set(known.values())
    ids = list[UUID]()
    for place, draft in enumerate(drafts):
        own = known.get(place) or _new_id(arrays, draft, used)
        used.add(own)
        ids.append(own)
    return [
        Group(
            ids[place],
            draft.level,
            draft.parent_id if draft.parent is None else ids[draft.parent],
            draft.members,
        )
        for place, draft in enumerate(drafts)
    ]


def _new_id(arrays: GraphArrays, draft: _Draft, used: set[UUID]) -> UUID:
    digest = hashlib.md5(arrays.entities[draft.members].tobytes(), usedforsecurity=False)
    while (own := UUID(bytes=digest.digest())) in used:
        digest.update(b"another")
    return own
