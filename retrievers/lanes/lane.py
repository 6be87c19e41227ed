"""Lanes: the independent ways of finding passages, and running several of them at the same time.

A lane over the stores is an object with a name and one coroutine; a lane over a scope's index is a function
(`sextant.retrievers.lanes.query_context`). A mode is a choice of lanes (`sextant.retrievers.modes`), whose results
are fused into one ranking. Also here: how a search goes on without a lane that fails.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from sextant.domain.errors import ConflictError, InputError, SextantError, describe_reason
from sextant.domain.questions import ChunkFilters
from sextant.domain.retrieval import LEAST_SCORE, ItemKind, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import CodedWarning, WarningCode, distinct
from sextant.models.protocols import Embedder
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.queries import Scored
from sextant.stores.postgresql.watched import gather_until
from sextant.text.analysis import extract_keywords, language_of_question

if TYPE_CHECKING:
    from sextant.retrievers.lanes.entities import GraphItems

_log = logging.getLogger(__name__)

VECTOR = "vector"
KEYWORD = "keyword"


@dataclass(frozen=True)
class LaneQuery:
    """The question as every lane gets it, with its scope, filters and the number of passages wanted.

    `warnings` collects what lanes had to do without while they found something all the same.
    """

    scope: Scope
    text: str
    limit: int
    max_keywords: int = 10
    filters: ChunkFilters | None = None
    warnings: list[CodedWarning] = field(default_factory=list[CodedWarning], compare=False)

    def warn(self, code: WarningCode, params: Mapping[str, Any] | None = None) -> bool:
        """Add a warning, once; return whether it is new."""
        return self.note(CodedWarning(code, params or {}))

    def note(self, warning: CodedWarning) -> bool:
        """Add a warning, once; return whether it is new."""
        if is_new := warning not in self.warnings:
            self.warnings.append(warning)
        return is_new

    @property
    def language(self) -> str:
        """Return the question's language, `zh` or `en`."""
        return language_of_question(self.text)

    @cached_property
    def keywords(self) -> list[str]:
        """Return the question's keywords, extracted once for all lanes and the log."""
        return extract_keywords(self.text, self.max_keywords)


class Lane(Protocol):
    """One way of finding items. Hits come best first, without duplicates, scored on its own scale."""

    @property
    def name(self) -> str:
        """Return the lane's name in timings, warnings and `RetrievedItem.lanes`."""
        ...

    async def search(self, query: LaneQuery) -> Sequence[RetrievedItem]:
        """Return at most `query.limit` passages."""
        ...


@dataclass(frozen=True, slots=True)
class VectorLane:
    """The chunks nearest to the question, without their texts; the score is cosine similarity."""

    chunks: ChunkStore
    embedder: Embedder
    name: str = VECTOR

    async def search(self, query: LaneQuery) -> Sequence[RetrievedItem]:
        """Embed the question and search the scope's vectors."""
        vector = await self.embedder.embed_query(query.text)
        return _without_texts(
            await self.chunks.nearest(query.scope, vector, query.limit, query.filters)
        )


@dataclass(frozen=True, slots=True)
class KeywordLane:
    """The chunks that contain most of the question's keywords, without their texts."""

    chunks: ChunkStore
    name: str = KEYWORD

    async def search(self, query: LaneQuery) -> Sequence[RetrievedItem]:
        """Search the scope's texts; a question of stop words only finds nothing."""
        if not query.keywords:
            return []
        return _without_texts(
            await self.chunks.keyword_matches(
                query.scope, query.keywords, query.limit, query.filters
            )
        )


