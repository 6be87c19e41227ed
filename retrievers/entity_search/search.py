"""Entity search: one ranking of the entities that the lanes found, in pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sextant.domain.graph import Entity
from sextant.domain.questions import check_question, require_type
from sextant.domain.retrieval import LEAST_SCORE
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.telemetry import milliseconds_since, observe_search
from sextant.domain.versioned_cache import VersionedCache
from sextant.domain.warnings import (
    CodedWarning,
    WarningCode,
    collect_warnings,
    distinct,
    word_warnings,
)
from sextant.models.protocols import Embedder, Reranker
from sextant.retrievers.cursor import ListingKey, Position
from sextant.retrievers.entity_search.lanes import (
    LANES,
    EntityLanes,
    EntityQuestion,
    heaviest_relations,
)
from sextant.retrievers.entity_search.options import FusionWeights, SearchOptions, blend
from sextant.retrievers.entity_search.response import (
    Hit,
    SearchDebug,
    SearchResponse,
    constants_of,
    result_of,
)
from sextant.retrievers.lanes.warnings import find_unknown_types
from sextant.retrievers.ranking.reranking import RerankLimits, judge, reorder
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.protocol import GraphCopies, GraphStore
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import EntityStamp, KnowledgeBases, entity_stamp
from sextant.text.characters import language_of


@dataclass(frozen=True, slots=True)
class EntityRanking:
    """All hits of a search, best first, with counts, timings and warnings; `taken_at` is when it was taken."""

    hits: tuple[Hit, ...]
    found: Mapping[str, int]
    timings: Mapping[str, float]
    warnings: tuple[CodedWarning, ...]
    taken_at: datetime

    def after(self, position: Position | None) -> Sequence[Hit]:
        """Return the hits after a position."""
        if position is None:
            return self.hits
        ids = [str(hit.entity.id) for hit in self.hits]
        return self.hits[position.end_in(ids, [hit.score for hit in self.hits]) :]


# Rankings that are cached for all users, and for one; the latest of a search counts twice.
_CACHED_RANKINGS, _CACHED_PER_USER = 1024, 128


@dataclass(frozen=True, slots=True)
class _CheckedEntitySearch:
    """A checked request; `key` identifies the search, `position` is where its page begins."""

    question: EntityQuestion
    options: SearchOptions
    weights: FusionWeights
    key: ListingKey
    position: Position | None


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a ranking; `last` is its last hit if there are more."""

    hits: Sequence[Hit]
    ranking: EntityRanking
    last: Hit | None
    is_cached: bool


