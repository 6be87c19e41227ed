"""Searching entities by meaning, words and the graph around them.

Also here: one ranking of what the lanes found.
"""

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
    EntityHits,
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
    """Every result of a search, best first, and how it went."""

    hits: tuple[Hit, ...]
    found: Mapping[str, int]
    timings: Mapping[str, float]
    warnings: tuple[CodedWarning, ...]

    def after(self, position: Position | None) -> Sequence[Hit]:
        """Return the hits after a position."""
        if position is None:
            return self.hits
        ids = [str(hit.entity.id) for hit in self.hits]
        return self.hits[position.end_in(ids, [hit.score for hit in self.hits]) :]


@dataclass(frozen=True, slots=True)
class EntityRanker:
    """Runs the lanes and makes one ranking of them."""

    lanes: EntityLanes
    settings: Settings
    reranker: Reranker | None

    async def rank(
        self, question: EntityQuestion, weights: FusionWeights, *, rerank: bool
    ) -> EntityRanking:
        """Return every entity that a lane found, by `blend` or in the reranking model's order.

        Raises:
            EmbeddingModelChanged, RetrievalError: see `EntityLanes.run`.
        """
        with collect_warnings() as notices:
            found = await self.lanes.run(question)
        warnings = [*found.warnings, *notices]
        started = time.perf_counter()
        hits = _fuse_lanes(found, weights, self.settings.entity_search.bonus)
        found.timings["fusion"] = milliseconds_since(started)
        if rerank:
            started = time.perf_counter()
            hits = await self._reranked(question.question, hits, warnings)
            found.timings["rerank"] = milliseconds_since(started)
        counts = {lane: len(found.hits.get(lane, ())) for lane in LANES}
        return EntityRanking(tuple(hits), counts, found.timings, tuple(distinct(warnings)))

    async def _reranked(
        self, question: str, hits: list[Hit], warnings: list[CodedWarning]
    ) -> list[Hit]:
        """Return the hits in the model's order; as they were, and a warning, when it is late or fails."""
        if self.reranker is None:
            warnings.append(CodedWarning(WarningCode.RERANKER_MISSING))
            return hits
        texts = [f"{hit.entity.name}: {hit.entity.description}" for hit in hits]
        limits = RerankLimits.of(self.settings.retrieval)
        judgement = await judge(self.reranker, question, texts, limits)
        if judgement.warning is not None:
            warnings.append(judgement.warning)
        if not judgement.scores:
            return hits
        scores = dict(enumerate(judgement.scores))
        order = reorder(judgement.scores, [max(hit.score, LEAST_SCORE) for hit in hits])
        changed = [
            replace(hits[index], score=score, rerank=scores.get(index)) for index, score in order
        ]
        return sorted(changed, key=lambda hit: (-hit.score, hit.entity.id))


def _fuse_lanes(found: EntityHits, weights: FusionWeights, bonus: float) -> list[Hit]:
    blended = blend({lane: found.hits.get(lane, []) for lane in LANES}, weights.by_lane, bonus)
    return [
        Hit(
            found.entities[one.key],
            one,
            one.score,
            path=found.paths.get(one.key),
            named=one.key in found.named,
        )
        for one in blended
    ]


# Rankings kept over all users, and of one; those of the newest version twice.
_CACHED_RANKINGS, _CACHED_PER_USER = 1024, 128


@dataclass(frozen=True, slots=True)
class TimedRanking:
    """A ranking, and when it was taken."""

    ranking: EntityRanking
    taken_at: datetime


