"""Fusion: one ranking out of several, by ranks (reciprocal rank fusion) or by scores; and reports among passages."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from sextant.domain.breadth import asks_account
from sextant.domain.retrieval import LEAST_SCORE, ItemKind, LaneScore, RetrievedItem, rescore

# Weight of `global` beside `local` in the mode `hybrid`: at most this for a question about a fact, less if its names
# speak for what local found (docs/experiments/hybrid-mode.md),
_WEIGHT_FOR_FACTS = 0.4
# this for a question that wants an account, which reports give,
_WEIGHT_FOR_ACCOUNTS = 0.9
# and this without reports: then global ranks by words and meaning, as local does, and only breaks ties.
_WEIGHT_WITHOUT_REPORTS = 0.02
# At least this many results always have reports among them.
_MIN_TOP_K_WITH_REPORTS = 5


def share_of_global(question: str, entity_confidence: float, *, reported: bool) -> float:
    """Return the weight of the scores of `global`, 0..1; those of `local` have the rest of 1.

    Args:
        question: asks for a fact, or for an account of something.
        entity_confidence: how far the question's names speak for what `local` found, 0..1.
        reported: whether `global` found reports.
    """
    if not reported:
        return _WEIGHT_WITHOUT_REPORTS
    if asks_account(question):
        return _WEIGHT_FOR_ACCOUNTS
    return _WEIGHT_FOR_FACTS * (1 - entity_confidence)


def insert_reports(
    passages: Sequence[RetrievedItem], reports: Sequence[RetrievedItem], share: float
) -> list[RetrievedItem]:
    """Return passages and reports in one ranking; the best report gets the score `share`.

    Args:
        passages: best first, scores up to 1.
        reports: best first, with scores on a scale of their own.
        share: weight of `global`, see `share_of_global`.
    """
    best = reports[0].score if reports else 1.0
    scored = [rescore(one, max(share * one.score / best, LEAST_SCORE)) for one in reports]
    return sorted([*passages, *scored], key=lambda item: -item.score)


def cut_with_reports(
    ranking: Sequence[RetrievedItem], top_k: int, share: float
) -> list[RetrievedItem]:
    """Return the first `top_k` items, among them a fixed number of reports: `share · top_k / 2`, rounded up.

    Reports that are not among the first by their scores take the places of the last passages.
    """
    reports = [item for item in ranking if item.kind is ItemKind.COMMUNITY]
    report_ids = {item.id for item in reports[: min(math.ceil(share * top_k / 2), top_k // 2)]}
    results = [
        item for item in ranking if item.id in report_ids or item.kind is not ItemKind.COMMUNITY
    ]
    if top_k < _MIN_TOP_K_WITH_REPORTS:
        return results[:top_k]
    passages = [item.id for item in results if item.id not in report_ids]
    report_ids.update(passages[: top_k - len(report_ids)])
    return [item for item in results if item.id in report_ids]


def put_reports_first(
    passages: Sequence[RetrievedItem], reports: Sequence[RetrievedItem], top_k: int
) -> list[RetrievedItem]:
    """Return up to half reports, at least one, then passages with scores below theirs."""
    first = reports[: max(1, top_k // 2)]
    rest = passages[: top_k - len(first)]
    return [*first, *(rescore(item, item.score * first[-1].score) for item in rest)]


@dataclass(frozen=True, slots=True)
class Share:
    """The value of one signal or lane for a result: raw, mapped to 0..1, and its part of the score.

    The contributions of all signals sum to the score. `rank` is the result's rank in the lane; None: not found there.
    """

    raw: float
    share: float
    weight: float
    contribution: float
    rank: int | None = None


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
    """Return the share of one ranking in an item's score: `weight / (k + rank)`, ranks from 1."""
    return weight / (k + rank)


def fuse(
    found: Mapping[str, Sequence[RetrievedItem]],
    weights: Mapping[str, float],
    k: float = DEFAULT_K,
    wanted: int | None = None,
) -> list[RetrievedItem]:
    """Merge the lanes' hits by `rrf`; the items' `lanes` say the rank and score in each lane.

    Args:
        found: lane name → its hits, best first, no id twice, each with the lane's own score.
        weights: lane name → weight.
        k: as in `rrf`.
        wanted: number of items; None: all.
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
    """Return the first `count` ids of one ranking, then by turns the next new id of the other and of the first.

    For rankings of different questions: `rrf` would put ids in the middle of both before those at the top of one.

    Args:
        first: ids, best first, none twice.
        second: ids of the other ranking.
        count: number of ids of the first ranking that keep their positions.
    """
    head = first[:count]
    turns = zip_longest((one for one in second if one not in head), first[count:])
    return list(dict.fromkeys([*head, *(one for turn in turns for one in turn if one)]))


def fuse_by_score(
    found: Mapping[str, Sequence[RetrievedItem]], share: float, wanted: int | None = None
) -> list[RetrievedItem]:
    """Merge the hits of two lanes by the weighted sum of their scores.

    Unlike `rrf`, a passage with a high score in one lane stays before one that both lanes have far below; with
    `rrf` multi-hop questions lose a fifth of their passages.

    Args:
        found: lane name → its hits, best first, no id twice, scores above 0 up to 1; two lanes.
        share: weight of the second lane, 0..1; the first has the rest.
        wanted: number of items; None: all.
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
