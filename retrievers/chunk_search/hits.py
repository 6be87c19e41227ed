"""Search hits: chunks with their metadata, entities and neighbours, as a caller gets them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.retrievers.chunk_search.ranking import RankedChunk
from sextant.retrievers.lanes.lane import go_without
from sextant.retrievers.ranking.fusion import Share
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import ChunkEntity, StoredChunk, entities_of, load_linked_chunks
from sextant.stores.postgresql.database import Database

SECTION, LINKED = "section", "linked"


class HitModel(BaseModel):
    """Serialized in camelCase."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class Neighbour(HitModel):
    """A neighbour of a hit: `section`, beside it in its section, or `linked`, by shared entities."""

    chunk_id: str
    document_id: str
    external_id: str | None
    relation: str
    text: str
    semantic_title: str
    parent_section_path: tuple[str, ...]


class SearchHit(HitModel):
    """A chunk with its metadata and scores: the share of each signal, `hybrid`, `rerank` and `final`."""

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


_Entities = Mapping[UUID, tuple[ChunkEntity, ...]]
_Neighbours = Mapping[UUID, tuple[Neighbour, ...]]


class ChunkHits:
    """Loads hits with their metadata, entities and neighbours.

    Args:
        database: where the chunks are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._chunks = ChunkStore(database)

    async def of(
        self,
        scope: Scope,
        best: Sequence[RankedChunk],
        warnings: list[CodedWarning],
        *,
        neighbors: bool,
        debug: bool = False,
    ) -> tuple[SearchHit, ...]:
        """Return hits of ranked chunks, in order; deleted chunks are left out.

        Without entities, and with a warning, if the graph does not answer.

        Args:
            scope: whose data, and which knowledge base.
            best: the ranked chunks.
            warnings: warnings are added here.
            neighbors: add the chunks beside and linked to each hit.
            debug: add the values of each signal.
        """
        if not best:
            return ()
        ids = [UUID(ranked.id) for ranked in best]
        # Statements that are sent together share a round trip.
        stored, entities = await asyncio.gather(
            self._chunks.get(scope, ids), self._load_entities(scope, ids, warnings)
        )
        nearby = await self._load_neighbours(scope, stored, warnings) if neighbors else None
        by_id = {str(chunk.id): chunk for chunk in stored}
        return tuple(
            _hit(ranked, by_id[ranked.id], entities, nearby, debug=debug)
            for ranked in best
            if ranked.id in by_id
        )

    async def _load_entities(
        self, scope: Scope, ids: Sequence[UUID], warnings: list[CodedWarning]
    ) -> _Entities:
        with go_without("graph", warnings, WarningCode.GRAPH_STORE_FAILED):
            return await entities_of(self._database, scope, ids)
        return {}

    async def _load_neighbours(
        self, scope: Scope, hits: Sequence[StoredChunk], warnings: list[CodedWarning]
    ) -> _Neighbours:
        """Return hit → chunks beside it in its section, then chunks linked by shared entities."""
        linked: Mapping[UUID, Sequence[UUID]] = {}
        with go_without("graph", warnings, WarningCode.GRAPH_STORE_FAILED):
            linked = await load_linked_chunks(self._database, scope, [hit.id for hit in hits])
        ids = dict[UUID, list[tuple[UUID, str]]]()
        for hit in hits:
            others = (one for one in linked.get(hit.id, ()) if one not in hit.neighbours)
            ids[hit.id] = [(one, SECTION) for one in hit.neighbours]
            ids[hit.id] += [(one, LINKED) for one in others]
        wanted = list(dict.fromkeys(chunk for pairs in ids.values() for chunk, _ in pairs))
        stored = {chunk.id: chunk for chunk in await self._chunks.get(scope, wanted)}
        return {
            hit: tuple(_neighbour(stored[chunk], how) for chunk, how in pairs if chunk in stored)
            for hit, pairs in ids.items()
        }


def as_ranked(item: RetrievedItem) -> RankedChunk:
    """Return a passage that a mode has found as a ranked chunk; its lanes become the signals."""
    signals = {
        name: Share(lane.score, lane.score, lane.weight, lane.contribution or 0.0, lane.rank)
        for name, lane in item.lanes.items()
    }
    return RankedChunk(item.id, item.score, signals, item.score)


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
    ranked: RankedChunk,
    chunk: StoredChunk,
    entities: _Entities,
    nearby: _Neighbours | None,
    *,
    debug: bool,
) -> SearchHit:
    scores = {name: signal.share for name, signal in ranked.signals.items()}
    scores |= {"hybrid": ranked.hybrid, "final": ranked.score}
    if ranked.rerank is not None:
        scores["rerank"] = ranked.rerank
    # Ingestion notes the names of entities; the graph, where it has the chunk, also their types.
    noted = tuple(ChunkEntity(name, "TERM") for name in chunk.entities)
    return SearchHit(
        chunk_id=ranked.id,
        document_id=str(chunk.document_id),
        external_id=chunk.external_id,
        filename=chunk.filename,
        text=chunk.text,
        score=ranked.score,
        scores=scores,
        semantic_title=chunk.title or chunk.document_title,
        summary=chunk.summary,
        topics=chunk.topics,
        topic_labels=chunk.topic_labels,
        keywords=chunk.keywords,
        tags=chunk.tags,
        entities=entities.get(chunk.id, noted),
        section_id=str(chunk.section_id),
        parent_section_path=chunk.section_path,
        modality=str(chunk.modality),
        page=chunk.page,
        created_at=chunk.created_at.isoformat(),
        neighbors=None if nearby is None else nearby.get(chunk.id, ()),
        signals=dict(ranked.signals) if debug else None,
    )
