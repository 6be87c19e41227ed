"""The entities of one knowledge base: show, merge, list possible duplicates, and extract more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from sextant.domain import CAMEL_CASE
from sextant.domain.errors import ConflictError, EntityNotFound, OptionInvalid
from sextant.domain.graph import Entity, Relation
from sextant.domain.questions import in_range
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning
from sextant.facade.chunk_reader import EntityQuote, quote_mention, quote_relation
from sextant.retrievers.cursor import ListingKey
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.community_store import CommunityPages, ListedCommunity
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.extraction import ExtractionStore
from sextant.stores.graph.name_comparison import (
    CandidateCursor,
    MergeCandidate,
    ResolutionStore,
)
from sextant.stores.graph.name_decisions import (
    Merge,
    MergedName,
    MergeReader,
    decide_one,
    decide_two,
)
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import Hop
from sextant.stores.graph.record import GraphRecord
from sextant.stores.graph.transfer import entities_by_external_id
from sextant.stores.postgresql.database import Database
from sextant.text.characters import clean_text

if TYPE_CHECKING:
    from sextant.ingestion.graph.extraction.cost import CostEstimate
    from sextant.ingestion.graph.extraction.extract_llm import ExtractionReport, ModelExtractor
    from sextant.ingestion.progress import OnCount


@dataclass(frozen=True, slots=True)
class Duplicates:
    """A page of pairs, the likeliest first; `next_cursor` leads to the next page, None on the last."""

    pairs: tuple[MergeCandidate, ...]
    next_cursor: str | None


_MOST_EVIDENCE = 3  # passages that are shown for a relation


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """A relation of an entity, with the names of both ends.

    `evidence` are some of the passages that state it; empty if only an import states it.
    """

    __pydantic_config__ = CAMEL_CASE

    source: str
    relation_type: str
    target: str
    weight: float
    description: str
    source_id: UUID
    target_id: UUID
    evidence: tuple[EntityQuote, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity with its relations, mentions, merged names and communities."""

    entity: Entity
    relations: list[EntityRelation]
    mentions: list[EntityQuote]
    merged: list[MergedName]
    communities: list[ListedCommunity]


