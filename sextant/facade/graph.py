"""The graph of a knowledge base: its size, its copy in Neo4j, parts of it, and its communities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from sextant.domain.errors import EntityNotFound, GraphStoreUnavailable, OptionInvalid
from sextant.domain.graph import Community, Entity
from sextant.domain.questions import in_range
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.community_store import (
    CommunityCursor,
    CommunityPages,
    CommunityStore,
    ListedCommunity,
)
from sextant.stores.graph.neo4j.projector import Projector, open_projector
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import Hop
from sextant.stores.graph.record import GraphCounts, GraphRecord
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.ingestion.graph.upkeep import GraphUpkeep, Refreshed
    from sextant.ingestion.progress import OnStage

OnProgress = Callable[[int], None]

DEEPEST, MOST_ENTITIES = 2, 500  # of a part of a graph, for readable drawings and cheap walks


@dataclass(frozen=True, slots=True)
class GraphStatus:
    """The sizes of a graph in the record and in Neo4j, where one is named.

    Attributes:
        record: the sizes in PostgreSQL.
        version: the number of changes of the graph.
        neo4j: version of the Neo4j server; None if none is configured or it does not answer.
        projection: the sizes in Neo4j; None if it does not have the graph.
        waiting: changes that are not copied to Neo4j yet.
        problem: why Neo4j does not answer.
    """

    record: GraphCounts
    version: int
    neo4j: str | None = None
    projection: GraphCounts | None = None
    waiting: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """A part of a graph: entities, the one in the middle first; the relations between them, the nearest and heaviest first.

    `cut`: relations lead beyond it.
    """

    entities: tuple[Entity, ...]
    hops: tuple[Hop, ...]
    cut: bool


class KnowledgeGraph:
    """The graph of one knowledge base."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope

    async def status(self) -> GraphStatus:
        """Return the size of the graph and the state of Neo4j's copy."""
        record = GraphRecord(self._database)
        counts, version = await record.counts(self._scope), await record.version(self._scope)
        async with open_projector(self._database) as projector:
            if projector is None:
                return GraphStatus(counts, version)
            try:
                projected = await projector.status(self._scope)
            except GraphStoreUnavailable as error:
                waiting = await projector.waiting(self._scope)
                return GraphStatus(counts, version, waiting=waiting, problem=str(error))
        return GraphStatus(
            counts, version, projected.server, projected.projection, projected.waiting
        )

    async def sync(self, on_progress: OnProgress | None = None) -> int:
        """Copy changes to Neo4j; return the number of rows.

        Raises:
            OptionInvalid: no Neo4j server is configured.
            GraphStoreUnavailable: Neo4j does not answer; the changes wait.
        """
        async with open_projector(self._database) as projector:
            return await _require_projector(projector).sync(self._scope, on_progress)

    async def rebuild(self, on_progress: OnProgress | None = None) -> int:
        """Copy the whole graph to Neo4j again; like `sync`."""
        async with open_projector(self._database) as projector:
            return await _require_projector(projector).rebuild(self._scope, on_progress)

    async def part(
        self, seed: str | None = None, *, depth: int = 1, limit: int = 100
    ) -> DrawnGraph:
        """Return at most `limit` entities and the relations that join them.

        Args:
            seed: the entity in the middle: a name, an alias or an id. None: the entities with most relations.
            depth: 1 or 2 relations away.
            limit: most entities, 1 to 500.

        Raises:
            EntityNotFound: no entity has this name.
            OptionInvalid: the depth or the limit is out of range.
        """
        in_range(depth, "depth", most=DEEPEST)
        in_range(limit, "limit", most=MOST_ENTITIES)
        graph = PostgresGraph(self._database)
        starts = await self._starts(graph, seed, limit)
        start_ids = [one.id for one in starts]
        # Without a seed, the 50 heaviest relations of each of the best connected entities.
        per_node = limit if seed else 50
        hops = await graph.neighbourhood(self._scope, start_ids, depth=depth, per_node=per_node)
        entity_ids = dict.fromkeys(start_ids)
        if seed:  # nearest and heaviest first; the farthest are cut
            entity_ids |= dict.fromkeys(
                end for hop in hops for end in (hop.source_id, hop.target_id)
            )
        ids = list(entity_ids)[:limit]
        inside = _between(hops, ids)
        # Several ids may have been merged into one entity meanwhile.
        entities = {one.id: one for one in await graph.get_entities(self._scope, ids)}
        joined = _between(inside, entities)
        return DrawnGraph(tuple(entities.values()), joined, len(inside) < len(hops))

    async def _starts(self, graph: PostgresGraph, seed: str | None, limit: int) -> list[Entity]:
        if seed is None:
            return await graph.top_entities(self._scope, limit)
        try:
            found = await graph.get_entities(self._scope, [UUID(seed)])
        except ValueError:
            found = [hit.entity for hit in await graph.entities_by_alias(self._scope, [seed])]
        if not found:
            raise EntityNotFound(
                f"No entity is called {seed!r:.80}.",
                next_step="`sextant entities search` finds entities by words of their names.",
                field="seed",
            )
        return found[:limit]