def _without_texts(found: Scored) -> list[RetrievedItem]:
    return [
        RetrievedItem(ItemKind.CHUNK, id_, "", max(score, LEAST_SCORE))
        for id_, score in zip(found.ids, found.scores, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class LaneRun:
    """The result of one lane: its hits or its error, and its time in milliseconds.

    `graph_items`: entities and relations that go with the hits.
    `entity_confidence`: how far the names in the question speak for the hits, 0..1.
    """

    name: str
    hits: Sequence[RetrievedItem]
    milliseconds: float
    error: Exception | None = None
    graph_items: GraphItems | None = None
    entity_confidence: float = 0.0


def time_out(name: str, deadline: float) -> LaneRun:
    """Return the run of a lane that was given up after `deadline` seconds."""
    return LaneRun(name, [], deadline * 1000, TimeoutError(f"no answer within {deadline:g} s"))


async def run_lanes(lanes: Sequence[Lane], query: LaneQuery, deadline: float) -> list[LaneRun]:
    """Run lanes at the same time and return the result of each, in the given order.

    A lane that fails does not disturb the others. A lane that is not done after `deadline` seconds is cancelled,
    and the call does not wait until it has noticed.

    Raises:
        InputError, ConflictError: the request or the stored vectors are wrong; going on without the lane
            would hide that from the caller.
    """
    tasks = await gather_until(deadline, [_time_lane(lane, query) for lane in lanes])
    return [
        task.result() if task.done() and not task.cancelled() else time_out(lane.name, deadline)
        for lane, task in zip(lanes, tasks, strict=True)
    ]


def log_found(
    logger: logging.Logger,
    label: str,
    query: LaneQuery,
    *,
    counts: Mapping[str, int],
    found: Sequence[tuple[str | None, float]],
    timings: Mapping[str, float],
) -> None:
    """Log a search: question, keywords, counts, the first three results, and timings; at level INFO.

    Args:
        logger: the logger of the search.
        label: name of the search.
        query: the question with its keywords.
        counts: lane → number of hits.
        found: file name and score of the results, best first.
        timings: milliseconds by step.
    """
    if logger.isEnabledFor(logging.INFO):
        logger.info(
            "%s query=%r keywords=%s found=%s returned=%d top=%s ms=%s",
            label,
            query.text,
            query.keywords,
            dict(counts),
            len(found),
            [(name, round(score, 4)) for name, score in found[:3]],
            {step: round(milliseconds, 1) for step, milliseconds in timings.items()},
        )


def counts_of(runs: Iterable[LaneRun]) -> dict[str, int]:
    """Return lane → number of hits."""
    return {run.name: len(run.hits) for run in runs}


def list_scores(items: Iterable[RetrievedItem]) -> list[tuple[str | None, float]]:
    """Return the file name and score of each item; LangChain's loaders put the name under `source`."""
    return [
        (item.metadata.get("filename") or item.metadata.get("source"), item.score) for item in items
    ]


async def _time_lane(lane: Lane, query: LaneQuery) -> LaneRun:
    started = time.perf_counter()
    hits: Sequence[RetrievedItem] = []
    error: Exception | None = None
    try:
        hits = await lane.search(query)
    except (InputError, ConflictError):
        raise
    except Exception as failure:  # noqa: BLE001 - a lane is an edge: its failure is data from here on
        error = failure
    return LaneRun(lane.name, hits, milliseconds_since(started), error)


@contextmanager
def go_without(part: str, warnings: list[CodedWarning], code: WarningCode) -> Iterator[None]:
    """Go on without a part that fails: add a warning and the cause, and log both, once a question.

    Raises:
        InputError, ConflictError: the request or the stored vectors are at fault.
    """
    try:
        yield
    except (InputError, ConflictError):
        raise
    except Exception as error:  # noqa: BLE001 - a part is an edge, like a lane
        warning, failed = CodedWarning(code), {part: error}
        if warning not in warnings:
            warnings += distinct([warning, *find_causes(failed)])
            log_failures(failed)
            log_warning(warning)


def find_causes(failed: Mapping[str, BaseException]) -> list[CodedWarning]:
    """Return why lanes failed, each cause once; unexpected errors are only logged."""
    causes = list[CodedWarning]()
    for name, error in failed.items():
        if isinstance(error, SextantError):
            causes.append(CodedWarning(WarningCode.CAUSE, {"reason": describe_reason(error)}))
        elif isinstance(error, TimeoutError):
            causes.append(CodedWarning(WarningCode.LANE_TIMED_OUT, {"lane": name}))
    return distinct(causes)


def log_warning(warning: CodedWarning) -> None:
    """Log a warning in Chinese, the language of the log of searches."""
    _log.warning(warning.in_language("zh"))


def log_failures(failed: Mapping[str, BaseException]) -> None:
    """Log a line for each failed lane, and the traceback of each cause once."""
    traced = set[str]()
    for name, error in failed.items():
        cause = repr(error)
        _log.error("lane %s failed: %s", name, error, exc_info=None if cause in traced else error)
        traced.add(cause)
