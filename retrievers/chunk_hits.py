"""Chunks that were found, as a caller sees them: their metadata, their entities, what is around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from domain.errors import InputError, SextantError
from domain.retrieval import RetrievedItem
from domain.scope import Scope
from retrievers.chunk_ranking import filled
from retrievers.ranking.metadata import Ranked, Share
from stores.chunks import ChunkStore, StoredChunk
from stores.database import Database
from stores.neighbours import Mentioned, entities_of, linked_to

SECTION, LINKED = "section", "linked"
NO_ENTITIES = "知识图谱暂不可用，结果不含实体与关联块"


class HitModel(BaseModel):
    """In camelCase over the wire."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class Entity(HitModel):
    """An entity that a chunk mentions."""

    name: str
    type: str


class Neighbour(HitModel):
    """A chunk around a hit: `section`, beside it in its section; `linked`, by shared entities."""

    chunk_id: str
    document_id: str
    external_id: str | None
    relation: str
    text: str
    semantic_title: str
    parent_section_path: tuple[str, ...]


class Signal(HitModel):
    """What one signal gave: `contribution` is its part of the hybrid score, `rank` the lane's place."""

    rank: int | None = None
    raw: float
    share: float
    weight: float
    contribution: float


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
    entities: tuple[Entity, ...]
    section_id: str
    parent_section_path: tuple[str, ...]
    modality: str
    page: int | None
    created_at: str
    neighbors: tuple[Neighbour, ...] | None = None
    signals: dict[str, Signal] | None = None


_Mentioned = Mapping[UUID, tuple[Mentioned, ...]]
_Around = Mapping[str, tuple[Neighbour, ...]]


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
        warnings: list[str],
        *,
        neighbors: bool,
        debug: bool = False,
    ) -> tuple[SearchHit, ...]:
        """The chunks in their order; without entities, and a warning says so, if the graph is away.

        Args:
            scope: whose.
            best: what was found, with texts and metadata.
            warnings: where a warning goes.
            neighbors: with the chunks beside each and linked to it.
            debug: with what each signal gave.
        """
        mentioned, around = await self._around(scope, best, warnings, neighbors=neighbors)
        return tuple(_hit(one, mentioned, around, debug=debug) for one in best)

    async def of_mode(
        self,
        scope: Scope,
        items: Sequence[RetrievedItem],
        warnings: list[str],
        *,
        neighbors: bool,
        debug: bool = False,
    ) -> tuple[SearchHit, ...]:
        """The same for chunks that a mode has found, which come without all their metadata."""
        stored = await self._chunks.get(scope, [UUID(one.id) for one in items])
        there = {str(chunk.id): chunk for chunk in stored}
        best = [_by_lanes(filled(one, there[one.id])) for one in items if one.id in there]
        return await self.of(scope, best, warnings, neighbors=neighbors, debug=debug)

    async def _around(
        self, scope: Scope, best: Sequence[Ranked], warnings: list[str], *, neighbors: bool
    ) -> tuple[_Mentioned, _Around | None]:
        """The entities of the hits, and what stands around them; without, if the graph is away."""
        ids = [UUID(one.item.id) for one in best]
        try:
            mentioned = await entities_of(self._database, scope, ids) if ids else {}
            around = await self._neighbours(scope, best) if neighbors else None
        except InputError:
            raise
        except SextantError:
            warnings.append(NO_ENTITIES)
            return {}, {} if neighbors else None
        return mentioned, around

    async def _neighbours(self, scope: Scope, best: Sequence[Ranked]) -> _Around:
        """Of each hit the chunks beside it in its section, then those linked by shared entities."""
        own = [UUID(one.item.id) for one in best]
        linked = await linked_to(self._database, scope, own) if own else {}
        ids = {one.item.id: list(_relations(one.item, linked)) for one in best}
        wanted = list(dict.fromkeys(chunk for pairs in ids.values() for chunk, _ in pairs))
        stored = {chunk.id: chunk for chunk in await self._chunks.get(scope, wanted)}
        return {
            hit: tuple(_neighbour(stored[chunk], how) for chunk, how in pairs if chunk in stored)
            for hit, pairs in ids.items()
        }


def _by_lanes(item: RetrievedItem) -> Ranked:
    """Its lanes stand where a search of chunks has its signals."""
    signals = {
        name: Share(lane.score, lane.score, lane.weight, lane.contribution or 0.0)
        for name, lane in item.lanes.items()
    }
    return Ranked(item, signals, item.score)


def _relations(
    item: RetrievedItem, linked: Mapping[UUID, Sequence[UUID]]
) -> Iterator[tuple[UUID, str]]:
    beside = [UUID(own) for own in item.metadata["neighbours"]]
    yield from ((own, SECTION) for own in beside)
    yield from ((own, LINKED) for own in linked.get(UUID(item.id), ()) if own not in beside)


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


def _hit(one: Ranked, mentioned: _Mentioned, around: _Around | None, *, debug: bool) -> SearchHit:
    item, metadata = one.item, one.item.metadata
    scores = {name: signal.share for name, signal in one.signals.items()}
    scores |= {"hybrid": one.hybrid, "final": item.score}
    if one.rerank is not None:
        scores["rerank"] = one.rerank
    return SearchHit(
        chunk_id=item.id,
        document_id=item.document_id or "",
        external_id=item.external_id,
        filename=metadata["filename"],
        text=item.text,
        score=item.score,
        scores=scores,
        semantic_title=metadata["title"],
        summary=metadata["summary"],
        topics=metadata["topics"],
        topic_labels=metadata["topic_labels"],
        keywords=metadata["keywords"],
        tags=metadata["tags"],
        entities=_entities(item, mentioned),
        section_id=metadata["section_id"],
        parent_section_path=metadata["section_path"],
        modality=metadata["modality"],
        page=metadata["page"],
        created_at=metadata["created_at"],
        neighbors=None if around is None else around.get(item.id, ()),
        signals=_signals(one) if debug else None,
    )


def _signals(one: Ranked) -> dict[str, Signal]:
    ranks = {name: lane.rank for name, lane in one.item.lanes.items()}
    return {
        name: Signal(rank=ranks.get(name), **asdict(signal)) for name, signal in one.signals.items()
    }


def _entities(item: RetrievedItem, mentioned: _Mentioned) -> tuple[Entity, ...]:
    """Those of the graph with their types; where it has none, the names that ingestion noted."""
    known = mentioned.get(UUID(item.id))
    if known is None:
        return tuple(Entity(name=name, type="TERM") for name in item.metadata["entities"])
    return tuple(Entity(name=one.name, type=one.type) for one in known)
