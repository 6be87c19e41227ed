"""Copies to Neo4j what has changed in the record: one projector at a time for a graph.

`graph_outbox` holds notes: ids of rows that have changed. A round takes some notes, reads the present state
of these rows, writes it to Neo4j, and only then deletes the notes. So it may break off anywhere and be
repeated, with the same effect as running once. A whole graph is copied the same way: the old copy is
wiped, all ids are noted, and note by note is written without looking for older rows, which halves the
work; the number of the last such note is kept in the projection, in the same transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from sextant.domain.errors import GraphNotFound, GraphStoreUnavailable
from sextant.domain.scope import Scope
from sextant.stores.graph.ids import graph_key
from sextant.stores.graph.neo4j.projection import CopyOwner, Projection, ahead
from sextant.stores.graph.record import GraphCounts, GraphRecord
from sextant.stores.postgresql.alone import alone
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_cypher, load_queries

if TYPE_CHECKING:
    from sextant.stores.graph.neo4j.bolt import Bolt

_SQL = load_queries("graph_projection")
_READ = load_cypher("reads")

# Notes looked at in a round, and ids after which a round takes no further note; one of changes has at
# most 5,000.
_NOTES = 16
_ROUND = 20_000
_CHANGES = ("entities", "relations", "communities")  # kinds of notes that tell what has changed

T = TypeVar("T")
OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ProjectionProgress:
    """How the record sees a projection: `projected`, changes are noted; `behind`, some wait."""

    scope_id: int
    projected: bool
    behind: bool


@dataclass(frozen=True, slots=True)
class ChangeNote:
    """Rows of a kind that have changed, oldest note first by `seq`."""

    seq: int
    kind: str
    ids: list[UUID]


@dataclass(frozen=True, slots=True)
class ProjectionStatus:
    """What Neo4j holds of a graph (None: it is not there), how many ids wait, the server's version."""

    projection: GraphCounts | None
    waiting: int
    server: str


async def read_progress(database: Database, scope: Scope) -> ProjectionProgress | None:
    """Return how far the projection of a graph is; None without such a graph."""
    async with database.transaction(scope.user_id) as connection:
        cursor = connection.cursor(row_factory=class_row(ProjectionProgress))
        key = {"user_id": scope.user_id, "graph_id": scope.graph_id}
        return await (await cursor.execute(_SQL["state"], key)).fetchone()


