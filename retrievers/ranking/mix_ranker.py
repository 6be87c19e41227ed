"""The ranking of `mix`: personalised PageRank from the words, the meaning and the names of a question.

A question of several hops ("When did the state where Pocahontas Mounds is located become part of the
United States?") names its first passage and describes its last. A passage's score is its mass of personalised
PageRank, relative to the best passage's. The walk starts from r^sharpness of the passages that fit best, where r
is their relevance (words, meaning, statements; 0..1), from the named entities, and from a bridge: one step from
either towards what the question still asks for. docs/experiments/mix.md tells how the parameters were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sextant.retrievers.arrays import (
    Floats,
    Rows,
    SparseScores,
    among_highest,
    highest,
    scale_scores,
)
from sextant.retrievers.index.lexical import LexicalMatch
from sextant.retrievers.index.relations import score_statements
from sextant.retrievers.index.walk import RESTART, TINY, Shares, Subgraph, WalkIndex


@dataclass(frozen=True, slots=True)
class MixParameters:
    """Parameters of the ranking of `mix`; docs/experiments/mix.md has their ablation.

    Attributes:
        lexical_coverage: share of the question's information at which words weigh as much as meaning.
        contention: share of the question's information from which one of the nearest passages is a contender;
            with more than two contenders words weigh less, since they do not decide between them.
        min_lexical_weight: lowest weight of words, however many contenders there are.
        statement_weight: what a stated relation that the question asks for adds to a relevance of 1.
        seed_passages: number of passages that the walk starts from, the most relevant ones.
        sharpness: power of relevance in the seeds and in the bridge; higher favours the best passages.
        entity_seed: seed of an entity that is a title; the most relevant passage has 1.
        untitled_seed: share of it for an entity that is no title.
        bridge: seed of the bridge, as a share of all other seeds.
        subgraph_size: number of passages that the walk is restricted to, which bounds its cost.
        inflow_power: power of the share of inflow in a passage's mass, where the question names nothing.
    """

    lexical_coverage: float = 0.13
    contention: float = 0.3
    min_lexical_weight: float = 0.4
    statement_weight: float = 0.2
    seed_passages: int = 20
    sharpness: int = 3
    entity_seed: float = 20.0
    untitled_seed: float = 0.1
    bridge: float = 0.5
    subgraph_size: int = 800
    inflow_power: float = 0.4


# Words decide between so many contenders.
_FEW_CONTENDERS = 2
_MIN_NEAREST, _MAX_NEAREST = 10, 300


def lexical_weight(match: LexicalMatch, semantic: SparseScores, parameters: MixParameters) -> float:
    """Return the weight of words, relative to a weight of 1 for meaning.

    It grows with the share of the question's information that the best passage holds. A question in another
    language shares few words with the passages, and is left to the vectors. It falls with the square of the
    number of contenders (`MixParameters.contention`).
    """
    weight = match.coverage / parameters.lexical_coverage
    is_contending = match.scores[semantic.rows] >= np.float32(parameters.contention * match.whole)
    contenders = max(int(np.count_nonzero(is_contending)), _FEW_CONTENDERS)
    return max(
        weight * (_FEW_CONTENDERS / contenders) ** 2, min(weight, parameters.min_lexical_weight)
    )


def count_nearest(passages: int) -> int:
    """Return the number of nearest passages that `semantic_scores` needs: a tenth of all, 10 to 300."""
    return min(passages, max(_MIN_NEAREST, min(passages // 10, _MAX_NEAREST)))


def semantic_scores(nearest: SparseScores) -> SparseScores:
    """Return relevance by meaning, 0..1, from the cosines of the nearest passages; the farthest gets 0."""
    floor = float(nearest.values.min(initial=np.inf))
    return SparseScores(nearest.rows, scale_scores(nearest.values, floor))


def blend(match: LexicalMatch, semantic: SparseScores | None, parameters: MixParameters) -> Floats:
    """Return the relevance of every passage, 0..1, by words and, if there are vectors, meaning.

    Passages with a code that the question has (E47, BM-40) gain as much as the nearest one in meaning.
    """
    if semantic is None:
        return scale_scores(match.scores)
    weight = lexical_weight(match, semantic, parameters) / match.best if match.best else 0.0
    # The best by both is one of the nearest, or the best by words.
    by_both = match.scores[semantic.rows] * np.float32(weight) + semantic.values
    best = max(match.best * weight, float(by_both.max(initial=0.0))) or 1.0
    relevance: Floats = match.scores * np.float32(weight / best)
    relevance[semantic.rows] += semantic.values / np.float32(best)
    for rows in match.coded:
        relevance[rows] += np.float32(1 / len(match.coded) / best)
    return scale_scores(relevance) if match.coded else relevance


# Passages that the bridge starts from, and the least relevance of a passage to the rest of the question.
_ANCHORS, _MIN_WANTED = 5, 0.05


@dataclass(frozen=True, slots=True)
class QuerySignals:
    """A question matched with the passages and entities of a graph.

    Attributes:
        match: BM25 of its words.
        semantic: relevance by meaning; None without vectors.
        named: entity → strength of the link, above 0 to 1.
        type_match: relation type → how well the question names it.
        type_similarity: similarity of every relation type to the question.
        relevance: `PageRankMixer.relevance` of the other signals, once it is computed.
    """

    match: LexicalMatch
    semantic: SparseScores | None = None
    named: Mapping[int, float] = field(default_factory=dict[int, float])
    type_match: Mapping[int, float] = field(default_factory=dict[int, float])
    type_similarity: Floats | None = None
    relevance: Floats | None = None


@dataclass(frozen=True, slots=True)
class GraphRanking:
    """Scores of every passage and entity by the walk.

    Attributes:
        passages, entities: the scores.
        relevance: of the passages without the walk, 0..1.
        entity_confidence: share of named entities in the seeds: near 1 for titles, small for mere terms, 0
            without names.
    """

    passages: Floats
    entities: Floats
    relevance: Floats
    entity_confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class PageRankMixer:
    """Ranks the passages and entities of a graph for one question.

    Args:
        parameters: see `MixParameters`.
    """

    parameters: MixParameters = field(default_factory=MixParameters)

    def relevance(self, index: WalkIndex, signals: QuerySignals) -> Floats:
        """Return the relevance of every passage without the walk, 0..1: words, meaning and statements."""
        if signals.relevance is not None:
            return signals.relevance
        relevance = blend(signals.match, signals.semantic, self.parameters)
        statement = score_statements(
            index.relations,
            index.passages,
            signals.named,
            signals.type_match,
            signals.type_similarity,
        )
        if statement is None:
            return relevance
        relevance[statement.rows] += self.parameters.statement_weight * statement.values
        return scale_scores(relevance)

    def rank(
        self, index: WalkIndex, signals: QuerySignals, *, entities_alone: bool = False
    ) -> GraphRanking:
        """Rank from all signals at once.

        With `entities_alone` the walk starts at the named entities alone, in proportion to `entity_confidence`.
        """
        parameters, relevance = self.parameters, self.relevance(index, signals)
        seeds = highest(relevance, parameters.seed_passages)
        seeds = seeds[relevance[seeds] > 0]
        passages, entities = relevance[seeds] ** parameters.sharpness, self._seeds(index, signals)
        named = float(sum(entities.values()))
        whole = named + float(passages.sum())
        if not whole:
            nothing = np.zeros(index.entities, np.float32)
            return GraphRanking(np.zeros_like(relevance), nothing, relevance, entity_confidence=0.0)
        confidence = named / whole
        anchors = self._anchor_passages(index, seeds, passages, entities)
        start = np.concatenate([seeds, anchors.rows])
        subgraph = self._select_subgraph(index, entities, relevance, start)
        at_start = parameters.bridge * whole * self._bridge(index, subgraph, signals, anchors)
        at_start[subgraph.passages.searchsorted(seeds)] += passages
        whole = named + float(at_start.sum())
        alone = confidence if entities_alone else 0.0
        from_all = (1 - alone) / whole
        from_named = from_all + (alone / named if named else 0.0)
        mass, entity_mass = subgraph.walk(
            at_start * from_all,
            {entity: seed * from_named for entity, seed in entities.items()},
            relevance[subgraph.passages],
            signals.type_match,
        )
        if not entities_alone:
            mass *= inflow(index, subgraph.passages) ** (parameters.inflow_power * (1 - confidence))
        scores = np.zeros_like(relevance)
        scores[subgraph.passages] = mass
        return GraphRanking(scores, entity_mass, relevance, confidence)

    def _seeds(self, index: WalkIndex, signals: QuerySignals) -> dict[int, float]:
        """Return the seeds of the named entities."""
        seeds: dict[int, float] = {}
        for entity, strength in signals.named.items():
            titled = index.title_count[entity] > 0
            telling = float(index.information[entity])
            worth = 1.0 if titled else self.parameters.untitled_seed * telling
            seeds[entity] = self.parameters.entity_seed * worth * strength
        return seeds

    def _anchor_passages(
        self, index: WalkIndex, seeds: Rows, passages: Floats, entities: Mapping[int, float]
    ) -> _Anchors:
        """Return the best passages among the most relevant ones and those that a named entity titles."""
        rows, amounts = [seeds], [passages]
        for entity, seed in entities.items():
            titled = index.titled_by(entity)
            rows.append(titled)
            amounts.append(np.full(len(titled), seed / max(len(titled), 1), np.float32))
        anchored, amount = np.concatenate(rows), np.concatenate(amounts)
        anchored, number = np.unique(anchored, return_inverse=True)
        weights = np.bincount(number, amount).astype(np.float32)
        best = highest(weights, _ANCHORS)
        return _Anchors(anchored[best], weights[best])

    def _select_subgraph(
        self, index: WalkIndex, entities: Mapping[int, float], relevance: Floats, start: Rows
    ) -> Subgraph:
        """Return the part of the graph to walk: all of a small one.

        Of a larger one the passages where the walk starts, the most relevant ones, and those about entities that
        are named, or mentioned where it starts.
        """
        size = self.parameters.subgraph_size
        if index.passages <= size:
            return Subgraph(index, np.arange(index.passages), np.arange(index.entities))
        is_near = index.mentioned_by(start)
        is_near[list(entities)] = True
        near = np.flatnonzero(is_near)
        worth = index.passages_about(near, np.ones(len(near), np.float32))
        worth = relevance + worth / np.float32(float(worth.max()) or 1.0)
        worth[start] += 3  # others have 2 at most
        return Subgraph(index, among_highest(worth, size), near)

    def _bridge(
        self, index: WalkIndex, subgraph: Subgraph, signals: QuerySignals, anchors: _Anchors
    ) -> Shares:
        """Return the mass of one step from the anchors to what the question asks beyond them; sums to at most 1.

        From an anchor's other entities mass goes to passages about them, in proportion to their relevance to the
        rest of the question: a term weighs less, the more the anchor holds it.
        """
        anchor, entity, shares = index.shares_of(anchors.rows)
        named = np.zeros(index.entities, np.bool_)
        named[list(signals.named)] = True
        new = ~named[entity]
        count = len(anchors.rows)
        about = subgraph.about(anchor[new], entity[new], shares[new], count)
        anchors_here = subgraph.passages.searchsorted(anchors.rows)
        about[np.arange(count), anchors_here] = 0
        residuals = signals.match.residuals(anchors_here, subgraph.passages)
        most = np.maximum(residuals.max(axis=1, initial=0.0), TINY)
        wanted = residuals / most[:, None]
        if signals.semantic is not None:
            wanted = (wanted + signals.semantic.at(subgraph.passages)) / 2
        amount = about * (_MIN_WANTED + wanted) ** self.parameters.sharpness
        total = np.maximum(amount.sum(axis=1), TINY)
        share = anchors.weights * index.leaving[anchors.rows] / total
        whole = float(anchors.weights.sum())
        mass: Shares = share @ amount / (whole or 1.0)
        return mass


@dataclass(frozen=True, slots=True)
class _Anchors:
    """Passages, best first, and their weights."""

    rows: Rows
    weights: Floats


def inflow(index: WalkIndex, passages: Rows) -> Shares:
    """Return the share of each passage's final mass that flowed in; the rest stayed from step to step.

    A passage with few entities keeps its mass and one with many passes it on, so that the first may have twice the
    mass of another that is as relevant.
    """
    return 1 - (1 - RESTART) * (1 - index.leaving[passages].astype(np.float64))
