"""The graph lane: from the best entities along their heaviest relations, level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sextant.domain.scope import Scope
from sextant.domain.versioned_cache import VersionedCache
from sextant.stores.graph.protocol import GraphStore, Hop

# Relations read of an entity at first; enough for ten new neighbours but for entities that share
# many relations with those already seen, of which more are read then.
_READ = 24
_MOST_READ = 24 * 4**4

_Order = tuple[float, UUID]


@dataclass(frozen=True, slots=True)
class Reached:
    """An entity that a walk came to: over which relation, from where, and at which depth (from 1)."""

    id: UUID
    via: UUID
    relation_type: str
    weight: float
    depth: int

    def score(self, decay: float) -> float:
        """Return `weight · decay^depth`."""
        return float(self.weight * decay**self.depth)


class Neighbourhoods:
    """The heaviest relations of entities; those of high-degree entities are kept in memory.

    What is kept belongs to one version of a graph, so a change of the graph is never missed.

    Args:
        graph: asked for what is not kept.
        entries: entities kept at most, over all graphs; about 8 KB each.
    """

    def __init__(self, graph: GraphStore, entries: int) -> None:
        self._graph = graph
        self._cache: VersionedCache[tuple[Scope, UUID, int], str, tuple[Hop, ...]] = VersionedCache(
            entries
        )

    async def of(
        self, scope: Scope, version: str, ids: Sequence[UUID], read: int = _READ
    ) -> dict[UUID, tuple[Hop, ...]]:
        """Return the `read` heaviest relations of each entity, heaviest first, then by id."""
        kept = ((one, self._cache.at((scope, one, read), version)) for one in ids)
        known = {one: there for one, there in kept if there is not None}
        missing = [one for one in dict.fromkeys(ids) if one not in known]
        if missing:
            hops = await self._graph.neighbourhood(scope, missing, depth=1, per_node=read)
            fresh = _by_end(hops, missing, read)
            for one, its_hops in fresh.items():
                if len(its_hops) == read:
                    self._cache.put((scope, one, read), version, its_hops)
            known |= fresh
        return known


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk over one version of a graph; each level keeps its `per_level` heaviest new neighbours.

    Relations are walked both ways, since which end a co-occurrence calls its source means nothing.
    An entity counts where it is met first; the seeds themselves are not results. Exact: of an entity
    with many relations more are read until what is unread cannot be among the heaviest.

    A level has at most ten entities, however many neighbours were seen.
    """

    around: Neighbourhoods
    scope: Scope
    version: str
    per_level: int

    async def levels(self, seeds: Sequence[UUID], depth: int) -> list[Reached]:
        """Return what is reached from `seeds` in `depth` levels, level by level, heaviest first."""
        visited, frontier = set(seeds), list(dict.fromkeys(seeds))
        found: list[Reached] = []
        for level in range(1, depth + 1):
            if not frontier:
                break
            reached = await self._level(frontier, visited, level)
            found += reached
            frontier = [one.id for one in reached]
            visited.update(frontier)
        return found

    async def _level(
        self, frontier: Sequence[UUID], visited: set[UUID], level: int
    ) -> list[Reached]:
        read = _READ
        while True:
            hops = await self.around.of(self.scope, self.version, frontier, read)
            best = _new_neighbours(hops, visited, level)[: self.per_level]
            # Nothing that was not read comes before the last that was, of its entity.
            unread = [_order(path[-1]) for path in hops.values() if len(path) == read]
            full = len(best) == self.per_level
            decided = not unread or (full and best[-1][0] <= min(unread))
            if decided or read >= _MOST_READ:
                return [reached for _, reached in best]
            read *= 4


def _new_neighbours(
    hops: Mapping[UUID, Sequence[Hop]], visited: set[UUID], level: int
) -> list[tuple[_Order, Reached]]:
    """Return every neighbour not seen yet, by its heaviest relation; heaviest first, then by relation."""
    best: dict[UUID, tuple[_Order, Reached]] = {}
    for start, path in hops.items():
        for hop in path:
            other = hop.other_end(start)
            order = _order(hop)
            if other not in visited and (other not in best or order < best[other][0]):
                reached = Reached(other, start, hop.relation_type, hop.weight, level)
                best[other] = (order, reached)
    return sorted(best.values(), key=lambda entry: (entry[0], entry[1].id))


def _by_end(hops: Sequence[Hop], ids: Sequence[UUID], read: int) -> dict[UUID, tuple[Hop, ...]]:
    by_end: dict[UUID, list[Hop]] = {one: [] for one in ids}
    for hop in hops:
        for end in (hop.source_id, hop.target_id):
            if end in by_end:
                by_end[end].append(hop)
    return {one: tuple(sorted(some, key=_order)[:read]) for one, some in by_end.items()}


def _order(hop: Hop) -> _Order:
    return -hop.weight, hop.relation_id
