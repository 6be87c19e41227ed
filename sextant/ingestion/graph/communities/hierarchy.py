"""Communities of entities by hierarchical Leiden, with ids that stay.

A full run partitions the whole graph (Traag, Waltman, van Eck 2019, as graspologic-native has it) and
splits what has more than `CAP` members again. Edges are sorted and duplicates summed first, because
the same seed on shuffled edges gives another partition. Between two full runs, `joining` is enough.

An entity without relations is in no community: a report of one name would say what the entity does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import graspologic_native as leiden
import numpy as np
import numpy.typing as npt

from sextant.ingestion.graph.communities.network import Indices, Network, labels, modularity, pairs
from sextant.stores.graph.arrays import GraphArrays

# Members of a community that is not split further; 10 would cost six times the reports for leaves of
# little quality (100,000 entities: 27,778 reports against 4,372).
CAP = 100
_SEED = 20_190_326  # any number; the day Leiden was published
# When a full run is due: edges by this share more or fewer, modularity by this much less.
_GROWN, _FALLEN = 0.2, 0.01
_SAME = 0.5  # Jaccard index from which on a community is still the one it was


@dataclass(frozen=True, slots=True)
class CommunityGroup:
    """A community by the numbers of its members, sorted; level 0 is the coarsest."""

    id: UUID
    level: int
    parent_id: UUID | None
    members: Indices


@dataclass(frozen=True, slots=True)
class CommunityDraft:
    """A community that has no id yet: its parent is another draft by place, or one that has an id."""

    level: int
    parent: int | None
    parent_id: UUID | None
    members: Indices


def build(
    network: Network, arrays: GraphArrays, standing: Sequence[CommunityGroup]
) -> list[CommunityGroup]:
    """Return a full run. A community that shares half with one that stands (Jaccard index) has its id."""
    drafts = partition(network)
    known = _matches([draft.members for draft in drafts], standing)
    return assign_ids(drafts, arrays, known, {group.id for group in standing})


def partition(
    network: Network, level: int = 0, parent_id: UUID | None = None
) -> list[CommunityDraft]:
    """Return every component's communities, from the coarsest down to at most `CAP` members.

    Deterministic; the extension runs without the interpreter's lock.
    """
    rows = _leiden(network)
    if not len(rows):
        return []
    starts = np.flatnonzero(np.diff(rows[:, 1], prepend=-1) | np.diff(rows[:, 0], prepend=-1))
    drafts = list[CommunityDraft]()
    place = dict[tuple[int, int], int]()
    for part in np.split(rows, starts[1:]):
        depth, cluster, above = part[0, :3].tolist()
        place[depth, cluster] = len(drafts)
        own = place.get((depth - 1, above)) if depth else None
        drafts.append(
            CommunityDraft(level + depth, own, parent_id if own is None else None, part[:, 3])
        )
    return drafts


def _leiden(network: Network) -> npt.NDArray[np.int64]:
    """Return a row for each entity in each community: level, community, the one above (or -1), entity; in order."""
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
        seed=_SEED,
    )
    rows = np.array(
        [(one.level, one.cluster, _or_none(one.parent_cluster), int(one.node)) for one in found],
        np.int64,
    )
    return rows[np.lexsort((rows[:, 3], rows[:, 1], rows[:, 0]))]


def is_outdated(
    network: Network, groups: Sequence[CommunityGroup], *, edges: int, modularity_then: float
) -> bool:
    """Return whether so much has changed since a full run that joining no longer does."""
    grown = abs(len(network.source) - edges) > _GROWN * edges
    return grown or modularity(network, top(groups, network.size)) < modularity_then - _FALLEN


def top(groups: Sequence[CommunityGroup], size: int) -> Indices:
    """Return per entity the place of its coarsest community among those of level 0; -1 for none."""
    return labels([group.members for group in groups if group.level == 0], size)


def _or_none(cluster: int | None) -> int:
    return -1 if cluster is None else cluster


def leaves_of(groups: Sequence[CommunityGroup]) -> list[int]:
    """Return the places of those communities that have none inside of them."""
    parents = {group.parent_id for group in groups}
    return [place for place, group in enumerate(groups) if group.id not in parents]


def _matches(members: Sequence[Indices], standing: Sequence[CommunityGroup]) -> dict[int, UUID]:
    """Return which standing community each new one continues, the most alike first."""
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


def assign_ids(
    drafts: Sequence[CommunityDraft],
    arrays: GraphArrays,
    known: Mapping[int, UUID],
    taken: set[UUID],
) -> list[CommunityGroup]:
    """Give communities the ids they had, or new ones that follow from who is in them."""
    used = taken | set(known.values())
    ids = list[UUID]()
    for place, draft in enumerate(drafts):
        own = known.get(place) or _new_id(arrays, draft, used)
        used.add(own)
        ids.append(own)
    return [
        CommunityGroup(
            ids[place],
            draft.level,
            draft.parent_id if draft.parent is None else ids[draft.parent],
            draft.members,
        )
        for place, draft in enumerate(drafts)
    ]


def _new_id(arrays: GraphArrays, draft: CommunityDraft, used: set[UUID]) -> UUID:
    digest = hashlib.md5(arrays.entities[draft.members].tobytes(), usedforsecurity=False)
    while (own := UUID(bytes=digest.digest())) in used:
        digest.update(b"another")
    return own
