"""A knowledge base's graph as its owner looks at it: its size, its copy in Neo4j, a part of it, its communities."""

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
from sextant.stores.graph.communities.store import (
    CommunityCursor,
    CommunityPages,
    CommunityStore,
    ListedCommunity,
)
from sextant.stores.graph.graph_factory import open_graph_store
from sextant.stores.graph.neo4j.projector import Projector, open_projector
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import GraphStore, Hop
from sextant.stores.graph.record import GraphCounts, GraphRecord
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.ingestion.graph.upkeep import GraphUpkeep, Refreshed
    from sextant.ingestion.progress import OnStage

OnProgress = Callable[[int], None]

# As far as anybody can follow a drawing, and as a walk costs.
DEEPEST, MOST_ENTITIES = 2, 500
# Of each of the entities with most relations so many heaviest relations are read, and those among these
# entities kept.
_BETWEEN = 50


@dataclass(frozen=True, slots=True)
class GraphStatus:
    """The sizes of a graph in the record and in Neo4j, where one is named.

    Attributes:
        record: what PostgreSQL holds; that is what counts.
        version: how often the graph has changed.
        neo4j: version of the server; None where none is named or it does not answer.
        projection: what Neo4j holds; None where it holds nothing of it.
        waiting: changes that are still to be copied to Neo4j.
        problem: why Neo4j could not be asked.
    """

    record: GraphCounts
    version: int
    neo4j: str | None = None
    projection: GraphCounts | None = None
    waiting: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """A part of a graph that can be drawn; `hops` join the entities, `cut`: there is more around them."""

    entities: tuple[Entity, ...]
    hops: tuple[Hop, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class SubGraph:
    """The heaviest relations around an entity; `hops` come nearest first, then by falling weight."""

    center: Entity
    entities: tuple[Entity, ...]
    hops: tuple[Hop, ...]


class KnowledgeGraph:
    """The graph of one knowledge base."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope

    async def status(self) -> GraphStatus:
        """Return how large the graph is, and how far Neo4j has followed; if it is down, the reason."""
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
        """Copy the changes that wait to Neo4j; returns how many rows that were.

        Raises:
            OptionInvalid: the settings name no Neo4j server.
            GraphStoreUnavailable: it does not answer; everything still waits.
        """
        async with open_projector(self._database) as projector:
            return await _require_projector(projector).sync(self._scope, on_progress)

    async def rebuild(self, on_progress: OnProgress | None = None) -> int:
        """Copy the whole graph to Neo4j again; like `sync`."""
        async with open_projector(self._database) as projector:
            return await _require_projector(projector).rebuild(self._scope, on_progress)

    async def around(self, name: str, *, depth: int = 1, per_node: int = 10) -> SubGraph:
        """Return the part of the graph around an entity.

        Args:
            name: its name, an alias, or its id.
            depth: 1 or 2.
            per_node: relations of each entity, the heaviest.

        Raises:
            EntityNotFound: no entity is called so.
        """
        async with open_graph_store(self._database.settings, self._database) as graph:
            center = (await self._find(graph, name, "entity"))[0]
            hops = await graph.neighbourhood(
                self._scope, [center.id], depth=depth, per_node=per_node
            )
            ends = {end for hop in hops for end in (hop.source_id, hop.target_id)}
            entities = _each_once(await graph.get_entities(self._scope, sorted(ends | {center.id})))
        return SubGraph(center, tuple(entities.values()), _between(hops, entities))

    async def part(
        self, seed: str | None = None, *, depth: int = 1, limit: int = 100
    ) -> DrawnGraph:
        """At most `limit` entities and the relations that join them.

        Args:
            seed: what it is around: a name, an alias or an id. Without, the entities with most relations.
            depth: 1 or 2 relations away.
            limit: most entities, 1 to 500.

        Raises:
            EntityNotFound: no entity is called so.
            OptionInvalid: the depth or the limit is no such number.
        """
        in_range(depth, "depth", most=DEEPEST)
        in_range(limit, "limit", most=MOST_ENTITIES)
        graph = PostgresGraph(self._database)
        starts = await self._starts(graph, seed, limit)
        start_ids = [one.id for one in starts]
        per_node = limit if seed else _BETWEEN
        hops = await graph.neighbourhood(self._scope, start_ids, depth=depth, per_node=per_node)
        entity_ids = dict.fromkeys(start_ids)
        if seed:  # nearest and heaviest first, so that what is cut is the farthest
            entity_ids |= dict.fromkeys(
                end for hop in hops for end in (hop.source_id, hop.target_id)
            )
        ids = list(entity_ids)[:limit]
        inside = _between(hops, ids)
        entities = _each_once(await graph.get_entities(self._scope, ids))
        joined = _between(inside, entities)
        return DrawnGraph(tuple(entities.values()), joined, len(inside) < len(hops))

    async def _starts(self, graph: PostgresGraph, seed: str | None, limit: int) -> list[Entity]:
        if seed is None:
            return await graph.top_entities(self._scope, limit)
        return (await self._find(graph, seed, "seed"))[:limit]

    async def _find(self, graph: GraphStore, named: str, field: str) -> list[Entity]:
        """Return the entities of a name, an alias or an id; raises EntityNotFound where there is none."""
        try:
            found = list(await graph.get_entities(self._scope, [UUID(named)]))
        except ValueError:
            found = [hit.entity for hit in await graph.entities_by_alias(self._scope, [named])]
        if not found:
            raise EntityNotFound(
                f"No entity is called {named!r:.80}.",
                next_step="Search for entities by words of their names.",
                field=field,
            )
        return found


def _each_once(entities: Sequence[Entity]) -> dict[UUID, Entity]:
    """Return entities by their ids; one that was merged since its id was read is the one that it was merged into."""
    return {one.id: one for one in entities}


def _between(hops: Sequence[Hop], ids: Collection[UUID]) -> tuple[Hop, ...]:
    """Return the relations both of whose ends are there."""
    there = frozenset(ids)
    return tuple(hop for hop in hops if {hop.source_id, hop.target_id} <= there)


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
    """A community with its report, the best connected members, and the passages it cites.

    `writer` is the chat model that wrote the report, empty for one of the documents' sentences; `note`
    says why it is not what was asked for. `parts` are the communities directly inside it.
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
        database: where they are.
        scope: whose they are.
        upkeep: opens what brings them up to date.
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
        """Return those of a level (0 is the coarsest) or all, by level, rating falling, id.

        Raises:
            OptionInvalid: the level is no number that there can be.
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
        """Return the next of `all` after a place, without their members; of a level, or directly inside one.

        Raises:
            OptionInvalid: the level or the limit is no number that there can be.
        """
        limit = in_range(limit, "limit")
        level = in_range(level, "level", least=0) if level is not None else None
        return await self._pages.page(
            self._scope, limit, level=level, parent_id=parent_id, after=after
        )

    async def show(self, named: str) -> CommunityView:
        """Return one community by its id, or by as much of the id's beginning as no other has.

        Raises:
            OptionInvalid: there is none of that id, or more than one.
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
        """Bring them up to date; done by itself after every ingestion, import and deletion.

        Args:
            full: partition the whole graph again, and rewrite reports by another writer than the
                settings now name.
            on_progress: called with (stage, done, total; 0 where the total is not known).

        Raises:
            ModelUnavailable: the embedding model is gone; communities are there, some vectors not.
            DatabaseUnavailable: the next call goes on from there.
        """
        async with self._upkeep() as upkeep:
            return await upkeep.refresh(self._scope, on_progress, full=full)
