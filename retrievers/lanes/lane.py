"""Lanes: the independent ways of finding something, and running several of them at once.

A lane of the stores is a small object with a name and one coroutine; those of the graph modes are functions
of a question that is read once for all of them (`sextant.retrievers.lanes.query_context`). Lanes do not know each
other; a mode is a choice of lanes (`sextant.retrievers.modes`), and fusion makes one ranking of what they found.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from sextant.domain.errors import ConflictError, InputError
from sextant.domain.questions import ChunkFilters
from sextant.domain.retrieval import (
    LEAST_SCORE,
    ItemKind,
    RetrievedItem,
)
from sextant.domain.scope import Scope
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.protocols import Embedder
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import ChunkHit
from sextant.stores.postgresql.values import Scored
from sextant.stores.postgresql.watched import gather_until
from sextant.text.analysis import extract_keywords
from sextant.text.characters import language_of

if TYPE_CHECKING:
    from sextant.retrievers.lanes.graph_items import GraphItems

VECTOR = "vector"
KEYWORD = "keyword"


@dataclass(frozen=True)
class LaneQuery:
    """What every lane gets: whose data, the question, how many passages are wanted, and which.

    `warnings` collects what a lane had to go without while it found something all the same.
    """

    scope: Scope
    text: str
    limit: int
    max_keywords: int = 10
    filters: ChunkFilters | None = None
    warnings: list[CodedWarning] = field(default_factory=list[CodedWarning], compare=False)

    def warn(self, code: WarningCode, params: Mapping[str, Any] | None = None) -> bool:
        """Note once that a lane went on without something; return whether that is new."""
        return self.note(CodedWarning(code, params or {}))

    def note(self, warning: CodedWarning) -> bool:
        """Note a warning once; return whether it is new."""
        if is_new := warning not in self.warnings:
            self.warnings.append(warning)
        return is_new

    @property
    def language(self) -> str:
        """Return the question's language, `zh` or `en`."""
        return language_of(self.text)

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
    """Chunks nearest to the question; the score is cosine similarity.

    Hits come by id, within filters with all that is known of them.
    """

    chunks: ChunkStore
    embedder: Embedder
    name: str = VECTOR

    async def search(self, query: LaneQuery) -> Sequence[RetrievedItem]:
        """Embed the question and search the scope's vectors."""
        vector = await self.embedder.embed_query(query.text)
        scope, k = query.scope, query.limit
        if query.filters is not None:
            hits = await self.chunks.vector_search(scope, vector, k, query.filters)
            return [as_item(hit) for hit in hits]
        return _by_id(await self.chunks.nearest(scope, vector, k))


@dataclass(frozen=True, slots=True)
class KeywordLane:
    """Chunks that contain the most of the question's keywords, by id; within filters with all that is known of them."""

    chunks: ChunkStore
    name: str = KEYWORD

    async def search(self, query: LaneQuery) -> Sequence[RetrievedItem]:
        """Search the scope's text; a question of stop words only finds nothing."""
        scope, words, k = query.scope, query.keywords, query.limit
        if not words:
            return []
        if query.filters is None:
            return _by_id(await self.chunks.keyword_matches(scope, words, k))
        hits = await self.chunks.keyword_search(scope, words, k, query.filters)
        return [as_item(hit) for hit in hits]


def _by_id(found: Scored) -> list[RetrievedItem]:
    return [
        RetrievedItem(ItemKind.CHUNK, id_, "", max(score, LEAST_SCORE))
        for id_, score in zip(found.ids, found.scores, strict=True)
    ]


def as_item(hit: ChunkHit) -> RetrievedItem:
    """Return a stored chunk as a retrieved item, with the metadata that answers and citations need."""
    chunk = hit.chunk
    return RetrievedItem(
        kind=ItemKind.CHUNK,
        id=str(chunk.id),
        text=chunk.text,
        score=max(hit.score, LEAST_SCORE),
        document_id=str(chunk.document_id),
        external_id=chunk.external_id,
        metadata={
            "filename": chunk.filename,
            "title": chunk.title or chunk.document_title,
            "document_title": chunk.document_title,
            "source": chunk.source,
            "section_path": chunk.section_path,
            "section_id": str(chunk.section_id),
            "page": chunk.page,
            "start": chunk.start,
            "end": chunk.end,
            "modality": str(chunk.modality),
            "ordinal": chunk.ordinal,
            "context": chunk.context,
            "summary": chunk.summary,
            "tags": chunk.tags,
            "topics": chunk.topics,
            "keywords": chunk.keywords,
            "entities": chunk.entities,
            "topic_labels": chunk.topic_labels,
            "neighbours": tuple(map(str, chunk.neighbours)),
            "created_at": chunk.created_at.isoformat(),
        },
    )


@dataclass(frozen=True, slots=True)
class LaneRun:
    """How one lane fared: its hits, or why there are none, and its time in milliseconds.

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
    """Run `lanes` at the same time and return how each fared, in the order given.

    A failing lane does not disturb the others. A lane that is not done after `deadline` seconds is
    cancelled and left behind without waiting for it to notice, so the call takes no longer.

    Raises:
        InputError, ConflictError: a lane says that the request or the stored vectors are at fault;
            going on without the lane would hide what the caller must mend.
    """
    tasks = await gather_until(deadline, [_time_lane(lane, query) for lane in lanes])
    return [
        task.result() if task.done() and not task.cancelled() else time_out(lane.name, deadline)
        for lane, task in zip(lanes, tasks, strict=True)
    ]


def log_found(
    logger: logging.Logger,
    what: str,
    query: LaneQuery,
    *,
    counts: Mapping[str, int],
    found: Sequence[tuple[str | None, float]],
    timings: Mapping[str, float],
) -> None:
    """Log a search: query, keywords, how many each lane found and were returned, the first three, and times.

    Args:
        logger: whose lines may have questions in them, so they are of level INFO.
        what: which search.
        query: the question with its keywords.
        counts: lane → how much it found.
        found: file name and score of what is returned, best first.
        timings: milliseconds by step.
    """
    if logger.isEnabledFor(logging.INFO):
        logger.info(
            "%s query=%r keywords=%s found=%s returned=%d top=%s ms=%s",
            what,
            query.text,
            query.keywords,
            dict(counts),
            len(found),
            [(name, round(score, 4)) for name, score in found[:3]],
            {step: round(milliseconds, 1) for step, milliseconds in timings.items()},
        )


def counts_of(runs: Iterable[LaneRun]) -> dict[str, int]:
    """Return lane → how much it found."""
    return {run.name: len(run.hits) for run in runs}


def list_scores(items: Iterable[RetrievedItem]) -> list[tuple[str | None, float]]:
    """File name and score of each item."""
    return [(_file_of(item), item.score) for item in items]


def _file_of(item: RetrievedItem) -> str | None:
    """Return its file's name; LangChain's loaders have it under `source`."""
    named: str | None = item.metadata.get("filename") or item.metadata.get("source")
    return named


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
