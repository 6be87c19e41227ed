"""Searching chunks with all that is known of them (seed 004): the `/search` of a knowledge base.

Vector and keyword lane run at the same time inside the filters; what they find is ranked by seven
signals (`retrievers.ranking.metadata`), then a reranker has its share where there is one; hits come
with their semantic metadata and, when asked for, with the chunks around them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from domain.errors import InputError, OptionInvalid, SextantError
from domain.filters import ChunkFilters
from domain.options import in_range
from domain.questions import checked_question
from domain.retrieval import RetrievedItem
from domain.scope import Scope
from domain.settings import Settings
from models.protocols import Embedder, Reranker
from retrievers.chunk_ranking import ChunkRanker, ChunkRanking
from retrievers.lanes.lane import KeywordLane, LaneQuery, VectorLane, as_item
from retrievers.pages.cursor import Position, decode, encode, identity
from retrievers.pages.hot import HotRankings
from retrievers.ranking.metadata import MetadataWeights, Ranked
from stores.chunks import ChunkHit, ChunkStore, StoredChunk
from stores.database import Database
from stores.documents import DocumentStore
from stores.neighbours import Mentioned, entities_of, linked_to

MOST = 1000
# Seed 000: each lane returns twice what is wanted; and enough to choose from when few are.
_OVERFETCH, _FEWEST = 2, 50
SECTION, LINKED = "section", "linked"
# For the next page: five minutes, as seed 001 has it; 1 KB a chunk, so 64 MB at the very most.
_KEPT_SECONDS, _KEPT, _KEPT_PER_USER, _KEPT_CHUNKS = 300.0, 64, 8, 1000
NO_ENTITIES = "知识图谱暂不可用，结果不含实体与关联块"


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class Entity(_Model):
    """An entity that a chunk mentions."""

    name: str
    type: str


class Neighbour(_Model):
    """A chunk around a hit: `section`, beside it in its section; `linked`, by shared entities."""

    chunk_id: str
    document_id: str
    external_id: str | None
    relation: str
    text: str
    semantic_title: str
    parent_section_path: tuple[str, ...]


class Signal(_Model):
    """What one signal gave: `contribution` is its part of the hybrid score, `rank` the lane's place."""

    rank: int | None = None
    raw: float
    share: float
    weight: float
    contribution: float


class SearchHit(_Model):
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


class SearchResponse(_Model):
    """A page of hits, best first; `total` is how many chunks the lanes found to choose from."""

    results: tuple[SearchHit, ...]
    next_cursor: str | None = None
    total: int
    search_time_ms: float
    warnings: tuple[str, ...] = ()
    debug: dict[str, Any] | None = None


