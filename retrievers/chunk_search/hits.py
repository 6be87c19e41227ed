"""Chunks that were found, as a caller sees them: their metadata, their entities, what is around them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from sextant.domain.errors import InputError, SextantError
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.retrievers.chunk_search.ranking import Ranked, Share
from sextant.retrievers.lanes.warnings import find_causes, log_failures
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import (
    ChunkEntity,
    StoredChunk,
    entities_of,
    load_linked_chunks,
)
from sextant.stores.postgresql.database import Database

SECTION, LINKED = "section", "linked"
_NO_GRAPH = CodedWarning(WarningCode.GRAPH_STORE_FAILED)


class HitModel(BaseModel):
    """In camelCase over the wire."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class Neighbour(HitModel):
    """A chunk around a hit: `section`, beside it in its section; `linked`, by shared entities."""

    chunk_id: str
    document_id: str
    external_id: str | None
    relation: str
    text: str
    semantic_title: str
    parent_section_path: tuple[str, ...]


class SearchHit(HitModel):
    """A chunk, its semantic metadata, and its scores: each signal's share, `hybrid`, `rerank`, `final`."""

    chunk_id: str
    document_id: str
    external_id: str | None
    filename: str
    text: str
    score: float
    scores: dict[str, float]
    semantic_title: str
    summary: str
    topics: tuple[str, ...]
    topic_labels: tuple[str, ...]
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    entities: tuple[ChunkEntity, ...]
    section_id: str
    parent_section_path: tuple[str, ...]
    modality: str
    page: int | None
    created_at: str
    neighbors: tuple[Neighbour, ...] | None = None
    signals: dict[str, Share] | None = None


_Mentioned = Mapping[UUID, tuple[ChunkEntity, ...]]
_Around = Mapping[UUID, tuple[Neighbour, ...]]


class ChunkHits:
    """Shows chunks with what the graph says of them.

    Args:
        database: where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._chunks = ChunkStore(database)

    async def of(
        self,
        scope: Scope,
        best: Sequence[Ranked],
        warnings: list[CodedWarning],
        *,
        neighbors: bool,
        debug: bool = False,
    ) -> tuple[SearchHit, ...]:
        """Return the chunks in their order as they are now; those that are gone are left out.

        Without entities, and a warning says so, if the graph is away.

        Args:
            scope: whose.
            best: what was found.
            warnings: where a warning goes.
            neighbors: with the chunks beside each and linked to it.
            debug: with what each signal gave.
        """
        if not best:
            return ()
        ids = [UUID(one.id) for one in best]
        # At the same moment, so that they share a round trip.
        stored, mentioned = await asyncio.gather(
            self._chunks.get(scope, ids), self._mentioned(scope, ids, warnings)
        )
        around = await self._around(scope, stored, warnings) if neighbors else None
        there = {str(chunk.id): chunk for chunk in stored}
        return tuple(
            _hit(one, there[one.id], mentioned, around, debug=debug)
            for one in best
            if one.id in there
        )

    async def of_mode(
        self,
        scope: Scope,
        items: Sequence[RetrievedItem],
        warnings: list[CodedWarning],
        *,
        neighbors: bool,
        debug: bool = False,
    ) -> tuple[SearchHit, ...]:
        """Return the hits of chunks that a mode has found."""
        best = [_by_lanes(item) for item in items]
        return await self.of(scope, best, warnings, neighbors=neighbors, debug=debug)

    async def _mentioned(
        self, scope: Scope, ids: Sequence[UUID], warnings: list[CodedWarning]
    ) -> _Mentioned:
        with _without_graph(warnings):
            return await entities_of(self._database, scope, ids)
        return {}

    async def _around(
        self, scope: Scope, hits: Sequence[StoredChunk], warnings: list[CodedWarning]
    ) -> _Around:
        """Of each hit the chunks beside it in its section, then those linked by shared entities."""
        linked: Mapping[UUID, Sequence[UUID]] = {}
        with _without_graph(warnings):
            linked = await load_linked_chunks(self._database, scope, [hit.id for hit in hits])
        ids = {hit.id: list(_relations(hit, linked)) for hit in hits}
        wanted = list(dict.fromkeys(chunk for pairs in ids.values() for chunk, _ in pairs))
        stored = {chunk.id: chunk for chunk in await self._chunks.get(scope, wanted)}
        return {
            hit: tuple(_neighbour(stored[chunk], how) for chunk, how in pairs if chunk in stored)
            for hit, pairs in ids.items()
        }


@contextmanager
def _without_graph(warnings: list[CodedWarning]) -> Iterator[None]:
    """Go on, with a warning, where the graph is away."""
    try:
        yield
    except InputError:
        raise
    except SextantError as error:
        if _NO_GRAPH not in warnings:
            warnings += [_NO_GRAPH, *find_causes({"graph": error})]
            log_failures({"graph": error})


def _by_lanes(item: RetrievedItem) -> Ranked:
    """Return its lanes stand where a search of chunks has its signals."""
    signals = {
        name: Share(lane.score, lane.score, lane.weight, lane.contribution or 0.0, lane.rank)
        for name, lane in item.lanes.items()
    }
    return Ranked(item.id, item.score, signals, item.score)


def _relations(
    hit: StoredChunk, linked: Mapping[UUID, Sequence[UUID]]
) -> Iterator[tuple[UUID, str]]:
    yield from ((neighbour, SECTION) for neighbour in hit.neighbours)
    yield from (
        (neighbour, LINKED)
        for neighbour in linked.get(hit.id, ())
        if neighbour not in hit.neighbours
    )


def _neighbour(chunk: StoredChunk, relation: str) -> Neighbour:
    return Neighbour(
        chunk_id=str(chunk.id),
        document_id=str(chunk.document_id),
        external_id=chunk.external_id,
        relation=relation,
        text=chunk.text,
        semantic_title=chunk.title or chunk.document_title,
        parent_section_path=chunk.section_path,
    )


def _hit(
    one: Ranked,
    chunk: StoredChunk,
    mentioned: _Mentioned,
    around: _Around | None,
    *,
    debug: bool,
) -> SearchHit:
    scores = {name: signal.share for name, signal in one.signals.items()}
    scores |= {"hybrid": one.hybrid, "final": one.score}
    if one.rerank is not None:
        scores["rerank"] = one.rerank
    return SearchHit(
        chunk_id=one.id,
        document_id=str(chunk.document_id),
        external_id=chunk.external_id,
        filename=chunk.filename,
        text=chunk.text,
        score=one.score,
        scores=scores,
        semantic_title=chunk.title or chunk.document_title,
        summary=chunk.summary,
        topics=chunk.topics,
        topic_labels=chunk.topic_labels,
        keywords=chunk.keywords,
        tags=chunk.tags,
        entities=_entities(chunk, mentioned),
        section_id=str(chunk.section_id),
        parent_section_path=chunk.section_path,
        modality=str(chunk.modality),
        page=chunk.page,
        created_at=chunk.created_at.isoformat(),
        neighbors=None if around is None else around.get(chunk.id, ()),
        signals=dict(one.signals) if debug else None,
    )


def _entities(chunk: StoredChunk, mentioned: _Mentioned) -> tuple[ChunkEntity, ...]:
    """Return those of the graph with their types; where it has none, the names that ingestion noted."""
    unknown = tuple(ChunkEntity(name, "TERM") for name in chunk.entities)
    return mentioned.get(chunk.id, unknown)