def _between(hops: Sequence[Hop], ids: Collection[UUID]) -> tuple[Hop, ...]:
    """Return the relations with both ends among `ids`."""
    known = frozenset(ids)
    return tuple(hop for hop in hops if {hop.source_id, hop.target_id} <= known)


def _require_projector(projector: Projector | None) -> Projector:
    if projector is None:
        raise OptionInvalid(
            "No Neo4j server is named; the graph is in PostgreSQL alone.",
            next_step="Set NEO4J_URI (and NEO4J_PASSWORD) first.",
            field="neo4j_uri",
        )
    return projector


@dataclass(frozen=True, slots=True)
class CommunityView:
    """A community with its report, its best connected members, and the cited passages.

    `writer` is the chat model that wrote the report, empty for a report of the documents' sentences; `note` says why it
    was not written as configured. `parts` are the communities directly inside it.
    """

    community: Community
    writer: str
    note: str
    entities: tuple[Entity, ...]
    parts: tuple[Community, ...]
    cited: tuple[StoredChunk, ...]


class Communities:
    """The communities of one knowledge base.

    Args:
        database: holds the communities.
        scope: the knowledge base.
        upkeep: opens the upkeep of graphs.
    """

    def __init__(
        self,
        database: Database,
        scope: Scope,
        upkeep: Callable[[], AbstractAsyncContextManager[GraphUpkeep]],
    ) -> None:
        self._graph = PostgresGraph(database)
        self._reports = CommunityStore(database)
        self._pages = CommunityPages(database)
        self._chunks = ChunkStore(database)
        self._scope = scope
        self._upkeep = upkeep

    async def all(self, level: int | None = None) -> list[Community]:
        """Return the communities of a level (0 is the coarsest) or all, by level, falling rating and id.

        Raises:
            OptionInvalid: the level is out of range.
        """
        if level is not None:
            level = in_range(level, "level", least=0)
        return await self._graph.communities(self._scope, level)

    async def page(
        self,
        limit: int = 50,
        *,
        level: int | None = None,
        parent_id: UUID | None = None,
        after: CommunityCursor | None = None,
    ) -> list[ListedCommunity]:
        """Return a page of `all` after a cursor, without members; of a level, or directly inside a community.

        Raises:
            OptionInvalid: the level or the limit is out of range.
        """
        limit = in_range(limit, "limit")
        level = in_range(level, "level", least=0) if level is not None else None
        return await self._pages.page(
            self._scope, limit, level=level, parent_id=parent_id, after=after
        )

    async def show(self, named: str) -> CommunityView:
        """Return a community by its id or a unique beginning of it.

        Raises:
            OptionInvalid: no community or several match.
        """
        known = await self.all()
        found = [one for one in known if str(one.id).startswith(named.lower())] if named else []
        if len(found) != 1:
            raise OptionInvalid(
                f"{'More than one' if found else 'No'} community has an id that begins with {named!r}.",
                next_step="`sextant communities` lists them.",
                field="community",
            )
        [community] = found
        members = await self._graph.get_entities(self._scope, community.entity_ids)
        cited = dict.fromkeys(chunk_id for one in community.findings for chunk_id in one.chunk_ids)
        writer, note = await self._reports.origin(self._scope, community.id)
        return CommunityView(
            community,
            writer,
            note,
            tuple(sorted(members, key=lambda one: (-one.degree, one.name)))[:30],
            tuple(one for one in known if one.parent_id == community.id),
            tuple(await self._chunks.get(self._scope, list(cited))),
        )

    async def build(self, *, full: bool = False, on_progress: OnStage | None = None) -> Refreshed:
        """Bring the communities up to date, as every ingestion, import and deletion does.

        Args:
            full: partition the whole graph again, and rewrite reports that another writer than the configured one has
                written.
            on_progress: called with (stage, done, total); total 0: not known.

        Raises:
            ModelUnavailable: the embedding model is down; communities are stored, some without vectors.
            DatabaseUnavailable: the next call goes on from there.
        """
        async with self._upkeep() as upkeep:
            return await upkeep.refresh(self._scope, on_progress, full=full)
