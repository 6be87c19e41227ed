"""The ranking behind `mix`: what fits the question by itself leads the walk to what it does not name.

A question of several hops ("When did the state where Pocahontas Mounds is located become part of the
United States?") names its first passage and describes its last. Passages that fit by words and
meaning and the entities that the question names are the seeds; a bridge takes one step from the best
of them towards what the question still asks for; the walk does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sextant.retrievers.index.graph.relations import score_question, score_statements
from sextant.retrievers.index.graph.walk import RESTART, TINY, Excerpt, Shares, WalkIndex
from sextant.retrievers.index.words.lexical import LexicalIndex, LexicalMatch
from sextant.retrievers.numeric.highest import among_highest, highest, scale_scores
from sextant.retrievers.numeric.sparse import Floats, Places, firsts, true_at
from sextant.retrievers.ranking.relevance import (
    Nearness,
    blend,
    unfamiliarity,
)

# One configuration for all evaluation sets; recall@5 is flat around each value.
_SEED_PASSAGES = 20
_SEED_SHARPNESS = 3
_NAMED_SEED = 20.0
_UNTITLED_DISCOUNT = 0.1
_STATED_WEIGHT = 0.2
_ANCHORS = 5
_BRIDGE_MASS = 0.5
_BRIDGE_SHARPNESS = 4
_LEAST_FIT = 0.05
# Passages that the walk is kept to, the first so many of which say what entities are near, and what
# the others are chosen by besides their fit: being about such entities. Against walking the whole
# graph recall@5 is within a question on eight sets (docs/performance-notes.md). Around the question's entities fewer do: with
# 600 `local` finds as much on ten sets, one question of musique_dev lost and one won; `mix` would lose one.
_KEPT, _KEPT_AROUND, _BEGUN = 800, 600, 50
_TELLING = 64
_NEIGHBOURS = 5
_NEIGHBOUR_WORTH, _NAMED_WORTH = 0.3, 3.0
_ABOUT_WORTH = 0.3
# Beside the walk's mass, of which the best passage has 1, as far as the question names nothing. It tells
# passages apart that the walk does not: questions across languages gain a point. Passages two hops away
# from a name hardly fit; the same share for them would cost twowiki and musique_dev 2 points.
_FIT_SHARE = 0.1
# And of a question that shares neither a name nor words with any passage, as one in another language: the
# walk from it can but spread what its vector said, so the vectors decide. Over both directions of xquad 11
# questions are won and 7 lost (91.6 to 92.4 and 92.9 to 92.7); where words are shared nothing changes.
_UNFAMILIAR_FIT_SHARE = 10.0
# How far `mix` leaves out of account that the walk dwells where little leads on, as far as the question names nothing
# (`_arrivals`). With 0.3 to 0.6 no set's recall@5 moves by more than a question but rgb's: 0.25 leaves it below its
# vectors alone (37.6), 0.4 has 37.7, 0.6 38.9; from 0.5 on lihua's questions over several passages lose one.
_DWELLING_LEFT_OUT = 0.4
# The share of the walk of `mix` that starts from the names alone, times the eighth power of how far they vouch for the
# question: names that are all there is to go by (0.93 on prqa_zh and twowiki) tell better where to begin than what
# fits does, a name beside much else (0.6 on drcd) does not. A quarter of the fourth power finds as much.
_ALONE, _ALONE_SHARPNESS = 0.5, 8
# Where the graph has a relation of the type that the question asks of what it names, the walk follows it, and the
# bridge, which guesses by words, leads astray: it is left out, by this power of how far the names vouch for the
# question. Chosen on half of the questions, where the third power finds as much; recall@2 of prqa_zh's two hops
# 90.1 to 93.4 (8 won, none lost), all else as it was. With less than the third musique_openie, whose
# types are phrases, loses one of 50.
_FOLLOWED_SHARPNESS = 4
# What the lead of the passage that fits best counts beside the walk's mass (`_ahead`).
_LEAD = 2.0
# A name whose words carry this share of the information of an unseen word is linked at full strength.
_FULL_STRENGTH_AT = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a question shares with a graph.

    `match`: its words; `near`: relevance by meaning, None without vectors; `named`:
    entity → strength of the link, above 0 to 1; `type_match`: relation type → how well the question
    names it; `type_similarity`: similarity of every relation type to the question; `fit`: `fit_of` all
    this, where it has been worked out.
    """

    match: LexicalMatch
    near: Nearness | None = None
    named: Mapping[int, float] = field(default_factory=dict[int, float])
    type_match: Mapping[int, float] = field(default_factory=dict[int, float])
    type_similarity: Floats | None = None
    fit: Floats | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores of every passage and entity by the walk, and the fit of the passages it started from.

    `trust`: how far the question's entities vouch for it: their share of the seeds, near 1 for titles,
    small for mere terms, 0 without any. `leading`: rows, rising, among which the greatest mass is, and beside which
    none has more than `rest`; None: not known.
    """

    passages: Floats
    entities: Floats
    fit: Floats
    trust: float = 1.0
    leading: Places | None = None
    rest: float = 0.0


def link_strength(lexical: LexicalIndex, words: str) -> float:
    """Return how far to trust that these words of the question name an entity, 0..1.

    Words that every other passage holds ("time", "country") name nothing, though a passage may be
    titled with them.
    """
    telling = lexical.information_of(words) / (_FULL_STRENGTH_AT * lexical.most_information)
    return min(1.0, telling) ** 2


def rank(index: WalkIndex, evidence: Evidence) -> Ranking:
    """Rank every passage and entity of a graph for one question."""
    return _walked(index, evidence, around=False)


def rank_around(index: WalkIndex, evidence: Evidence) -> Ranking:
    """As `rank`, with the question's entities in the lead: what is said of them, near them first.

    As far as they are to be trusted, the walk starts from them alone. Against `rank`, as much is
    found where titles are named, and less where a question describes more than it names (recall@5 of
    hotpotqa 96.2 to 95.6, of musique_openie 79.3 to 77.7).
    """
    return _walked(index, evidence, around=True)


def _walked(index: WalkIndex, evidence: Evidence, *, around: bool) -> Ranking:
    fit = fit_of(index, evidence)
    best = highest(fit, _BEGUN)
    seeds = best[:_SEED_PASSAGES]
    seeds = seeds[fit[seeds] > 0]
    passages, entities = fit[seeds] ** _SEED_SHARPNESS, _seeds(index, evidence)
    named = float(sum(entities.values()))
    whole = named + float(passages.sum())
    if not whole:
        nothing = np.zeros(index.entities, np.float32)
        return Ranking(np.zeros_like(fit), nothing, fit, trust=0.0)
    trust = named / whole
    anchors = _anchors(index, seeds, passages, entities)
    kept = _KEPT_AROUND if around else _KEPT
    part, least = _part(index, entities, fit, kept, np.concatenate([best, anchors.rows]))
    followed = score_question(index.relations, evidence.named, evidence.type_match)
    bridged = _BRIDGE_MASS * (1 - followed * trust**_FOLLOWED_SHARPNESS)
    here = bridged * whole * _bridge(index, part, evidence, anchors)
    here[part.passages.searchsorted(seeds)] += passages
    whole = named + float(here.sum())
    alone = trust if around else _ALONE * trust**_ALONE_SHARPNESS
    from_all = (1 - alone) / whole
    from_named = from_all + (alone / named if named else 0.0)
    at_passage, at_entity = part.walk(
        here * from_all,
        {entity: seed * from_named for entity, seed in entities.items()},
        fit[part.passages],
        evidence.type_match,
    )
    if not around:
        at_passage = at_passage * _arrivals(index, part.passages) ** (
            _DWELLING_LEFT_OUT * (1 - trust)
        )
    own = _FIT_SHARE + _UNFAMILIAR_FIT_SHARE * unfamiliarity(evidence.match)
    most = float(at_passage.max(initial=0.0))
    share = np.float32(own * (1 - trust) * most)
    scores = fit * share
    scores[part.passages] += at_passage
    scores[best[:1]] += np.float32(_LEAD * trust * most) * _ahead(fit, best)
    return Ranking(scores, at_entity, fit, trust, part.passages, float(least * share))


def _arrivals(index: WalkIndex, passages: Places) -> Shares:
    """Return how much of the mass that each passage has at the end came to it; the rest stayed from step to step.

    A passage with few entities keeps its mass and one with many hands it on, by which the first has up to twice the
    mass of another that fits as well. It says nothing of the question.
    """
    return 1 - (1 - RESTART) * (1 - index.leaving[passages].astype(np.float64))


def _ahead(fit: Floats, best: Places) -> np.float32:
    """Return how far the passage that fits best is ahead of the next, 0..1.

    It gains twice that beside the walk's mass, as far as the question's names vouch for the rest: such a passage
    answers, or is the first of several that do, so it stands before those that names lead to. Where others fit
    nearly as well the walk decides. Against none, recall@2 of drcd, where many passages speak of what a question
    names, rises by a point; recall@5 stays on all sets.
    """
    return fit[best[0]] - fit[best[1]] if len(best) > 1 else np.float32(0)


def _part(
    index: WalkIndex, entities: Mapping[int, float], fit: Floats, kept: int, begun: Places
) -> tuple[Excerpt, np.float32]:
    """Return what of the graph the walk is kept to, and the most that any other passage fits: all of a small one.

    Of a larger one the passages that fit, and those about the entities near where it starts: the named
    ones, those of the first passages, and their heaviest neighbours. An entity that more than
    `_TELLING` passages mention tells none of them from the others.
    """
    if index.passages <= kept:
        return Excerpt(index, np.arange(index.passages), np.arange(index.entities)), np.float32(0)
    named = np.fromiter(entities, np.intp, len(entities))
    met = index.mentioned_by(begun)
    met[named] = True
    near = true_at(met)
    around = index.relations.around(near, _NEIGHBOURS)
    met[around] = True
    weights = np.empty(index.entities, np.float32)  # of no meaning but for what was met
    weights[around] = _NEIGHBOUR_WORTH
    weights[near] = 1
    weights[named] = _NAMED_WORTH
    telling = true_at(met)
    telling = telling[index.mention_count[telling] <= _TELLING]
    worth = index.passages_about(telling, weights[telling])
    worth *= np.float32(_ABOUT_WORTH / (float(worth.max()) or 1.0))
    worth += fit
    worth[begun] += 2
    rows = among_highest(worth, kept)
    return Excerpt(index, rows, near), worth[rows].min()


def fit_of(index: WalkIndex, evidence: Evidence) -> Floats:
    """Return how well every passage fits the question by itself, 0..1: words, meaning and statements."""
    if evidence.fit is not None:
        return evidence.fit
    fit = blend(evidence.match, evidence.near)
    statement = score_statements(
        index.relations,
        index.passages,
        evidence.named,
        evidence.type_match,
        evidence.type_similarity,
    )
    if statement is None:
        return fit
    fit[statement.rows] += _STATED_WEIGHT * statement.values
    return scale_scores(fit)


def _seeds(index: WalkIndex, evidence: Evidence) -> dict[int, float]:
    """Return what the walk starts with at the entities that the question names."""
    seeds: dict[int, float] = {}
    for entity, strength in evidence.named.items():
        titled = index.title_count[entity] > 0
        trust = 1.0 if titled else _UNTITLED_DISCOUNT * float(index.information[entity])
        seeds[entity] = _NAMED_SEED * trust * strength
    return seeds


@dataclass(frozen=True, slots=True)
class _Anchors:
    """Passages, best first, and their weights."""

    rows: Places
    weights: Floats


def _anchors(
    index: WalkIndex, seeds: Places, passages: Floats, entities: Mapping[int, float]
) -> _Anchors:
    """Return the passages that fit best or are titled with a named entity."""
    rows, amounts = [seeds], [passages]
    for entity, seed in entities.items():
        titled = index.titled_by(entity)
        rows.append(titled)
        amounts.append(np.full(len(titled), seed / max(len(titled), 1), np.float32))
    held, amount = np.concatenate(rows), np.concatenate(amounts)
    order, first = firsts(held)  # a passage may be there for several reasons
    held, weights = held[order[first]], np.add.reduceat(amount[order], first)
    best = highest(weights, _ANCHORS)
    return _Anchors(held[best], weights[best])


def _bridge(index: WalkIndex, part: Excerpt, evidence: Evidence, anchors: _Anchors) -> Shares:
    """Return one step from the anchors to what the question asks beyond them; sums to at most 1.

    From an anchor's other entities mass goes to the passages about them that fit the residual
    question: each term weighs as much as the anchor does not hold it.
    """
    anchor, entity, shares = index.shares_of(anchors.rows)
    named = np.zeros(index.entities, np.bool_)
    named[list(evidence.named)] = True
    new = ~named[entity]
    count = len(anchors.rows)
    about = part.about(anchor[new], entity[new], shares[new], count)
    anchors_here = part.passages.searchsorted(anchors.rows)
    about[np.arange(count), anchors_here] = 0
    asked = evidence.match.residuals(anchors_here, part.passages)
    most = np.maximum(asked.max(axis=1, initial=0.0), TINY)
    wanted = asked / most[:, None]
    if evidence.near is not None:
        wanted = (wanted + evidence.near.at(part.passages)) / 2
    amount = about * (_LEAST_FIT + wanted) ** _BRIDGE_SHARPNESS
    total = np.maximum(amount.sum(axis=1), TINY)
    share = anchors.weights * index.leaving[anchors.rows] / total
    whole = float(anchors.weights.sum())
    mass: Shares = share @ amount / (whole or 1.0)
    return mass
