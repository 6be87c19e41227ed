"""Personalised PageRank over passages and entities: from what the question names to what answers it.

The walk alternates between passages and the entities they mention. It is conditioned on the question
without building a matrix for it: an entity hands its mass to the passages that fit the question, and
a relation whose type the question names draws more than its neighbours.

Sources: Jeh and Widom, "Scaling Personalized Web Search", WWW 2003; the passage–entity graph is that
of HippoRAG 2 (Gutiérrez et al. 2025, arXiv 2502.14802), here without a model at index time. All
constants are one configuration for all evaluation sets; recall@5 is flat around each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrievers.sparse import Floats, SparseRows

Ints = npt.NDArray[np.int64]

# How an entity divides its mass among the passages it titles, those that mention it, and its
# relations; shares of what an entity lacks go to the rest.
_TITLE_SHARE, _MENTION_SHARE, _RELATION_SHARE = 1.0, 0.3, 1.0
# A passage prefers, by this factor, entities that some passage is about over mere terms.
_TITLED_PREFERENCE = 3.0
# Summed weight of a passage's entities at which half of its mass leaves it. Where entities are few
# or vague the walk stays at the passages that fit the question, and does no harm.
_HALF_LEAVES_AT = 5.0
_TYPE_PREFERENCE = 100.0
_RESTART = 0.15
_STEPS = 8
_LEAST_FIT = 0.05
_TINY = np.float32(1e-12)


@dataclass(frozen=True, slots=True)
class GraphArrays:
    """A scope's graph as rows: passages 0..passages-1, entities 0..entities-1, types 0..types-1.

    `mentions` and `titles` hold distinct (passage, entity) pairs: the passage's text names the
    entity; the passage, its section or document bears the entity's name. `relations` holds (source,
    target, type), `relation_weights` their positive weights, `statements` (relation, passage) pairs:
    where a relation is stated.
    """

    passages: int
    entities: int
    types: int
    mentions: Ints
    titles: Ints
    relations: Ints
    relation_weights: Floats
    statements: Ints


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The entities of one passage: rows and the share of the passage's mass that each gets."""

    entities: npt.NDArray[np.int32]
    shares: Floats


class WalkIndex:
    """The transition structure of a graph, built once per version and shared by all questions.

    Memory is about 30 bytes for each mention and 20 for each relation; float32 throughout.

    Attributes:
        information: how telling each entity is, 0..1: 1 when a single passage mentions it.
        title_count: passages that each entity titles.
        leaving: probability of leaving each passage.
    """

    def __init__(self, graph: GraphArrays) -> None:
        self.graph = graph
        passage, entity = graph.mentions.T
        mention_count = np.bincount(entity, minlength=graph.entities)
        self.title_count = np.bincount(graph.titles[:, 1], minlength=graph.entities)
        self.information = _information(mention_count, graph.passages)
        weight = self._mention_weights(entity)
        total = np.bincount(passage, weight, minlength=graph.passages)
        self.leaving = self._leaving(passage, entity, weight)
        share = weight / total[passage]
        self._to_entity = SparseRows.of(entity, passage, share, graph.entities)
        self._of_passage = SparseRows.of(passage, entity, share, graph.passages)
        self._mentioned, self._mentioned_in = _both_ways(graph.mentions, graph)
        self._titled, self._titles_of = _both_ways(graph.titles, graph)
        self._relations = _Relations(graph)
        self._title_share, self._mention_share, self._relation_share = _shares(
            self.title_count > 0, mention_count > 0, self._relations.strength > 0
        )

    def entities_of(self, passage: int) -> Neighbours:
        """The entities that a passage mentions."""
        return Neighbours(*self._of_passage.row(passage))

    def titled_by(self, entity: int) -> npt.NDArray[np.int32]:
        """The passages that bear an entity's name."""
        return self._titles_of.row(entity)[0]

    def passages_about(self, entities: npt.NDArray[np.int32], weights: Floats) -> Floats:
        """Spread a weight for each entity over the passages that mention or are titled with it.

        A mention counts `weight × information`; titles share one `weight` among them.
        """
        reached = np.zeros(self.graph.passages, np.float32)
        per_title = (weights / np.maximum(self.title_count[entities], 1)).astype(np.float32)
        self._mentioned_in.spread(entities, weights * self.information[entities], reached)
        self._titles_of.spread(entities, per_title, reached)
        return reached

    def walk(
        self,
        passage_seeds: Floats,
        entity_seeds: Floats,
        fit: Floats,
        type_match: Mapping[int, float],
    ) -> tuple[Floats, Floats]:
        """Personalised PageRank from the seeds.

        Args:
            passage_seeds: where the walk restarts, over passages; with `entity_seeds` it sums to 1.
            entity_seeds: the same over entities.
            fit: relevance of every passage to the question, 0..1.
            type_match: relation type → how well the question names it, above 0 to 1.

        Returns:
            Mass of passages and of entities; together at most 1, and exactly 1 when every node that
            is reached has somewhere to go.
        """
        preference = np.square(_LEAST_FIT + fit).astype(np.float32)
        by_mention = self._mention_share / np.maximum(self._mentioned_in.times(preference), _TINY)
        by_title = self._title_share / np.maximum(self._titles_of.times(preference), _TINY)
        relations, strength = self._relations.conditioned(type_match)
        by_relation = self._relation_share / np.maximum(strength, _TINY)
        stay, restart = 1 - self.leaving, np.float32(_RESTART)
        at_passage, at_entity = passage_seeds, entity_seeds
        for _ in range(_STEPS):
            arriving = self._mentioned.times(at_entity * by_mention)
            arriving += self._titled.times(at_entity * by_title)
            onward = self._to_entity.times(at_passage * self.leaving)
            onward += relations.times(at_entity * by_relation)
            moved = preference * arriving + stay * at_passage
            at_passage = restart * passage_seeds + (1 - restart) * moved
            at_entity = restart * entity_seeds + (1 - restart) * onward
        return at_passage, at_entity

    def _mention_weights(self, entity: Ints) -> Floats:
        titles = self.title_count[entity]
        preference = np.where(titles > 0, _TITLED_PREFERENCE / np.maximum(titles, 1), 1.0)
        weights: Floats = (self.information[entity] * preference).astype(np.float32)
        return weights

    def _leaving(self, passage: Ints, entity: Ints, weight: Floats) -> Floats:
        """S / (s + constant), s the weight of a passage's entities other than its own title."""
        own = np.isin(
            passage * self.graph.entities + entity,
            self.graph.titles[:, 0] * self.graph.entities + self.graph.titles[:, 1],
        )
        others = np.bincount(passage, np.where(own, 0, weight), minlength=self.graph.passages)
        leaving: Floats = (others / (others + _HALF_LEAVES_AT)).astype(np.float32)
        return leaving


