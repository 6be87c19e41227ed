"""Copy changes of the record to Neo4j, with one projector at a time for a graph.

`graph_outbox` holds notes: ids of changed rows. A round takes some notes, reads the current state of
these rows, writes it to Neo4j, and then deletes the notes. So a round may be interrupted and repeated
with the same effect. A whole graph is copied in the same way: the old copy is wiped, and all ids are
noted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from sextant.domain.errors import GraphNotFound, GraphStoreUnavailable
from sextant.domain.scope import Scope, key_of
from sextant.stores.graph.evidence import graph_key
from sextant.stores.graph.neo4j.projection import CopyOwner, Projection
from sextant.stores.graph.record import GraphCounts, GraphRecord
from sextant.stores.postgresql.database import Database, exclusive_lock
from sextant.stores.postgresql.queries import load_cypher, load_queries

if TYPE_CHECKING:
    from sextant.stores.graph.neo4j.bolt import Bolt

_SQL = load_queries("graph_projection")
_READ = load_cypher("reads")

# Kinds of notes about rows; the relations of "new entities" are noted, too.
_KINDS = ("new entities", "entities", "relations", "communities")

OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ProjectionProgress:
    """The state of a projection in the record: `projected` if changes are noted, `behind` if some wait."""

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
    """The size of the copy in Neo4j (None without a copy), the number of waiting ids, the server's version."""

    projection: GraphCounts | None
    waiting: int
    server: str


async def read_progress(database: Database, scope: Scope) -> ProjectionProgress | None:
    """Return the state of a graph's projection; None if there is no such graph."""
    factory = class_row(ProjectionProgress)
    rows = await database.fetch(scope.user_id, factory, _SQL["state"], key_of(scope))
    return rows[0] if rows else None


