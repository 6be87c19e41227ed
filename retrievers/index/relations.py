"""The relations of a graph in memory, their types, and the passages that state what a question asks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import CO_OCCURS, HALF_CENTRAL
from sextant.retrievers.arrays import Floats, Rows, SparseRows, SparseScores, starts_of
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.stores.graph.protocol import HUB_DEGREE
from sextant.text.analysis import question_terms, terms

Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]

# A relation whose type the question names outweighs the others by this factor.
TYPE_PREFERENCE = 100.0


@dataclass(frozen=True, slots=True)
class Expansion:
    """Relations around some entities, as parallel arrays; a relation that was met twice is there twice.

    `depth` counts from 1; the relation was reached from the entity `node`, and leads to `neighbour`.
    """

    relation: Indices
    node: Rows
    neighbour: Rows
    depth: Indices


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Relations of some entities, as parallel arrays; `size` is the number of each entity.

    `positions` identify the relations for `Relations.kinds_at`.
    """

    size: Rows
    target: Rows
    weights: Floats
    positions: Rows


class Relations:
    """Relations of every entity, heaviest first.

    Memory is 24 bytes for each end of a relation, and 8 for each statement.

    Args:
        relations: (source, target, type) rows.
        weights: their weights, > 0.
        statements: (relation, passage) rows: where a relation is stated.
        entities: their number.

    Attributes:
        ends: source and target of every relation, shape (n, 2).
        weights: weight of every relation.
        kinds: type of every relation.
        strength: summed weight of every entity's relations.
        stated_in: the passages that state each relation.
    """

    def __init__(self, relations: Ints, weights: Floats, statements: Ints, entities: int) -> None:
        source, target, kind = relations.T
        self.ends: Indices = relations[:, :2].astype(np.int32)
        self.weights = weights
        node, neighbour = np.concatenate([source, target]), np.concatenate([target, source])
        both = np.tile(weights, 2)
        order, starts = np.lexsort((neighbour, -both, node)), starts_of(node, entities)
        self._adjacency = SparseRows(starts, neighbour[order].astype(np.intp))
        self._weights = both[order].astype(np.float32)
        self._relation = (order % max(len(relations), 1)).astype(np.int32)
        self.kinds: Indices = kind.astype(np.int32)
        self.strength: Floats = np.bincount(node, both, entities).astype(np.float32)
        self.stated_in = SparseRows.of(statements[:, 0], statements[:, 1], len(relations))

    def centrality(self, entities: Rows) -> Floats:
        """Return the centrality of each entity, 0..1, from the number of its relations (`sextant.domain.graph.Entity`)."""
        starts = self._adjacency.starts
        degree = (starts[entities + 1] - starts[entities]).astype(np.float32)
        central: Floats = degree / (degree + np.float32(HALF_CENTRAL))
        return central

    def touching(self, named: Mapping[int, float]) -> tuple[Indices, Floats]:
        """Return the relations of entities, and for each the value of its entity."""
        entities = np.fromiter(named, np.intp, len(named))
        values = np.fromiter(named.values(), np.float32, len(named))
        positions, size = self._adjacency.positions(entities)
        return self._relation[positions], values.repeat(size)

    def heaviest(self, entities: Rows, limit: int) -> Outgoing:
        """Return the heaviest relations of some entities, `limit` of each at most."""
        positions, size = self._adjacency.positions(entities, limit)
        target = self._adjacency.columns.take(positions, mode="clip")
        return Outgoing(size, target, self._weights.take(positions, mode="clip"), positions)

    def kinds_at(self, positions: Rows) -> Indices:
        """Return the types of relations that `heaviest` returned."""
        return self.kinds[self._relation[positions]]

    def expand(self, seeds: Rows, depth: int = 2, per_node: int = 10) -> Expansion:
        """Return the heaviest relations around entities, level by level, as `GraphStore.neighbourhood` does.

        Each level has the `per_node` heaviest relations of every new entity, except of hubs with more than
        `HUB_DEGREE` relations.
        """
        starts = self._adjacency.starts
        level, seen = seeds, np.zeros(len(starts) - 1, np.bool_)
        seen[level] = True
        found: list[tuple[Indices, Rows, Rows, Indices]] = []
        for step in range(1, depth + 1):
            positions, size = self._adjacency.positions(level, per_node)
            neighbour = self._adjacency.columns[positions]
            depths = np.full(len(positions), step, np.int32)
            found.append((self._relation[positions], level.repeat(size), neighbour, depths))
            if step == depth:
                break
            met = np.zeros(len(seen), np.bool_)
            met[neighbour[~seen[neighbour]]] = True
            level = np.flatnonzero(met)
            level = level[starts[1:].take(level) - starts.take(level) <= HUB_DEGREE]
            seen[level] = True
        return Expansion(*(np.concatenate(column) for column in zip(*found, strict=True)))