class SearchRequest(_Model):
    """What is searched for. `ranking` names a preset or gives weights, `rerank` may leave it out.

    `cursor` is the `next_cursor` of the page before, of the same search.

    Raises:
        OptionInvalid: a field is unknown or of the wrong type; `field` names it.
    """

    query: str
    limit: int = Field(10, strict=True)
    filters: Mapping[str, Any] | ChunkFilters | None = None
    include_neighbors: bool = False
    rerank: bool = True
    ranking: str | Mapping[str, float] | MetadataWeights | None = Field(None)
    cursor: str | None = None
    debug: bool = False

    @model_validator(mode="wrap")
    @classmethod
    def _named(cls, values: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(values)
        except ValidationError as error:
            raise _unfit(error) from None


def _unfit(error: ValidationError) -> OptionInvalid:
    """The first field that is wrong."""
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][0]) if first["loc"] else "request"
    given = [one for one in error.errors() if one["loc"][:1] == first["loc"][:1]]
    said = first["msg"] if len(given) == 1 else "it is of no form that is taken"
    return OptionInvalid(
        f"`{field}` cannot be {first['input']!r:.60}: {said}.",
        next_step=f"A search takes {', '.join(SearchRequest.model_fields)}.",
        field=field,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A checked request; `key` tells the search from others, `position` is where its page begins."""

    query: LaneQuery
    weights: MetadataWeights
    rerank: bool
    key: bytes
    position: Position | None
    moment: datetime


class ChunkSearch:
    """Searches the chunks of knowledge bases; one object serves all users.

    `next_cursor` leads through all that the lanes found. The next page goes on in the ranking that
    the page before came from; where that is not in memory any more (five minutes, another process),
    in one taken anew, which what was written meanwhile may have changed.

    Args:
        database: where they are.
        embedder: turns the question into a vector.
        reranker: has 0.4 of the final score; None: the hybrid score is the final one.
        settings: constants of retrieval and limits; by default those of the database.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        reranker: Reranker | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._database = database
        self._chunks = ChunkStore(database)
        self._settings = settings or database.settings
        lanes = (VectorLane(self._chunks, embedder), KeywordLane(self._chunks))
        self._ranker = ChunkRanker(lanes, reranker, self._settings.retrieval)
        self._kept: HotRankings[ChunkRanking] = HotRankings(_KEPT_SECONDS, _KEPT, _KEPT_PER_USER)

    async def search(
        self, scope: Scope, request: SearchRequest, *, now: datetime | None = None
    ) -> SearchResponse:
        """The best `request.limit` chunks that the filters let through.

        Without its embedding model the search goes on by keywords, and says so; with a model of
        another dimension than the stored vectors it does not.

        Args:
            scope: whose data, and which knowledge base.
            request: what is searched for.
            now: the moment from which ages count; default: now.

        Raises:
            QuestionInvalid, OptionInvalid: the request is at fault.
            GraphNotFound: this user has no knowledge base of that id.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: both lanes failed; carries each cause.
        """
        started = time.perf_counter()
        asked = self._asked(scope, request, now or datetime.now(UTC))
        ranking, kept = await self._ranking(asked)
        if not ranking.ranked:
            await DocumentStore(self._database).require_graph(scope)
        rest = ranking.after(asked.position)
        page = rest[: request.limit]
        best = await self._as_now(scope, page) if kept else page
        warnings = list(ranking.warnings)
        mentioned, around = await self._around(scope, best, request, warnings)
        spent = (time.perf_counter() - started) * 1000
        return SearchResponse(
            results=tuple(_hit(one, mentioned, around, debug=request.debug) for one in best),
            next_cursor=_end(asked, page[-1]) if len(rest) > len(page) else None,
            total=len(ranking.ranked),
            search_time_ms=spent,
            warnings=tuple(dict.fromkeys(warnings)),
            debug=_debug(asked, ranking, spent) if request.debug else None,
        )

    def _asked(self, scope: Scope, request: SearchRequest, now: datetime) -> _Asked:
        weights = MetadataWeights.read(request.ranking)
        query = self._query(scope, request)
        key = identity(scope, query.text, query.limit, query.filters, weights, request.rerank)
        position = None if request.cursor is None else decode(request.cursor, key)
        moment = position.taken_at if position else now
        return _Asked(query, weights, request.rerank, key, position, moment)

    async def _ranking(self, asked: _Asked) -> tuple[ChunkRanking, bool]:
        """The ranking that the page before came from, or a new one; and whether it was kept."""
        user = asked.query.scope.user_id
        if asked.position and (known := self._kept.of(user, asked.key, asked.moment)):
            return known.ranking, True
        ranking = await self._ranker.rank(
            asked.query, asked.weights, asked.moment, rerank=asked.rerank
        )
        if len(ranking.ranked) <= _KEPT_CHUNKS:
            self._kept.keep(user, asked.key, ranking.bare(), "", asked.moment)
        return ranking, False

    async def _as_now(self, scope: Scope, page: Sequence[Ranked]) -> list[Ranked]:
        """Chunks of a kept ranking with their texts as they are now; without those that are gone."""
        found = await self._chunks.get(scope, [UUID(one.item.id) for one in page])
        there = {str(chunk.id): chunk for chunk in found}
        return [_filled(one, there[one.item.id]) for one in page if one.item.id in there]

    def _query(self, scope: Scope, request: SearchRequest) -> LaneQuery:
        limit = in_range(request.limit, "limit", most=MOST)
        return LaneQuery(
            scope=scope,
            text=checked_question(request.query, self._settings.limits.question_chars),
            limit=max(_OVERFETCH * limit, _FEWEST),
            max_keywords=self._settings.retrieval.max_keywords,
            filters=ChunkFilters.read(request.filters),
        )

    async def _around(
        self, scope: Scope, best: Sequence[Ranked], request: SearchRequest, warnings: list[str]
    ) -> tuple[_Mentioned, _Around | None]:
        """The entities of the hits, and what stands around them; without, if the graph is away."""
        ids = [UUID(one.item.id) for one in best]
        try:
            mentioned = await entities_of(self._database, scope, ids) if ids else {}
            around = await self._neighbours(scope, best) if request.include_neighbors else None
        except InputError:
            raise
        except SextantError:
            warnings.append(NO_ENTITIES)
            return {}, {} if request.include_neighbors else None
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


_Mentioned = Mapping[UUID, tuple[Mentioned, ...]]
_Around = Mapping[str, tuple[Neighbour, ...]]


def _filled(one: Ranked, chunk: StoredChunk) -> Ranked:
    return replace(
        one, item=replace(as_item(ChunkHit(chunk, one.item.score)), lanes=one.item.lanes)
    )


def _end(asked: _Asked, last: Ranked) -> str:
    return encode(Position(asked.moment, last.item.score, UUID(last.item.id)), asked.key)


def _debug(asked: _Asked, ranking: ChunkRanking, spent: float) -> dict[str, Any]:
    return {
        "keywords": asked.query.keywords,
        "weights": asdict(asked.weights),
        "timings": {**ranking.timings, "total": spent},
    }


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
    ranks = {name: lane.rank for name, lane in item.lanes.items()}
    signals = {
        name: Signal(rank=ranks.get(name), **asdict(signal)) for name, signal in one.signals.items()
    }
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
        signals=signals if debug else None,
    )


def _entities(item: RetrievedItem, mentioned: _Mentioned) -> tuple[Entity, ...]:
    """Those of the graph with their types; where it has none, the names that ingestion noted."""
    known = mentioned.get(UUID(item.id))
    if known is None:
        return tuple(Entity(name=name, type="TERM") for name in item.metadata["entities"])
    return tuple(Entity(name=one.name, type=one.type) for one in known)