class Entities:
    """The entities of one knowledge base; see `Sextant.entities`.

    Args:
        database: holds the entities.
        scope: the knowledge base.
        extractor: opens the extractor with its chat model.
        refresh: brings the graph up to date; returns warnings.
    """

    def __init__(
        self,
        database: Database,
        scope: Scope,
        *,
        extractor: Callable[[], Awaitable[ModelExtractor]],
        refresh: Callable[[], Awaitable[tuple[CodedWarning, ...]]],
    ) -> None:
        self._database = database
        self._scope = scope
        self._extractor = extractor
        self._refresh = refresh
        self._graph = PostgresGraph(database)
        self._record = GraphRecord(database)
        self._names = ResolutionStore(database)
        self._merges = MergeReader(database)
        self._communities = CommunityPages(database)
        self._chunks = ChunkStore(database)

    async def top(self, limit: int = 50) -> list[Entity]:
        """Return the entities with most relations.

        Raises:
            OptionInvalid: the limit is out of range.
        """
        return await self._graph.top_entities(self._scope, in_range(limit, "limit"))

    async def show(self, entity: str, limit: int = 20) -> EntityView:
        """Return an entity with its relations, passages and merged names.

        Args:
            entity: a name, alias or id, or the user's own id of it.
            limit: most relations (the heaviest) and passages (the first).

        Raises:
            OptionInvalid: no entity or several have this name.
        """
        return await self._view(await self._find(entity, "entity"), in_range(limit, "limit"))

    async def get(self, entity_id: UUID | str, limit: int = 20) -> EntityView:
        """Return an entity as `show` does, by its id only.

        Raises:
            EntityNotFound: there is no entity of that id.
        """
        try:
            found = await self._graph.get_entities(self._scope, [UUID(str(entity_id))])
        except ValueError:
            found = []
        if not found:
            raise EntityNotFound(
                f"No entity {str(entity_id)[:80]} in this knowledge base.",
                next_step="Search for it; what supported it may have been deleted.",
                field="entity_id",
            )
        return await self._view(found[0], in_range(limit, "limit"))

    async def duplicates(self, limit: int = 50, cursor: str | None = None) -> Duplicates:
        """Return pairs of entities that may be one thing, the likeliest first; `merge` decides.

        Args:
            limit: pairs on the page.
            cursor: `next_cursor` of the page before; pairs decided meanwhile are left out.

        Raises:
            OptionInvalid: the limit is out of range, or the cursor is not of this list.
        """
        limit = in_range(limit, "limit")
        listing = ListingKey.of("duplicates", self._scope.user_id, self._scope.graph_id)
        after = listing.after(cursor, CandidateCursor)
        found = await self._names.candidates(self._scope, limit + 1, after=after)
        return Duplicates(*listing.page(found, limit, CandidateCursor.of))

    async def merge(self, entity: str, into: str, reason: str = "") -> Entity:
        """Merge an entity into another and return it; `unmerge` undoes this.

        Raises:
            OptionInvalid: no entity or several have one of the names, or both are one already.
            ConflictError: the last text that mentions them was deleted meanwhile.
        """
        one, other = await self._find(entity, "entity"), await self._find(into, "into")
        if one.id == other.id:
            raise OptionInvalid(
                f"{entity:.80} and {into:.80} are one entity already.",
                next_step="`sextant entities show` lists what was merged.",
                field="into",
            )
        decision = Merge(
            await self._resolve_id(entity, one),
            await self._resolve_id(into, other),
            reason or "by hand",
        )
        async with self._record.writing(self._scope) as writer:
            await decide_one(writer, [decision])
        await self._refresh()
        merged = await self._graph.get_entities(self._scope, [decision.from_id])
        if not merged:
            raise ConflictError(
                f"What mentions {entity:.80} was deleted meanwhile, and the entity with it.",
                next_step="Nothing to do.",
                field="entity",
            )
        return merged[0]

    async def unmerge(self, entity: str) -> None:
        """Undo a merge for good: it is not repeated automatically.

        Args:
            entity: the name or id of the entity that was merged into another.

        Raises:
            OptionInvalid: it is not merged into another.
        """
        found = await self._find(entity, "entity")
        external_id = await self._resolve_id(entity, found)
        async with self._record.writing(self._scope) as writer:
            done = await decide_two(writer, external_id)
        if not done:
            merged = await self._merges.merged(self._scope, found.id)
            names = ", ".join((one.name or str(one.from_id))[:80] for one in merged[:5])
            raise OptionInvalid(
                f"{found.name:.80} is not merged into another entity.",
                next_step=f"Merged into it: {names}. Name one of these."
                if merged
                else "`sextant entities show` lists what was merged.",
                field="entity",
            )
        await self._refresh()

    async def estimate(self) -> CostEstimate:
        """Return an estimate of the tokens of `extract`, without calling the model."""
        from sextant.ingestion.graph.extraction.extract_llm import estimate_extraction

        return await estimate_extraction(self._database, self._scope, self._database.settings)

    async def extract(
        self,
        *,
        budget_tokens: int | None = None,
        on_progress: OnCount | None = None,
    ) -> ExtractionReport:
        """Let the chat model read the passages that it has not read or failed on.

        Args:
            budget_tokens: tokens after which to stop; by default those of the settings.
            on_progress: called with (passages tried, passages to try).

        Raises:
            SettingsInvalid: no chat model is set.
        """
        extractor = await self._extractor()
        extractor.budget.tokens = budget_tokens or extractor.budget.tokens
        await ExtractionStore(self._database).retry(self._scope)
        report = await extractor.extract(self._scope, on_progress=on_progress)
        warnings = await self._refresh() if report.done else ()
        return replace(report, coded_warnings=report.coded_warnings + warnings)

    async def _view(self, found: Entity, limit: int) -> EntityView:
        mentions, merged, relations, communities = await asyncio.gather(
            self._merges.mentions(self._scope, found.id, limit),
            self._merges.merged(self._scope, found.id),
            self._relations(found, limit),
            self._communities.holding(self._scope, found.id),
        )
        return EntityView(found, relations, list(map(quote_mention, mentions)), merged, communities)

    async def _find(self, named: str, field: str) -> Entity:
        named = clean_text(named)
        try:
            found = await self._graph.get_entities(self._scope, [UUID(named)])
        except ValueError:
            hits = await self._graph.entities_by_alias(self._scope, [named])
            found = list({hit.entity.id: hit.entity for hit in hits}.values())
            if not found:
                async with self._record.reading(self._scope) as graph:
                    known = await entities_by_external_id(graph, [named])
                wanted = [one.id for one in known.values()]
                found = await self._graph.get_entities(self._scope, wanted)
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(f"{one.id} ({one.name}, {one.entity_type})" for one in found[:5])
            raise OptionInvalid(
                f"{len(found)} entities are called {named!r:.80}.",
                next_step=f"Give an id: {ids}.",
                field=field,
            )
        near = await self._graph.entities_by_words(self._scope, [named[:1000]], 3)
        names = ", ".join(hit.entity.name for hit in near)
        raise OptionInvalid(
            f"No entity is called {named!r:.80}.",
            next_step=f"Did you mean: {names}?"
            if near
            else "`sextant entities search` finds entities by words of their names.",
            field=field,
        )

    async def _resolve_id(self, named: str, found: Entity) -> UUID:
        """Return the id of the named entity itself, which may be merged into `found`."""
        try:
            given_id = UUID(named)
        except ValueError:
            given_id = entity_id(self._scope, named)
        members = await self._merges.component(self._scope, [found.id])
        return given_id if any(member.id == given_id for member in members) else found.id

    async def _relations(self, entity: Entity, limit: int) -> list[EntityRelation]:
        hops = await self._graph.neighbourhood(self._scope, [entity.id], per_node=limit)
        relations = await self._graph.get_relations(self._scope, [hop.relation_id for hop in hops])
        by_id = {one.id: one for one in relations}
        chunk_ids = [chunk_id for one in relations for chunk_id in one.chunk_ids[:_MOST_EVIDENCE]]
        ends = {end for hop in hops for end in (hop.source_id, hop.target_id)}
        named, chunks = await asyncio.gather(
            self._graph.get_entities(self._scope, sorted(ends)),
            self._chunks.get(self._scope, chunk_ids),
        )
        names = {one.id: one.name for one in named}
        passages = {one.id: one for one in chunks}
        return [
            _describe_relation(hop, by_id.get(hop.relation_id), names, passages) for hop in hops
        ]


def _describe_relation(
    hop: Hop,
    relation: Relation | None,
    names: Mapping[UUID, str],
    passages: Mapping[UUID, StoredChunk],
) -> EntityRelation:
    source, target = names.get(hop.source_id, "?"), names.get(hop.target_id, "?")
    chunk_ids = relation.chunk_ids[:_MOST_EVIDENCE] if relation else ()
    return EntityRelation(
        source,
        hop.relation_type,
        target,
        hop.weight,
        relation.description if relation else "",
        hop.source_id,
        hop.target_id,
        tuple(
            quote_relation(passages[chunk_id], (source, target))
            for chunk_id in chunk_ids
            if chunk_id in passages
        ),
    )
