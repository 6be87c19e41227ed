"""Weighted reciprocal rank fusion: one ranking out of several."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from sextant.domain.breadth import asks_account
from sextant.domain.retrieval import (
    LEAST_SCORE,
    ItemKind,
    LaneScore,
    RetrievedItem,
    rescore,
)

# What global counts at most where a fact is asked for, and as much less as the question's names vouch for what local
# found (docs/experiments/hybrid-mode.md).
_OF_FACTS = 0.4
# And where an account is asked for, which reports give.
_OF_ACCOUNTS = 0.9
# Without reports global is words and meaning, which local has gone by already: it settles what is left undecided.
_WITHOUT_REPORTS = 0.02
# From so many results on there are always reports among them.
_LEAST_TOP_K = 5


def share_of_global(question: str, entity_confidence: float, *, reported: bool) -> float:
    """Return what a score of `global` counts beside one of `local`, whose counts the rest of 1.

    Args:
        question: what is asked: for a fact, or for an account of something.
        entity_confidence: how far the question's names vouch for what `local` found, 0..1.
        reported: whether `global` found reports.
    """
    if not reported:
        return _WITHOUT_REPORTS
    return _OF_ACCOUNTS if asks_account(question) else _OF_FACTS * (1 - entity_confidence)


def with_reports(
    passages: Sequence[RetrievedItem], reports: Sequence[RetrievedItem], share: float
) -> list[RetrievedItem]:
    """Return passages and reports in one ranking: a report scores its share of what the best one of them scores.

    Args:
        passages: best first, scores up to 1.
        reports: best first, with scores of their own scale.
        share: as of `share_of_global`.
    """
    most = reports[0].score if reports else 1.0
    scored = [rescore(one, max(share * one.score / most, LEAST_SCORE)) for one in reports]
    return sorted([*passages, *scored], key=lambda item: -item.score)


def first_of(ranking: Sequence[RetrievedItem], top_k: int, share: float) -> list[RetrievedItem]:
    """Return the first `top_k`, of which half of the share of `global` are reports, rounded up.

    Where these are not among the first by their scores, the last passages give way to them, if there is room.
    """
    reports = [item for item in ranking if item.kind is ItemKind.COMMUNITY]
    report_ids = {item.id for item in reports[: min(math.ceil(share * top_k / 2), top_k // 2)]}
    results = [
        item for item in ranking if item.id in report_ids or item.kind is not ItemKind.COMMUNITY
    ]
    if top_k < _LEAST_TOP_K:
        return results[:top_k]
    passages = [item.id for item in results if item.id not in report_ids]
    report_ids.update(passages[: top_k - len(report_ids)])
    return [item for item in results if item.id in report_ids]


DEFAULT_K = 60  # Cormack, Clarke and Büttcher 2009


def rrf(
    rankings: Mapping[str, Sequence[str]], weights: Mapping[str, float], k: float = DEFAULT_K
) -> list[tuple[str, float]]:
    """Score every id by `Σ weight / (k + rank)` over the rankings that hold it, best first.

    Ranks start at 1. Equal scores are ordered by the id's best rank, then by the id itself, so the
    result does not depend on the order of the mapping.

    Args:
        rankings: lane name → ids, best first, none twice.
        weights: lane name → weight; a lane without one weighs 1.
        k: damping of the first ranks; 60 in the paper.

    Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
    individual Rank Learning Methods", SIGIR 2009.
    """
    scored: dict[str, tuple[float, int]] = {}  # minus the score, the best rank: their order
    for lane in sorted(rankings):
        weight = weights.get(lane, 1.0)
        for rank, item_id in enumerate(rankings[lane], start=1):
            less, best = scored.get(item_id) or (0.0, rank)
            scored[item_id] = less - rrf_share(rank, weight, k), best if best < rank else rank
    ordered = sorted([(less, best, item_id) for item_id, (less, best) in scored.items()])
    return [(item_id, -less) for less, _, item_id in ordered]


def rrf_share(rank: int, weight: float, k: float) -> float:
    """Return what a place in one ranking gives an item: `weight / (k + rank)`, ranks from 1."""
    return weight / (k + rank)


def fuse(
    found: Mapping[str, Sequence[RetrievedItem]],
    weights: Mapping[str, float],
    k: float = DEFAULT_K,
    wanted: int | None = None,
) -> list[RetrievedItem]:
    """Merge the lanes' hits by `rrf`; every item keeps where each lane had put it in `lanes`.

    Args:
        found: lane name → its hits, best first, no id twice, each with the lane's own score.
        weights: lane name → weight.
        k: as in `rrf`.
        wanted: how many of the best; None: all.
    """
    rankings = {lane: [hit.id for hit in found[lane]] for lane in sorted(found)}
    best = [pair for pair in rrf(rankings, weights, k)[:wanted] if pair[1] > 0]
    lanes: dict[str, dict[str, LaneScore]] = {one: {} for one, _ in best}
    items: dict[str, RetrievedItem] = {}
    for lane in rankings:
        weight = weights.get(lane, 1.0)
        for rank, hit in enumerate(found[lane], start=1):
            if hit.id in lanes:
                if hit.id not in items or hit.text:  # another lane may know it by id only
                    items[hit.id] = hit
                share = rrf_share(rank, weight, k)
                lanes[hit.id][lane] = LaneScore(rank, hit.score, weight, share)
    return [replace(items[one], score=score, lanes=lanes[one]) for one, score in best]


def interleave(first: Sequence[str], second: Sequence[str], count: int) -> list[str]:
    """Return the first `count` ids of one ranking, then by turns the best new one of the other and of it.

    For rankings of different questions, whose ranks say nothing of each other: by `rrf`, what each of
    them has in the middle would go before what only one has at the top.

    Args:
        first: ids, best first, none twice.
        second: the same of the other ranking.
        count: how many of the first keep their places.
    """
    head = first[:count]
    turns = zip_longest((one for one in second if one not in head), first[count:])
    return list(dict.fromkeys([*head, *(one for turn in turns for one in turn if one)]))


def fuse_by_score(
    found: Mapping[str, Sequence[RetrievedItem]], share: float, wanted: int | None = None
) -> list[RetrievedItem]:
    """Return two rankings in one, by the weighted sum of their scores.

    Of ranks only the order is left: by `rrf` what both lanes have far below goes before what one is sure of, and
    questions of several hops lose a fifth of their passages.

    Args:
        found: the names of both lanes → their hits, best first, no id twice, scores above 0 up to 1.
        share: what a score of the second lane counts, 0 to 1; the first's counts the rest.
        wanted: how many of the best; None: all.
    """
    shares = dict(zip(found, (1 - share, share), strict=True))
    scores: defaultdict[str, float] = defaultdict(float)
    for lane, hits in found.items():
        for hit in hits:
            scores[hit.id] += shares[lane] * hit.score
    best = dict(sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))[:wanted])
    items: dict[str, RetrievedItem] = {}
    lanes: defaultdict[str, dict[str, LaneScore]] = defaultdict(dict)
    for lane, hits in found.items():
        for rank, hit in enumerate(hits, start=1):
            if hit.id in best:
                items.setdefault(hit.id, hit)
                lane_score = LaneScore(rank, hit.score, shares[lane], shares[lane] * hit.score)
                lanes[hit.id] = {**hit.lanes, **lanes[hit.id], lane: lane_score}
    return [replace(items[one], score=score, lanes=lanes[one]) for one, score in best.items()]
