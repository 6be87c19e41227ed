"""The ranking of `mix`: personalised PageRank from what a question says, means and names.

A question of several hops ("When did the state where Pocahontas Mounds is located become part of the
United States?") names its first passage and describes its last. For passage p, with the relevance r
(words, meaning, statements; 0..1), the share e of the seeds that entities have (entity confidence), and
PageRank's mass m relative to the best passage's,

    score(p) = m(p) + unmatched_weight · u · (1 - e) · r(p)

where u says how little of the question the passages hold. The walk starts from r^sharpness of the passages
that fit best, from the named entities, and from a bridge: one step from either towards what the question
still asks for. docs/experiments/mix.md tells how the parameters were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sextant.retrievers.index.graph.relations import score_statements
from sextant.retrievers.index.graph.walk import RESTART, TINY, Shares, Subgraph, WalkIndex
from sextant.retrievers.index.words.lexical import LexicalMatch
from sextant.retrievers.numeric.highest import among_highest, highest, scale_scores
from sextant.retrievers.numeric.sparse import Floats, Places, firsts, true_at
from sextant.retrievers.ranking.parameters import MixParameters
from sextant.retrievers.ranking.relevance import SemanticScores, blend, out_of_vocabulary

# Passages that the bridge starts from at most, and the least that a passage counts as wanted by it.
_ANCHORS, _MIN_WANTED = 5, 0.05
# What being about the entities near the start counts beside relevance, when the subgraph is selected.
_ABOUT_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class QuerySignals:
    """What a question shares with a graph.

    Attributes:
        match: its words.
        semantic: relevance by meaning; None without vectors.
        named: entity → strength of the link, above 0 to 1.
        type_match: relation type → how well the question names it.
        type_similarity: similarity of every relation type to the question.
        relevance: `PageRankMixer.relevance` of all this, where it has been computed.
    """

    match: LexicalMatch
    semantic: SemanticScores | None = None
    named: Mapping[int, float] = field(default_factory=dict[int, float])
    type_match: Mapping[int, float] = field(default_factory=dict[int, float])
    type_similarity: Floats | None = None
    relevance: Floats | None = None


@dataclass(frozen=True, slots=True)
class GraphRanking:
    """Scores of every passage and entity by the walk.

    Attributes:
        passages, entities: the scores.
        relevance: of the passages by themselves, 0..1.
        entity_confidence: share of the seeds that named entities have: near 1 for titles, small for mere
            terms, 0 without any.
        leading: rows, rising, among which the greatest score is, and beside which none has more than
            `rest`; None: not known.
        rest: see `leading`.
    """

    passages: Floats
    entities: Floats
    relevance: Floats
    entity_confidence: float = 1.0
    leading: Places | None = None
    rest: float = 0.0


@dataclass(frozen=True, slots=True)
class PageRankMixer:
    """Ranks the passages and entities of a graph for one question.

    Args:
        parameters: of the formula above.
    """

    parameters: MixParameters = field(default_factory=MixParameters)

    def rank(self, index: WalkIndex, signals: QuerySignals) -> GraphRanking:
        """Rank from all signals at once."""
        return self._walk(index, signals, entities_alone=False)

    def rank_from_entities(self, index: WalkIndex, signals: QuerySignals) -> GraphRanking:
        """Rank with the named entities in the lead: the walk starts from them alone as far as they are to be trusted."""
        return self._walk(index, signals, entities_alone=True)

    def relevance(self, index: WalkIndex, signals: QuerySignals) -> Floats:
        """Return how well every passage fits the question by itself, 0..1: words, meaning and statements."""
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

    def _walk(
        self, index: WalkIndex, signals: QuerySignals, *, entities_alone: bool
    ) -> GraphRanking:
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
        subgraph, beyond = self._select_subgraph(index, entities, relevance, start)
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
        most = float(mass.max(initial=0.0))
        share = most * (1 - confidence) * self._own_weight(signals)
        scores = relevance * np.float32(share)
        scores[subgraph.passages] += mass
        return GraphRanking(
            scores, entity_mass, relevance, confidence, subgraph.passages, beyond * share
        )

    def _own_weight(self, signals: QuerySignals) -> float:
        parameters = self.parameters
        return parameters.unmatched_weight * out_of_vocabulary(signals.match, parameters)

    def _seeds(self, index: WalkIndex, signals: QuerySignals) -> dict[int, float]:
        """Return what the walk starts with at the named entities."""
        seeds: dict[int, float] = {}
        for entity, strength in signals.named.items():
            titled = index.title_count[entity] > 0
            telling = float(index.information[entity])
            worth = 1.0 if titled else self.parameters.untitled_seed * telling
            seeds[entity] = self.parameters.entity_seed * worth * strength
        return seeds

    def _anchor_passages(
        self, index: WalkIndex, seeds: Places, passages: Floats, entities: Mapping[int, float]
    ) -> _Anchors:
        """Return the passages that fit best or are titled with a named entity."""
        rows, amounts = [seeds], [passages]
        for entity, seed in entities.items():
            titled = index.titled_by(entity)
            rows.append(titled)
            amounts.append(np.full(len(titled), seed / max(len(titled), 1), np.float32))
        anchored, amount = np.concatenate(rows), np.concatenate(amounts)
        order, first = firsts(anchored)  # a passage may be there for several reasons
        anchored, weights = anchored[order[first]], np.add.reduceat(amount[order], first)
        best = highest(weights, _ANCHORS)
        return _Anchors(anchored[best], weights[best])

    def _select_subgraph(
        self, index: WalkIndex, entities: Mapping[int, float], relevance: Floats, start: Places
    ) -> tuple[Subgraph, float]:
        """Return what of the graph is walked, and the relevance of the best passage beyond: all of a small graph.

        Of a larger one the passages where the walk starts, those that fit, and those about the entities that
        are named or mentioned where it starts.
        """
        size = self.parameters.subgraph_size
        if index.passages <= size:
            everything = Subgraph(index, np.arange(index.passages), np.arange(index.entities))
            return everything, 0.0
        is_near = index.mentioned_by(start)
        is_near[list(entities)] = True
        near = true_at(is_near)
        worth = index.passages_about(near, np.ones(len(near), np.float32))
        worth *= np.float32(_ABOUT_SHARE / (float(worth.max()) or 1.0))
        worth += relevance
        worth[start] += 2  # more than any other has
        rows = among_highest(worth, size)
        return Subgraph(index, rows, near), float(worth[rows].min())

    def _bridge(
        self, index: WalkIndex, subgraph: Subgraph, signals: QuerySignals, anchors: _Anchors
    ) -> Shares:
        """Return one step from the anchors to what the question asks beyond them; sums to at most 1.

        From an anchor's other entities mass goes to the passages about them that fit the residual
        question: each term weighs as much as the anchor does not hold it.
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

    rows: Places
    weights: Floats


def inflow(index: WalkIndex, passages: Places) -> Shares:
    """Return how much of the mass that each passage has at the end came to it; the rest stayed from step to step.

    A passage with few entities keeps its mass and one with many hands it on, by which the first has up to twice the
    mass of another that fits as well. It says nothing of the question.
    """
    return 1 - (1 - RESTART) * (1 - index.leaving[passages].astype(np.float64))
