"""Open the graph store of the settings: the record, or Neo4j with the record as fall-back."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.graph import Community, Entity
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import WarningCode, warn
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.graph.neo4j.projection import Projection
from sextant.stores.graph.neo4j.projector import ProjectionProgress, read_progress
from sextant.stores.graph.neo4j.store import CopiedGraph, CopyStates, Neo4jGraph
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import (
    EVERY_ENTITY,
    EntityFilter,
    EntityHit,
    GraphStore,
    Hop,
    Vector,
)
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import Embedded
from sextant.stores.postgresql.watched import with_deadline

if TYPE_CHECKING:
    from sextant.stores.graph.neo4j.bolt import Bolt

T = TypeVar("T")

logger = logging.getLogger(__name__)


def graph_store(
    settings: Settings, database: Database, stack: AsyncExitStack
) -> PostgresGraph | ProjectedGraph:
    """Return the graph store of the settings; `stack` closes its connection to Neo4j.

    No connection is opened here, so a server that is down causes no delay.
    """
    if not settings.neo4j_uri:
        return PostgresGraph(database)
    from sextant.stores.graph.neo4j.bolt import (
        Bolt,  # the driver takes a quarter of a second to load
    )

    bolt = Bolt(settings)
    stack.push_async_callback(bolt.close)
    return ProjectedGraph(database, bolt, settings)


class ProjectedGraph:
    """A `GraphStore` and `GraphCopies` over Neo4j that falls back to the record.

    It falls back if Neo4j is unavailable or behind. Every question gets a warning
    (`sextant.stores.graph.protocol`); the log gets the beginning and the end. After a failure Neo4j is
    not asked for `neo4j_pause` seconds, so that a dead server does not delay every question. The owner
    of a copy is checked again after as many seconds, since another database may have replaced it.
    """

    def __init__(self, database: Database, bolt: Bolt, settings: Settings) -> None:
        self._database = database
        self._bolt = bolt
        self._settings = settings
        self._record = PostgresGraph(database)
        self._projection = Neo4jGraph(bolt, settings.retrieval)
        self._copies = CopiedGraph(bolt, GraphRecord(database))
        self._states = CopyStates(bolt, settings.neo4j_pause)
        self._paused_until = 0.0
        self._checked_until: dict[int, float] = {}  # by graph: until when its copy is trusted
        self._is_gone = False
        self._behind: set[Scope] = set()

    async def entities_by_alias(self, scope: Scope, names: Sequence[str]) -> list[EntityHit]:
        """See `GraphStore`."""
        return await self._ask(scope, lambda graph: graph.entities_by_alias(scope, names))

    async def entities_by_words(
        self, scope: Scope, words: Sequence[str], k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """See `GraphStore`."""
        return await self._ask(scope, lambda graph: graph.entities_by_words(scope, words, k, only))

    async def entities_by_vector(
        self, scope: Scope, vector: Vector, k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """See `GraphStore`."""
        return await self._ask(
            scope, lambda graph: graph.entities_by_vector(scope, vector, k, only)
        )

    async def get_entities(
        self, scope: Scope, ids: Sequence[UUID], only: EntityFilter = EVERY_ENTITY
    ) -> list[Entity]:
        """See `GraphStore`."""
        return await self._ask(scope, lambda graph: graph.get_entities(scope, ids, only))

    async def neighbourhood(
        self, scope: Scope, ids: Sequence[UUID], *, depth: int = 1, per_node: int = 10
    ) -> list[Hop]:
        """See `GraphStore`."""
        return await self._ask(
            scope, lambda graph: graph.neighbourhood(scope, ids, depth=depth, per_node=per_node)
        )

    async def state(self, scope: Scope) -> str:
        """See `GraphCopies`."""
        found = await self._try_neo4j(scope, lambda: self._state(scope))
        return "" if found is None else found[0]

    async def arrays(self, scope: Scope) -> GraphArrays:
        """See `GraphCopies`."""
        return await self._read_whole(self._copies.arrays(scope))

    async def reports(self, scope: Scope) -> tuple[list[Community], Embedded]:
        """See `GraphCopies`."""
        return await self._read_whole(self._copies.reports(scope))

    async def _read_whole(self, reading: Awaitable[T]) -> T:
        """Read a whole graph without a deadline; the caller falls back, since a part is of no use."""
        try:
            return await reading
        except GraphStoreUnavailable as error:
            self._note_gone(error)
            raise

    async def _state(self, scope: Scope) -> str:
        state = await self._states.of(scope)
        if state is None:
            raise _NotThere
        return state

    async def _ask(self, scope: Scope, question: Callable[[GraphStore], Awaitable[T]]) -> T:
        found = await self._try_neo4j(scope, lambda: question(self._projection))
        return await question(self._record) if found is None else found[0]

    async def _try_neo4j(
        self, scope: Scope, question: Callable[[], Awaitable[T]]
    ) -> tuple[T] | None:
        """Return the answer of Neo4j; None, with a warning, if the record must answer."""
        if time.monotonic() < self._paused_until:
            warn(WarningCode.NEO4J_UNAVAILABLE, logged=False)
            return None
        progress = await read_progress(self._database, scope)
        if progress is None:
            return None
        try:
            answer = await with_deadline(
                self._settings.neo4j_timeout, self._ask_neo4j(scope, progress, question)
            )
        except _NotThere:
            warn(WarningCode.NEO4J_BEHIND, logged=scope not in self._behind)
            self._behind.add(scope)
            self._checked_until.clear()  # what was there may be gone
        except (GraphStoreUnavailable, TimeoutError) as error:
            self._note_gone(error)
        else:
            if self._is_gone or scope in self._behind:
                logger.info("Neo4j answers again for %s", scope.graph_id)
            self._is_gone = False
            self._behind.discard(scope)
            return (answer,)
        return None

    def _note_gone(self, error: Exception) -> None:
        self._paused_until = time.monotonic() + self._settings.neo4j_pause
        self._checked_until.clear()  # it may come back empty
        if not self._is_gone:
            logger.warning("Neo4j is unavailable and is not asked for a while: %s", error)
        warn(WarningCode.NEO4J_UNAVAILABLE, logged=not self._is_gone)
        self._is_gone = True

    async def _ask_neo4j(
        self, scope: Scope, progress: ProjectionProgress, question: Callable[[], Awaitable[T]]
    ) -> T:
        if progress.behind or not progress.projected:
            await self._bolt.ping()  # a server that is gone is the first thing to mend
            raise _NotThere
        scope_id = progress.scope_id
        if time.monotonic() >= self._checked_until.get(scope_id, 0.0):
            projection = Projection(self._database, self._bolt, scope, scope_id)
            if not await projection.is_here():
                raise _NotThere
            self._checked_until[scope_id] = time.monotonic() + self._settings.neo4j_pause
        return await question()


class _NotThere(Exception):
    """Raised if the server does not hold this database's copy of the graph, or an old one."""