@dataclass(frozen=True, slots=True)
class _CheckedEntitySearch:
    """A checked request; `key` tells the search from others, `position` is where its page begins."""

    asked: EntityQuestion
    options: SearchOptions
    weights: FusionWeights
    key: ListingKey
    position: Position | None


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a ranking, and where it ends if there are more."""

    hits: Sequence[Hit]
    kept: TimedRanking
    end: Hit | None
    cached: bool


class EntitySearch:
    """Searches the entities of knowledge bases; one object serves all users.

    A search has at most some sixty results: the twenty nearest by meaning, twenty by words, and
    twenty around the best of the former. `next_cursor` leads through them: the next page goes on in
    the ranking that the page before came from, and where that is not at hand any more, in one taken
    anew of the entities that had come by then, so that what is added meanwhile moves nothing.

    Args:
        database: the record, which knows when something was written.
        graph: the store that the lanes search.
        embedder: turns the question into a vector.
        settings: constants.
        reranker: for `SearchOptions(rerank=True)`.
        copies: tells when a copy that `graph` searches has changed by itself.
        clock: seconds that only grow, for the cache.
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
        lanes = EntityLanes(graph, embedder, options, deadline)
        self._ranker = EntityRanker(lanes, settings, reranker)
        # By user, search and moment, and once more as the latest of the search, without a moment.
        self._rankings: VersionedCache[
            tuple[str, ListingKey, datetime | None], str, TimedRanking
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
            ranking = page.kept.ranking
            report.timings = {} if page.cached else ranking.timings
            report.degraded = bool(ranking.warnings)
            warnings = (*ranking.warnings, *await self._of_filters(search.asked))
        elapsed = milliseconds_since(started)
        return _response(search, page, related, self._settings, warnings=warnings, elapsed=elapsed)

    async def _of_filters(self, question: EntityQuestion) -> tuple[CodedWarning, ...]:
        """Return what there is to say of a filter that lets nothing through."""
        types = question.only.entity_types
        unknown = types and await find_unknown_types(self._chunks, question.scope, types)
        return (unknown,) if unknown else ()

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
        position = None if options.cursor is None else key.after(options.cursor, Position)
        entity_question = EntityQuestion(scope, question, await self._stamp(scope), only)
        return _CheckedEntitySearch(entity_question, options, weights, key, position)

    async def _stamp(self, scope: Scope) -> EntityStamp:
        stamp = await entity_stamp(self._database, scope)
        if stamp is not None:
            return stamp if self._copies is None else stamp.of_copy(await self._copies.state(scope))
        await KnowledgeBases(self._database).require(scope)
        return await self._stamp(scope)  # it was made meanwhile

    async def _page(self, search: _CheckedEntitySearch) -> _Page:
        version, ranking, cached = await self._ranking(search)
        rest, size = ranking.ranking.after(search.position), search.options.top_k
        end = rest[size - 1] if len(rest) > size else None
        hits = rest[:size]
        if version != search.asked.stamp.version:
            hits = await self._as_now(search.asked, hits)
        return _Page(hits, ranking, end, cached)

    async def _ranking(self, search: _CheckedEntitySearch) -> tuple[str, TimedRanking, bool]:
        """Return the ranking that the page before came from, or the present one, with its version; and whether it was kept."""
        question, position, stamp = search.asked, search.position, search.asked.stamp
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
        ranking = await self._ranker.rank(question, search.weights, rerank=search.options.rerank)
        timed = TimedRanking(ranking, taken_at)
        if not ranking.warnings:
            self._rankings.put((*latest[:2], taken_at), stamp.version, timed)
            self._rankings.put(latest, stamp.version, timed)
        return stamp.version, timed, False

    async def _as_now(self, question: EntityQuestion, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return hits of an older ranking with the entities as they are now; without those that are gone."""
        if not hits:
            return hits
        ids = [hit.entity.id for hit in hits]
        there = {one.id: one for one in await self._graph.get_entities(question.scope, ids)}
        return [replace(hit, entity=there[hit.entity.id]) for hit in hits if hit.entity.id in there]

    async def _related(
        self, search: _CheckedEntitySearch, hits: Sequence[Hit]
    ) -> dict[UUID, list[tuple[Entity, str]]]:
        """Return the entities that each hit has its heaviest relations with, each once."""
        if not search.options.include_related or not hits:
            return {}
        scope = search.asked.scope
        most = self._settings.entity_search.related
        around = await heaviest_relations(self._graph, scope, [hit.entity.id for hit in hits])
        ends: dict[UUID, dict[UUID, str]] = {}
        for one, hops in around.items():
            kinds: dict[UUID, str] = {}
            for hop in hops:
                kinds.setdefault(hop.other_end(one), hop.relation_type)
            ends[one] = dict(list(kinds.items())[:most])
        wanted = sorted({other for kinds in ends.values() for other in kinds})
        there = {one.id: one for one in await self._graph.get_entities(scope, wanted)}
        return {
            one: [(there[other], kind) for other, kind in kinds.items() if other in there]
            for one, kinds in ends.items()
        }


def _response(
    search: _CheckedEntitySearch,
    page: _Page,
    related: dict[UUID, list[tuple[Entity, str]]],
    settings: Settings,
    *,
    warnings: tuple[CodedWarning, ...],
    elapsed: float,
) -> SearchResponse:
    explain, ranking, end = search.options.explain, page.kept.ranking, page.end
    results = [result_of(hit, related.get(hit.entity.id, ()), explain=explain) for hit in page.hits]
    debug = None
    if explain:
        debug = SearchDebug(
            constants=constants_of(settings, search.weights),
            found=dict(ranking.found),
            timings={**ranking.timings, "total": elapsed},
            cached=page.cached,
        )
    return SearchResponse(
        results=tuple(results),
        total=len(results),
        query=search.asked.question,
        search_time_ms=round(elapsed),
        next_cursor=end
        and search.key.cursor(Position(page.kept.taken_at, end.score, end.entity.id)),
        warnings=word_warnings(warnings, language_of(search.asked.question)) or None,
        coded_warnings=warnings or None,
        debug=debug,
    )