class _Relations:
    """Relations in both directions, sorted by where they lead, with an index by type."""

    def __init__(self, graph: GraphArrays) -> None:
        source, target, kind = graph.relations.T
        origin, goal = np.concatenate([source, target]), np.concatenate([target, source])
        order = np.lexsort((origin, goal))
        self._origin = origin[order].astype(np.int32)
        self._weights = np.tile(graph.relation_weights, 2)[order].astype(np.float32)
        self._starts = _starts(goal, graph.entities)
        self._entities = graph.entities
        kinds = np.tile(kind, 2)[order]
        self._by_type, self._type_starts = (
            np.argsort(kinds, kind="stable"),
            _starts(kinds, graph.types),
        )
        self.strength: Floats = self._out_strength(self._weights, slice(None))

    def conditioned(self, type_match: Mapping[int, float]) -> tuple[SparseRows, Floats]:
        """The adjacency with matching types preferred, and its summed weight for each entity."""
        weights, strength = self._weights, self.strength
        if type_match:
            weights, strength = weights.copy(), strength.copy()
        for kind, match in type_match.items():
            rows = self._by_type[self._type_starts[kind] : self._type_starts[kind + 1]]
            extra = weights[rows] * np.float32(_TYPE_PREFERENCE * match)
            weights[rows] += extra
            strength += self._out_strength(extra, rows)
        return SparseRows.sorted(self._starts, self._origin, weights), strength

    def _out_strength(self, weights: Floats, rows: npt.NDArray[np.intp] | slice) -> Floats:
        summed = np.bincount(self._origin[rows], weights, minlength=self._entities)
        strength: Floats = summed.astype(np.float32)
        return strength


def _information(mention_count: npt.NDArray[np.intp], passages: int) -> Floats:
    """log(N / df) / log N: 1 for an entity of one passage, near 0 for one of all passages."""
    whole = np.log(passages + 1)
    told = np.log((passages + 1) / np.maximum(mention_count, 1)) / whole
    information: Floats = np.maximum(told, 0.02).astype(np.float32)
    return information


def _shares(
    titled: npt.NDArray[np.bool_],
    mentioned: npt.NDArray[np.bool_],
    related: npt.NDArray[np.bool_],
) -> tuple[Floats, Floats, Floats]:
    parts = (titled * _TITLE_SHARE, mentioned * _MENTION_SHARE, related * _RELATION_SHARE)
    whole = np.maximum(sum(parts), _TINY)
    title, mention, relation = ((part / whole).astype(np.float32) for part in parts)
    return title, mention, relation


def _both_ways(pairs: Ints, graph: GraphArrays) -> tuple[SparseRows, SparseRows]:
    """(Passage, entity) pairs by passage, and by entity."""
    passage, entity = pairs.T
    ones = np.ones(len(pairs), np.float32)
    by_passage = SparseRows.of(passage, entity, ones, graph.passages)
    return by_passage, SparseRows.of(entity, passage, ones, graph.entities)


def _starts(sorted_by: Ints, count: int) -> Ints:
    """Where each of `count` values begins once an array is sorted by them."""
    sizes = np.bincount(sorted_by, minlength=count)
    starts: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return starts
