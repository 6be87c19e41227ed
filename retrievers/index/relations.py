"""The relations of a graph in memory: who is related to whom, how strongly, and where it is stated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from domain.graph import HALF_CENTRAL
from retrievers.index.sparse import Floats, Layout, Places, SparseRows, starts_of
from stores.graph.protocol import HUB_DEGREE

Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]

# A relation whose type the question names outweighs the others by this factor.
TYPE_PREFERENCE = 100.0


@dataclass(frozen=True, slots=True)
class Expansion:
    """Relations found around some entities, as parallel arrays.

    `depth` counts from 1; `node` is the entity from which the relation was reached, `neighbour` its
    other end.
    """

    relation: Indices
    node: Places
    neighbour: Places
    depth: Indices


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Relations seen from one end, as parallel arrays; `source` and `target` are entities."""

    source: Places
    target: Places
    weights: Floats
    kinds: Indices


class Relations:
    """Relations from both of their ends, heaviest first.

    Memory is 34 bytes for each end of a relation, and 8 for each statement.

    Args:
        relations: (source, target, type) rows.
        weights: their weights, > 0.
        statements: (relation, passage) rows: where a relation is stated.
        entities, types: how many there are.

    Attributes:
        ends: source and target of every relation, shape (n, 2).
        weights: weight of every relation.
        kinds: type of every relation.
        strength: summed weight of every entity's relations.
        stated_in: the passages that state each relation.
    """

    def __init__(
        self, relations: Ints, weights: Floats, statements: Ints, entities: int, types: int
    ) -> None:
        source, target, kind = relations.T
        self.ends: Indices = relations[:, :2].astype(np.int32)
        self.weights = weights
        node, neighbour = np.concatenate([source, target]), np.concatenate([target, source])
        both = np.tile(weights, 2)
        layout, entry = Layout.of(node, entities, np.lexsort((neighbour, -both, node)))
        self._adjacency = SparseRows(layout, neighbour[entry].astype(np.intp))
        self._weights = both[entry].astype(np.float32)
        self._node = node[entry].astype(np.int32)
        self._relation = (entry % max(len(relations), 1)).astype(np.int32)
        self.kinds: Indices = kind.astype(np.int32)
        kinds = self.kinds[self._relation]
        self._by_kind = np.argsort(kinds, kind="stable").astype(np.int32)
        self._kind_starts = starts_of(kinds, types)
        self.strength: Floats = np.bincount(node, both, entities).astype(np.float32)
        self.stated_in = SparseRows.of(statements[:, 0], statements[:, 1], len(relations))

    def conditioned(self, type_match: Mapping[int, float]) -> tuple[SparseRows, Floats]:
        """The adjacency with matching types preferred, and its summed weight for each entity.

        The matrix is symmetric.

        Args:
            type_match: relation type → how well the question names it, above 0 to 1.
        """
        weights, strength = self._weights, self.strength
        if type_match:
            weights, strength = weights.copy(), strength.copy()
        for kind, match in type_match.items():
            places = self._by_kind[self._kind_starts[kind] : self._kind_starts[kind + 1]]
            extra = weights[places] * np.float32(TYPE_PREFERENCE * match)
            weights[places] += extra
            strength += np.bincount(self._node[places], extra, len(strength)).astype(np.float32)
        return replace(self._adjacency, values=weights), strength

    def centrality(self, entities: Places) -> Floats:
        """Of each, 0..1, by the number of its relations (`domain.graph.Entity`)."""
        degree = self._adjacency.layout.size[entities].astype(np.float32)
        central: Floats = degree / (degree + np.float32(HALF_CENTRAL))
        return central

    def touching(self, named: Mapping[int, float]) -> tuple[Places, Floats]:
        """The relations of some entities, each with the larger value of its two ends."""
        entities = np.fromiter(named, np.intp, len(named))
        values = np.fromiter(named.values(), np.float32, len(named))
        places, owner = self._adjacency.layout.places(entities)
        relations, which = np.unique(self._relation[places], return_inverse=True)
        strongest = np.zeros(len(relations), np.float32)
        np.maximum.at(strongest, which, values[owner])
        return relations.astype(np.intp), strongest

    def heaviest(self, entities: Places, most: int) -> Outgoing:
        """The heaviest relations of some entities, `most` of each, whichever end it is."""
        places, owner = self._adjacency.layout.places(entities, most)
        return Outgoing(
            entities[owner],
            self._adjacency.columns[places],
            self._weights[places],
            self.kinds[self._relation[places]],
        )

    def expand(self, seeds: Places, depth: int = 2, per_node: int = 10) -> Expansion:
        """The heaviest relations around entities, level by level, as `GraphStore.neighbourhood`.

        From every seed its `per_node` heaviest relations, and from every entity reached so for the
        first time the same, unless it has more than `HUB_DEGREE` relations. A relation is listed
        once, where it was met first.
        """
        size = self._adjacency.layout.size
        level, known = np.unique(seeds), np.empty(0, np.int32)
        seen = np.zeros(len(size), np.bool_)
        seen[level] = True
        found: list[tuple[Indices, Places, Places, Indices]] = []
        for step in range(1, depth + 1):
            places, owner = self._adjacency.layout.places(level, per_node)
            relation, first = np.unique(self._relation[places], return_index=True)
            if step > 1:
                first = first[~np.isin(relation, known, assume_unique=True)]
            first.sort()
            place = places[first]
            relation, neighbour = self._relation[place], self._adjacency.columns[place]
            depths = np.full(len(place), step, np.int32)
            found.append((relation, level[owner[first]], neighbour, depths))
            if step < depth:
                known = np.concatenate([known, relation])
                level = np.unique(neighbour[~seen[neighbour] & (size[neighbour] <= HUB_DEGREE)])
                seen[level] = True
        return Expansion(*(np.concatenate(column) for column in zip(*found, strict=True)))