class Projector:
    """Keep the copies of graphs in a Neo4j server up to date."""

    def __init__(self, database: Database, bolt: Bolt) -> None:
        self._database = database
        self._bolt = bolt

    async def sync(self, scope: Scope, on_progress: OnProgress | None = None) -> int:
        """Copy the waiting changes; a graph that Neo4j does not have is copied whole.

        Waits until another projector of this graph has ended. Later changes are left to their
        writers; otherwise this might never end.

        Args:
            scope: the knowledge base.
            on_progress: called with the number of ids copied so far.

        Returns:
            The number of copied ids.

        Raises:
            GraphNotFound: there is no such knowledge base.
            GraphStoreUnavailable: Neo4j does not answer, or holds another database's knowledge base of
                this name; the remaining changes still wait.
        """
        return await self._sync(scope, on_progress, seize=False)

    async def _sync(self, scope: Scope, on_progress: OnProgress | None, *, seize: bool) -> int:
        """Copy the waiting changes; `seize` replaces the copy of another database."""
        found = await self._require_progress(scope)
        if not found.projected:
            await GraphRecord(self._database).project(scope)
        await self._bolt.prepare_keys()
        projection = Projection(self._database, self._bolt, scope, found.scope_id)
        async with exclusive_lock(self._database, _SQL["try_alone"], {"scope_id": found.scope_id}):
            if await projection.read_owner() is not CopyOwner.OURS:
                if not await projection.claim(seize=seize):
                    raise _taken_error(scope)
                await self._note_everything(projection)
            copied = 0
            newest = await self._number(projection, "newest")
            while notes := await self._notes(projection):
                if notes[0].seq > newest:
                    break
                copied += await self._take(projection, notes)
                if notes[0].kind == "everything":  # this has just noted all rows
                    newest = await self._number(projection, "newest")
                if on_progress:
                    on_progress(copied)
            if copied:
                await projection.write_header(await self._number(projection, "vectors"))
        return copied

    async def rebuild(self, scope: Scope, on_progress: OnProgress | None = None) -> int:
        """Copy the whole graph again, and replace any other of this name; otherwise like `sync`."""
        found = await self._require_progress(scope)
        if found.projected:
            await self._note_everything(
                Projection(self._database, self._bolt, scope, found.scope_id)
            )
        return await self._sync(scope, on_progress, seize=True)

    async def drop(self, scope: Scope) -> None:
        """Delete the copy of a knowledge base that no longer exists."""
        projection = Projection(self._database, self._bolt, scope, 0)
        if await projection.read_owner() is not CopyOwner.ANOTHER_DATABASE:
            await projection.wipe()
            await projection.release_name()

    async def status(self, scope: Scope) -> ProjectionStatus:
        """Return the state of the copy in Neo4j, and the number of waiting ids; raises as `sync` does."""
        found = await self._require_progress(scope)
        projection = Projection(self._database, self._bolt, scope, found.scope_id)
        [counts] = await self._bolt.fetch(_READ["counts"], graph=str(graph_key(scope)))
        if (owner := await projection.read_owner()) is CopyOwner.ANOTHER_DATABASE:
            raise _taken_error(scope)
        return ProjectionStatus(
            projection=GraphCounts(**counts) if owner is CopyOwner.OURS else None,
            waiting=await self.waiting(scope),
            server=".".join(map(str, await self._bolt.version())),
        )

    async def waiting(self, scope: Scope) -> int:
        """Count the ids that wait to be copied.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        found = await self._require_progress(scope)
        return await self._number(
            Projection(self._database, self._bolt, scope, found.scope_id), "waiting"
        )

    async def _require_progress(self, scope: Scope) -> ProjectionProgress:
        found = await read_progress(self._database, scope)
        if found is None:
            raise GraphNotFound(
                f"There is no knowledge base {scope.graph_id!r}.",
                next_step="`sextant graphs` lists the existing ones.",
            )
        return found

    async def _note_everything(self, projection: Projection) -> None:
        async with self._database.transaction(projection.scope.user_id) as connection:
            await connection.execute(_SQL["note_everything"], {"scope_id": projection.scope_id})

    async def _take(self, projection: Projection, notes: Sequence[ChangeNote]) -> int:
        """Copy the rows of the next notes; return the number of ids, at least 1."""
        if notes[0].kind == "everything":
            await projection.wipe()
            await projection.write_header(0)
            whole = [note for note in notes if note.kind == "everything"]
            await self._forget(projection, whole, everything=True)
            return len(whole)
        chosen = _first(notes)
        ids = {
            kind: sorted({one for note in chosen if note.kind == kind for one in note.ids})
            for kind in _KINDS
        }
        await projection.write_entities(ids["new entities"])
        if chosen[-1].kind != "new entities":
            await self._bolt.prepare()
        await projection.write_relations_of(await projection.write_entities(ids["entities"]))
        await projection.write_relations(ids["relations"])
        await projection.write_communities(ids["communities"])
        await self._forget(projection, chosen)
        return sum(map(len, ids.values())) or len(chosen)

    async def _notes(self, projection: Projection) -> list[ChangeNote]:
        user_id, factory = projection.scope.user_id, class_row(ChangeNote)
        key = {"scope_id": projection.scope_id, "limit": 16}
        return await self._database.fetch(user_id, factory, _SQL["take"], key)

    async def _forget(
        self, projection: Projection, notes: Sequence[ChangeNote], *, everything: bool = False
    ) -> None:
        """Delete finished notes; with `everything`, replace them by notes of all ids of the graph."""
        values = {"scope_id": projection.scope_id, "user_id": projection.scope.user_id}
        async with self._database.transaction(projection.scope.user_id) as connection:
            if everything:
                await connection.execute(_SQL["note_all_ids"], values)
            seqs = [note.seq for note in notes]
            await connection.execute(_SQL["done"], values | {"seqs": seqs})

    async def _number(self, projection: Projection, query: str) -> int:
        user_id, key = projection.scope.user_id, {"scope_id": projection.scope_id}
        rows = await self._database.fetch(user_id, scalar_row, _SQL[query], key)
        return int(rows[0] or 0) if rows else 0


def _taken_error(scope: Scope) -> GraphStoreUnavailable:
    return GraphStoreUnavailable(
        f"Neo4j holds the knowledge base {scope.graph_id!r} of another Sextant database.",
        next_step="Name another server or NEO4J_DATABASE; if that database is gone, as after a data folder "
        "was recreated, let `sextant graph rebuild` replace it.",
    )


def _first(notes: Sequence[ChangeNote]) -> list[ChangeNote]:
    """Return the oldest notes that make up one round."""
    chosen: list[ChangeNote] = []
    size = 0
    for note in notes:
        # A note has at most 5,000 ids.
        if chosen and size + len(note.ids) > 20_000:
            break
        chosen.append(note)
        size += len(note.ids)
    return chosen


@asynccontextmanager
async def open_projector(database: Database) -> AsyncIterator[Projector | None]:
    """Open a projector to the Neo4j server of the settings; yield None if they name none."""
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