_MAX_COMPARED = 512  # relation types whose meaning is compared with a question


class RelationTypes:
    """The relation types of a graph, searchable by the words of a question.

    Args:
        names: the types; `_` separates words.
        lexical: has the idf of the words.
        uses: number of relations of each type; None: the same for all.

    Attributes:
        names: all types.
        co_occurs: the type of mere co-occurrence; -1: none.
        common: the types that are compared by meaning, the 512 most used ones; a model may have made up thousands.
    """

    def __init__(
        self, names: Sequence[str], lexical: LexicalIndex, uses: Rows | None = None
    ) -> None:
        self.names = tuple(names)
        self.co_occurs = self.names.index(CO_OCCURS) if CO_OCCURS in self.names else -1
        rank = np.zeros(len(names)) if uses is None else -uses
        self._common = np.array(
            [kind for kind in np.argsort(rank, kind="stable") if names[kind] != CO_OCCURS], np.intp
        )[:_MAX_COMPARED]
        self.common = tuple(names[kind] for kind in self._common)
        self._types_with: defaultdict[str, list[int]] = defaultdict(list)
        self._information: dict[str, float] = {}
        self._whole = np.zeros(len(names))
        for kind, name in enumerate(names):
            for term in set(terms(name.replace("_", " "))):
                information = lexical.information_of_term(term)
                self._information[term] = information
                self._types_with[term].append(kind)
                self._whole[kind] += information

    def named_by(self, question: str) -> dict[int, float]:
        """Return the types that share words with the question → share of the type's idf in it."""
        named: defaultdict[int, float] = defaultdict(float)
        for term in set(question_terms(question)):
            for kind in self._types_with.get(term, ()):
                named[kind] += self._information[term] / self._whole[kind]
        return dict(named)

    def similarity(self, of_common: Floats) -> Floats:
        """Return the similarity of every type to a question, from that of the `common` types; NaN for the others."""
        similarity = np.full(len(self._whole), np.nan, np.float32)
        similarity[self._common] = of_common
        return similarity


def score_statements(
    relations: Relations,
    passages: int,
    named: Mapping[int, float],
    type_match: Mapping[int, float],
    type_similarity: Floats | None = None,
) -> SparseScores | None:
    """Return how far passages state what the question asks about a named entity, 0..1.

    The best statement of a passage counts: strength of the entity's link × match of the relation's type. A type
    matches by its words (`type_match`) or by its meaning: the square of its similarity to the question, mapped to
    0..1 between the median type and the best type of a named entity. Meaning serves types in another language.

    Args:
        relations: relations and the passages that state them.
        passages: number of passages.
        named: entity → strength of its link, above 0 to 1.
        type_match: see `RelationTypes.named_by`.
        type_similarity: see `RelationTypes.similarity`; None without vectors.

    Returns:
        The passages that state a relation of a named entity; None if there are none.
    """
    touching, strength = relations.touching(named)
    owner, passage = relations.stated_in.rows(touching)
    if not len(passage):
        return None
    kind = relations.kinds[touching]
    fit = _fit_by_words(type_match, kind)
    if type_similarity is not None:
        fit = np.maximum(fit, _fit_by_meaning(type_similarity, kind)[: len(fit)])
    found = np.zeros(passages, np.float32)
    np.maximum.at(found, passage, (strength * fit[kind])[owner])
    rows = np.unique(passage)
    return SparseScores(rows, found[rows])


def _fit_by_words(type_match: Mapping[int, float], present: Indices) -> Floats:
    fit = np.zeros(int(present.max(initial=0)) + 1, np.float32)
    for one, share in type_match.items():
        if one < len(fit):
            fit[one] = share
    return fit


def _fit_by_meaning(similarity: Floats, present: Indices) -> Floats:
    if np.isnan(similarity).all():
        return np.zeros_like(similarity)
    floor = float(np.nanmedian(similarity))
    known = np.nan_to_num(similarity, nan=floor)
    best = float(known[present].max(initial=floor))
    if best <= floor:
        return np.zeros_like(similarity)
    fit: Floats = np.square(np.clip((known - floor) / (best - floor), 0, 1))
    return fit.astype(np.float32)