class Projector:
    """Keeps the graphs of a database's knowledge bases in a Neo4j server up to date."""

    def __init__(self, database: Database, bolt: Bolt) -> None:
        self._database = database
        self._bolt = bolt

    async def sync(self, scope: Scope, on_progress: OnProgress | None = None) -> int:
        """Copy the changes that wait; a graph that Neo4j does not have is copied whole.

        Waits for another projector of this graph to end. What changes meanwhile is left to whoever changes it:
        while others write all the time, there is always something more.

        Args:
            scope: the knowledge base.
            on_progress: called with the number of ids copied so far.

        Returns:
            How many ids were copied.

        Raises:
            GraphNotFound: there is no such knowledge base.
            GraphStoreUnavailable: Neo4j is gone, or holds another database's knowledge base of this
                name; what was not copied still waits.
        """
        return await self._sync(scope, on_progress, seize=False)

    async def _sync(self, scope: Scope, on_progress: OnProgress | None, *, seize: bool) -> int:
        """Return `seize`: replace the copy that another database has under this name."""
        found = await self._standing(scope)
        if not found.projected:
            await GraphRecord(self._database).project(scope)
        await self._bolt.prepare_keys()
        projection = Projection(self._database, self._bolt, scope, found.scope_id)
        async with alone(self._database, _SQL["try_alone"], {"scope_id": found.scope_id}):
            if await projection.whose() is not CopyOwner.OURS:
                if not await projection.claim(seize=seize):
                    raise _taken_error(scope)
                await self._note_everything(projection)
            taken = 0
            newest = await self._number(projection, "newest")
            while notes := await self._notes(projection):
                if notes[0].kind in _CHANGES and notes[0].seq > newest:
                    break
                taken += await self._take(projection, notes)
                if notes[0].kind == "everything":  # all its rows were noted just now
                    newest = await self._number(projection, "newest")
                if on_progress:
                    on_progress(taken)
            if taken:
                await projection.introduce(await self._number(projection, "vectors"))
        return taken

    async def rebuild(self, scope: Scope, on_progress: OnProgress | None = None) -> int:
        """Copy the whole graph again, in place of any other of this name; otherwise like `sync`."""
        found = await self._standing(scope)
        if found.projected:
            await self._note_everything(
                Projection(self._database, self._bolt, scope, found.scope_id)
            )
        return await self._sync(scope, on_progress, seize=True)

    async def drop(self, scope: Scope) -> None:
        """Delete the copy of a knowledge base that no longer exists."""
        projection = Projection(self._database, self._bolt, scope, 0)
        if await projection.whose() is not CopyOwner.ANOTHER_DATABASE:
            await projection.wipe()
            await projection.leave()

    async def status(self, scope: Scope) -> ProjectionStatus:
        """Return what Neo4j holds, and how much is still to be copied; raises what `sync` raises."""
        found = await self._standing(scope)
        projection = Projection(self._database, self._bolt, scope, found.scope_id)
        [counts] = await self._bolt.fetch(_READ["counts"], graph=str(graph_key(scope)))
        if (whose := await projection.whose()) is CopyOwner.ANOTHER_DATABASE:
            raise _taken_error(scope)
        return ProjectionStatus(
            projection=GraphCounts(**counts) if whose is CopyOwner.OURS else None,
            waiting=await self.waiting(scope),
            server=".".join(map(str, await self._bolt.version())),
        )

    async def waiting(self, scope: Scope) -> int:
        """Return how many ids are still to be copied.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        found = await self._standing(scope)
        return await self._number(
            Projection(self._database, self._bolt, scope, found.scope_id), "waiting"
        )

    async def _standing(self, scope: Scope) -> ProjectionProgress:
        found = await read_progress(self._database, scope)
        if found is None:
            raise GraphNotFound(
                f"There is no knowledge base {scope.graph_id!r}.",
                next_step="`sextant graphs` lists those that are there.",
            )
        return found

    async def _note_everything(self, projection: Projection) -> None:
        async with self._database.transaction(projection.scope.user_id) as connection:
            await connection.execute(_SQL["note_everything"], {"scope_id": projection.scope_id})

    async def _take(self, projection: Projection, notes: Sequence[ChangeNote]) -> int:
        """Copy what the next notes name; returns how many ids, at least 1."""
        match notes[0].kind:
            case "everything":
                await projection.wipe()
                await projection.introduce(0, anew=True)
                await self._forget(projection, notes, everything=True)
                return len(notes)
            case "load entities":
                entities = projection.entity_rows, projection.load_entities
                return await self._load(projection, notes, *entities)
            case "load relations":
                relations = projection.relation_columns, projection.load_relations
                return await self._load(projection, notes, *relations)
        await self._bolt.prepare()
        return await self._round(projection, _first(notes))

    async def _load(
        self,
        projection: Projection,
        notes: Sequence[ChangeNote],
        read: Callable[[Sequence[UUID]], Awaitable[T]],
        write: Callable[[int, T], Awaitable[None]],
    ) -> int:
        same = [note for note in notes if note.kind == notes[0].kind]
        async with aclosing(ahead(lambda note: read(note.ids), same)) as portions:
            async for note, rows in portions:
                await write(note.seq, rows)
                await self._forget(projection, [note])
        return sum(len(note.ids) for note in same)

    async def _round(self, projection: Projection, notes: Sequence[ChangeNote]) -> int:
        ids = {
            kind: sorted({one for note in notes if note.kind == kind for one in note.ids})
            for kind in _CHANGES
        }
        await projection.write_relations_of(await projection.write_entities(ids["entities"]))
        await projection.write_relations(ids["relations"])
        await projection.write_communities(ids["communities"])
        await self._forget(projection, notes)
        return sum(map(len, ids.values())) or len(notes)

    async def _notes(self, projection: Projection) -> list[ChangeNote]:
        async with self._database.transaction(projection.scope.user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(ChangeNote))
            await cursor.execute(_SQL["take"], {"scope_id": projection.scope_id, "limit": _NOTES})
            return await cursor.fetchall()

    async def _forget(
        self, projection: Projection, notes: Sequence[ChangeNote], *, everything: bool = False
    ) -> None:
        """Delete notes that are done; with `everything`, note all ids of the graph in their place."""
        values = {"scope_id": projection.scope_id, "user_id": projection.scope.user_id}
        async with self._database.transaction(projection.scope.user_id) as connection:
            if everything:
                await connection.execute(_SQL["note_all_ids"], values)
            seqs = [note.seq for note in notes]
            await connection.execute(_SQL["done"], values | {"seqs": seqs})

    async def _number(self, projection: Projection, query: str) -> int:
        async with self._database.transaction(projection.scope.user_id) as connection:
            cursor = await connection.execute(_SQL[query], {"scope_id": projection.scope_id})
            row = await cursor.fetchone()
        return int(row[0] or 0) if row else 0


def _taken_error(scope: Scope) -> GraphStoreUnavailable:
    return GraphStoreUnavailable(
        f"Neo4j holds the knowledge base {scope.graph_id!r} of another Sextant database.",
        next_step="Name another server or NEO4J_DATABASE; if that database is gone, as after a data folder "
        "was made anew, let `sextant graph rebuild` replace it.",
    )


def _first(notes: Sequence[ChangeNote]) -> list[ChangeNote]:
    """Return the oldest notes, as many as make a round."""
    chosen: list[ChangeNote] = []
    size = 0
    for note in notes:
        if chosen and size + len(note.ids) > _ROUND:
            break
        chosen.append(note)
        size += len(note.ids)
    return chosen


@asynccontextmanager
async def open_projector(database: Database) -> AsyncIterator[Projector | None]:
    """Provide a projector into the Neo4j server of the settings; None where they name none."""
    if not database.settings.neo4j_uri:
        yield None
        return
    from sextant.stores.graph.neo4j.bolt import (
        Bolt,  # the driver takes a quarter of a second to load
    )

    bolt = Bolt(database.settings)
    try:
        yield Projector(database, bolt)
    finally:
        await bolt.close()