class EntitySearch:
    """Searches the entities of knowledge bases; one object serves all users.

    A search has about sixty results at most: twenty by meaning, twenty by words, and twenty around the best by
    meaning. `next_cursor` leads through them. The next page continues the same ranking; if that is no longer cached,
    a new one of the entities that existed then, so that new entities move nothing.

    Args:
        database: PostgreSQL, which knows the state of the knowledge base.
        graph: the store that the lanes search.
        embedder: embeds the question.
        settings: constants.
        reranker: for `SearchOptions(rerank=True)`.
        copies: knows the state of the Neo4j copy, if `graph` searches one.
        clock: a monotonic clock in seconds, for the cache.
    """

    def __init__(
        self,
        database: Database,
        graph: GraphStore,
        embedder: Embedder,
        settings: Settings,
        *,
        reranker: Reranker | None = None,
        copies: GraphCopies | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        options = settings.entity_search
        self._database, self._graph, self._settings = database, graph, settings
        self._chunks, self._copies = ChunkStore(database), copies
        deadline = settings.retrieval.lane_timeout
        self._lanes = EntityLanes(graph, embedder, options, deadline)
        self._reranker = reranker
        # By user, search and moment; and the latest of each search under the moment None.
        self._rankings: VersionedCache[
            tuple[str, ListingKey, datetime | None], str, EntityRanking
        ] = VersionedCache(
            _CACHED_RANKINGS,
            lifetime=options.cache_seconds,
            owner=lambda key: key[0],
            most_per_owner=_CACHED_PER_USER,
            clock=clock,
        )

    async def search(
        self, query: str, scope: Scope, options: SearchOptions | None = None
    ) -> SearchResponse:
        """Search one knowledge base for entities.

        Args:
            query: the question, 1 to `settings.limits.question_chars` characters.
            scope: whose data, and which knowledge base.
            options: see `SearchOptions`.

        Raises:
            QuestionInvalid, OptionInvalid: the request is at fault.
            GraphNotFound: this user has no knowledge base of that id.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: neither meaning nor words could be searched.
        """
        started = time.perf_counter()
        with observe_search("entities") as report:
            search = await self._checked(query, scope, options or SearchOptions())
            page = await self._page(search)
            related = await self._related(search, page.hits)
            ranking = page.ranking
            report.timings = {} if page.is_cached else ranking.timings
            report.degraded = bool(ranking.warnings)
            warnings = list(ranking.warnings)
            types = search.question.only.entity_types
            unknown = types and await find_unknown_types(self._chunks, scope, types)
            if unknown:
                warnings.append(unknown)
        elapsed = milliseconds_since(started)
        explain, last, debug = search.options.explain, page.last, None
        if explain:
            debug = SearchDebug(
                constants=constants_of(self._settings, search.weights),
                found=dict(ranking.found),
                timings={**ranking.timings, "total": elapsed},
                cached=page.is_cached,
            )
        cursor = last and search.key.cursor(Position(ranking.taken_at, last.score, last.entity.id))
        language = language_of(search.question.question)
        return SearchResponse(
            results=tuple(
                result_of(hit, related.get(hit.entity.id, ()), explain=explain) for hit in page.hits
            ),
            total=len(page.hits),
            query=search.question.question,
            search_time_ms=round(elapsed),
            next_cursor=cursor,
            warnings=word_warnings(warnings, language) or None,
            coded_warnings=tuple(warnings) or None,
            debug=debug,
        )

    async def _checked(
        self, query: str, scope: Scope, options: SearchOptions
    ) -> _CheckedEntitySearch:
        require_type(options, SearchOptions, "options", "top_k=10")
        question = check_question(query, self._settings.limits.question_chars)
        search_settings = self._settings.entity_search
        weights = options.weights or FusionWeights(
            search_settings.vector_weight, search_settings.fts_weight, search_settings.graph_weight
        )
        only = options.only()
        key = ListingKey.of(scope, question, weights, only, options.rerank)
        position = key.after(options.cursor, Position)
        entity_question = EntityQuestion(scope, question, await self._stamp(scope), only)
        return _CheckedEntitySearch(entity_question, options, weights, key, position)

    async def _stamp(self, scope: Scope) -> EntityStamp:
        stamp = await entity_stamp(self._database, scope)
        if stamp is not None:
            return stamp if self._copies is None else stamp.of_copy(await self._copies.state(scope))
        await KnowledgeBases(self._database).require(scope)
        return await self._stamp(scope)  # it was made meanwhile

    async def _page(self, search: _CheckedEntitySearch) -> _Page:
        version, ranking, is_cached = await self._ranking(search)
        rest, size = ranking.after(search.position), search.options.top_k
        last = rest[size - 1] if len(rest) > size else None
        hits = rest[:size]
        if version != search.question.stamp.version and hits:
            # Hits of an older ranking with their entities as they are now; without deleted ones.
            ids = [hit.entity.id for hit in hits]
            by_id = await self._load_entities(search.question.scope, ids)
            found = (hit for hit in hits if hit.entity.id in by_id)
            hits = [replace(hit, entity=by_id[hit.entity.id]) for hit in found]
        return _Page(hits, ranking, last, is_cached)

    async def _ranking(self, search: _CheckedEntitySearch) -> tuple[str, EntityRanking, bool]:
        """Return the version and the ranking of the page before, or of now; and whether it was cached."""
        question, position, stamp = search.question, search.position, search.question.stamp
        latest = (question.scope.user_id, search.key, None)
        if position is None:
            taken_at, known = stamp.taken_at, self._rankings.peek(latest)
            if known is not None and known[0] == stamp.version:
                return *known, True
        else:
            taken_at = position.taken_at
            if (known := self._rankings.peek((*latest[:2], taken_at))) is not None:
                return *known, True
            question = replace(question, only=question.only.at(taken_at))
        ranking = await self._rank(question, search.weights, taken_at, rerank=search.options.rerank)
        if not ranking.warnings:
            self._rankings.put((*latest[:2], taken_at), stamp.version, ranking)
            self._rankings.put(latest, stamp.version, ranking)
        return stamp.version, ranking, False

    async def _rank(
        self, question: EntityQuestion, weights: FusionWeights, taken_at: datetime, *, rerank: bool
    ) -> EntityRanking:
        """Return every entity that a lane found, ranked by `blend` or by the reranker.

        Raises:
            EmbeddingModelChanged, RetrievalError: see `EntityLanes.run`.
        """
        with collect_warnings() as notices:
            found = await self._lanes.run(question)
        warnings = [*found.warnings, *notices]
        started = time.perf_counter()
        by_lane = {lane: found.hits.get(lane, []) for lane in LANES}
        hits = [
            Hit(
                found.entities[one.key],
                one,
                one.score,
                path=found.paths.get(one.key),
                named=one.key in found.named,
            )
            for one in blend(by_lane, weights.by_lane, self._settings.entity_search.bonus)
        ]
        found.timings["fusion"] = milliseconds_since(started)
        if rerank:
            started = time.perf_counter()
            hits = await self._rerank(question.question, hits, warnings)
            found.timings["rerank"] = milliseconds_since(started)
        counts = {lane: len(found.hits.get(lane, ())) for lane in LANES}
        return EntityRanking(
            tuple(hits), counts, found.timings, tuple(distinct(warnings)), taken_at
        )

    async def _rerank(
        self, question: str, hits: list[Hit], warnings: list[CodedWarning]
    ) -> list[Hit]:
        """Return the hits in the reranker's order; unchanged, and with a warning, if it is late or fails."""
        if self._reranker is None:
            warnings.append(CodedWarning(WarningCode.RERANKER_MISSING))
            return hits
        texts = [f"{hit.entity.name}: {hit.entity.description}" for hit in hits]
        limits = RerankLimits.of(self._settings.retrieval)
        judgement = await judge(self._reranker, question, texts, limits)
        if judgement.warning is not None:
            warnings.append(judgement.warning)
        if not judgement.scores:
            return hits
        scores = dict(enumerate(judgement.scores))
        order = reorder(judgement.scores, [max(hit.score, LEAST_SCORE) for hit in hits])
        reranked = [
            replace(hits[index], score=score, rerank=scores.get(index)) for index, score in order
        ]
        return sorted(reranked, key=lambda hit: (-hit.score, hit.entity.id))

    async def _load_entities(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Entity]:
        return {entity.id: entity for entity in await self._graph.get_entities(scope, ids)}

    async def _related(
        self, search: _CheckedEntitySearch, hits: Sequence[Hit]
    ) -> dict[UUID, list[tuple[Entity, str]]]:
        """Return for each hit the entities of its heaviest relations, each once, with the relation's type."""
        if not search.options.include_related or not hits:
            return {}
        scope, limit = search.question.scope, self._settings.entity_search.related
        relations = await heaviest_relations(self._graph, scope, [hit.entity.id for hit in hits])
        types_of: dict[UUID, dict[UUID, str]] = {}
        for id_, hops in relations.items():
            types: dict[UUID, str] = {}
            for hop in hops:
                types.setdefault(hop.other_end(id_), hop.relation_type)
            types_of[id_] = dict(list(types.items())[:limit])
        wanted = sorted({other for types in types_of.values() for other in types})
        by_id = await self._load_entities(scope, wanted)
        return {
            id_: [(by_id[other], type_) for other, type_ in types.items() if other in by_id]
            for id_, types in types_of.items()
        }
