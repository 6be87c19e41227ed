"""Going on without a lane: what is said, and what is logged."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from sextant.domain.errors import RetrievalError
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery, LaneRun

logger = logging.getLogger(__name__)

# Seed 000, "部分检索失败".
_DEGRADED = {
    VECTOR: "向量检索失败，使用关键词检索降级",
    KEYWORD: "关键词检索失败，仅使用向量检索结果",
}
_OTHER = "检索通道 {lane} 失败，其余通道继续 (lane {lane} failed; the others went on)"


def describe_degradation(runs: Sequence[LaneRun]) -> tuple[str, ...]:
    """Return one sentence for every failed lane: how the search went on without it. Logged verbatim."""
    sentences = [
        _DEGRADED.get(run.name, _OTHER.format(lane=run.name))
        for run in runs
        if run.error is not None
    ]
    for sentence in sentences:
        logger.warning(sentence)
    return tuple(sentences)


def require_one(runs: Sequence[LaneRun]) -> None:
    """Log which lanes failed; without one that did not there is nothing to go on with.

    Raises:
        RetrievalError: every lane failed; carries each cause.
    """
    failed = {run.name: run.error for run in runs if run.error is not None}
    log_failures(failed)
    if len(failed) == len(runs):
        raise RetrievalError(failed)


def go_without(part: str, cause: Exception, query: LaneQuery, wordings: Mapping[str, str]) -> None:
    """Tell the caller that lanes went on without a part that failed, and the log why; once a question."""
    if query.warn(wordings):
        log_failures({part: cause})
        logger.warning(wordings["zh"])


def log_failures(failed: Mapping[str, BaseException]) -> None:
    """One line for each lane, and one traceback for each cause: lanes share a database."""
    traced = set[str]()
    for name, error in failed.items():
        cause = repr(error)
        logger.error("lane %s failed: %s", name, error, exc_info=None if cause in traced else error)
        traced.add(cause)
