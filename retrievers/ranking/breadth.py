"""How far `hybrid` goes by `global`: what its passages count, and where reports stand among the results."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sextant.domain.breadth import asks_account
from sextant.domain.retrieval import LEAST_SCORE, ItemKind, RetrievedItem, rescore

# What global counts at most where a fact is asked for, and as much less as the question's names vouch for what local
# found (docs/experiments/hybrid-mode.md).
_OF_FACTS = 0.4
# And where an account is asked for, which reports give.
_OF_ACCOUNTS = 0.9
# Without reports global is words and meaning, which local has gone by already: it settles what is left undecided.
_WITHOUT_REPORTS = 0.02
# From so many results on there are always reports among them.
_ROOM = 5


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
    if top_k < _ROOM:
        return results[:top_k]
    passages = [item.id for item in results if item.id not in report_ids]
    report_ids.update(passages[: top_k - len(report_ids)])
    return [item for item in results if item.id in report_ids]
