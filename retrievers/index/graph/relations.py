"""The relations of a graph in memory: who is related to whom, how strongly, and where it is stated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import HALF_CENTRAL
from sextant.retrievers.numeric.sparse import Floats, Places, SparseRows, starts_of, true_at
from sextant.stores.graph.protocol import HUB_DEGREE

Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]

# A relation whose type the question names outweighs the others by this factor.
TYPE_PREFERENCE = 100.0
# Of an entity's relations that say no more than that two terms share sentences so many are walked. The next of a hub
# has a tenth of the first one's weight, and no question names their type. Against all of them recall@5 over seven sets
# is within a question or two, and mostly better (hotpotqa `local`, rgb).
_CO_OCCURRENCES = 16


@dataclass(frozen=True, slots=True)
class Expansion:
    """Relations met around some entities, as parallel arrays; one that is met twice is there twice.

    `depth` counts from 1; `node` is the entity from which the relation was reached, `neighbour` its
    other end.
    """

    relation: Indices
    node: Places
    neighbour: Places
    depth: Indices


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Relations seen from one end, as parallel arrays: `size` of each entity that was asked for.

    `target` is an entity, `places` tell `Relations.kinds_at` which relations these are.
    """

    size: Places
    target: Places
    weights: Floats
    places: Places


class Relations:
    """Relations from both of their ends, heaviest first; mere co-occurrences beyond `_CO_OCCURRENCES` come last.

    Memory is 24 bytes for each end of a relation, and 8 for each statement.

    Args:
        relations: (source, target, type) rows.
        weights: their weights, > 0.
        statements: (relation, passage) rows: where a relation is stated.
        entities: how many there are.
        co_occurs: the type of mere co-occurrence; -1: none.

    Attributes:
        ends: source and target of every relation, shape (n, 2).
        weights: weight of every relation.
        kinds: type of every relation.
        strength: summed weight of every entity's relations.
        stated_in: the passages that state each relation.
    """

    def __init__(
        self,
        relations: Ints,
        weights: Floats,
        statements: Ints,
        entities: int,
        co_occurs: int = -1,
    ) -> None:
        source, target, kind = relations.T
        self.ends: Indices = relations[:, :2].astype(np.int32)
        self.weights = weights
        node, neighbour = np.concatenate([source, target]), np.concatenate([target, source])
        both = np.tile(weights, 2)
        order, starts = np.lexsort((neighbour, -both, node)), starts_of(node, entities)
        beyond = _beyond(np.tile(kind == co_occurs, 2)[order], starts)
        self._walked = np.diff(starts) - np.bincount(node[order[beyond]], minlength=entities)
        order = order[np.lexsort((beyond, node[order]))]
        self._adjacency = SparseRows(starts, neighbour[order].astype(np.intp))
        self._weights = both[order].astype(np.float32)
        self._relation = (order % max(len(relations), 1)).astype(np.int32)
        self.kinds: Indices = kind.astype(np.int32)
        self.strength: Floats = np.bincount(node, both, entities).astype(np.float32)
        self.stated_in = SparseRows.of(statements[:, 0], statements[:, 1], len(relations))

    def centrality(self, entities: Places) -> Floats:
        """Return the centrality of each entity, 0..1, from the number of its relations (`sextant.domain.graph.Entity`)."""
        starts = self._adjacency.starts
        degree = (starts[entities + 1] - starts[entities]).astype(np.float32)
        central: Floats = degree / (degree + np.float32(HALF_CENTRAL))
        return central

    def touching(self, named: Mapping[int, float]) -> tuple[Indices, Floats]:
        """Return the relations of entities, and in parallel the value of the entity; one between two of them comes twice."""
        entities = np.fromiter(named, np.intp, len(named))
        values = np.fromiter(named.values(), np.float32, len(named))
        places, size = self._adjacency.places(entities)
        return self._relation[places], values.repeat(size)

    def heaviest(self, entities: Places, most: int) -> Outgoing:
        """Return the heaviest relations of some entities, `most` of each, whichever end it is; of mere co-occurrences few."""
        places, size = self._adjacency.places(
            entities, np.minimum(self._walked.take(entities), most)
        )
        # All places are there: `take` need not check.
        target = self._adjacency.columns.take(places, mode="clip")
        return Outgoing(size, target, self._weights.take(places, mode="clip"), places)

    def kinds_at(self, places: Places) -> Indices:
        """Return the types of what `heaviest` returned."""
        return self.kinds[self._relation[places]]

    def around(self, entities: Places, most: int) -> Places:
        """Return the other ends of the `most` heaviest relations of each entity, again and again."""
        return self._adjacency.columns.take(self._adjacency.places(entities, most)[0], mode="clip")

    def expand(self, seeds: Places, depth: int = 2, per_node: int = 10) -> Expansion:
        """Return the heaviest relations around entities, level by level, as `GraphStore.neighbourhood`.

        From every seed its `per_node` heaviest relations, and from every entity reached so for the
        first time the same, unless it has more than `HUB_DEGREE` relations.
        """
        starts = self._adjacency.starts
        level, seen = seeds, np.zeros(len(starts) - 1, np.bool_)
        seen[level] = True
        found: list[tuple[Indices, Places, Places, Indices]] = []
        for step in range(1, depth + 1):
            place, size = self._adjacency.places(level, per_node)
            neighbour = self._adjacency.columns[place]
            depths = np.full(len(place), step, np.int32)
            found.append((self._relation[place], level.repeat(size), neighbour, depths))
            if step == depth:
                break
            met = np.zeros(len(seen), np.bool_)
            met[neighbour[~seen[neighbour]]] = True
            level = true_at(met)
            level = level[starts[1:].take(level) - starts.take(level) <= HUB_DEGREE]
            seen[level] = True
        return Expansion(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _beyond(co_occurring: npt.NDArray[np.bool_], starts: Places) -> npt.NDArray[np.bool_]:
    """Return which of each entity's co-occurrences come after its first `_CO_OCCURRENCES`."""
    so_far = np.cumsum(co_occurring)
    before = np.concatenate([[0], so_far])[starts[:-1]]
    beyond: npt.NDArray[np.bool_] = so_far - np.repeat(before, np.diff(starts)) > _CO_OCCURRENCES
    return beyond & co_occurring
