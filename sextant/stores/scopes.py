"""Look up and lock the rows of scopes.

Also here: the knowledge bases of a user; stamps, texts by which a cache knows whether it is current.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, LiteralString, TypeVar
from uuid import UUID

import orjson
from psycopg.rows import BaseRowFactory, DictRow, class_row, dict_row, scalar_row
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from sextant.domain.documents import GraphInfo
from sextant.domain.errors import GraphNotFound
from sextant.domain.scope import Scope, key_of
from sextant.domain.warnings import CodedWarning
from sextant.stores.postgresql.database import Database, fetch_rows
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """The number of a knowledge base and the partition of its vectors (0: the shared one)."""

    scope_id: int
    partition_key: int


@cache
def of_scope(query: LiteralString) -> LiteralString:
    """Rewrite a query over `scope_id` to one over `user_id` and `graph_id`, which saves a look-up.

    For an unknown knowledge base it returns no rows.
    """
    return query.replace("%(scope_id)s", f"({_SQL['scope_id']})")


def id_array(ids: Iterable[UUID | str | int]) -> str:
    """Return ids as the text of a PostgreSQL array; much faster than the driver's conversion."""
    return f"{{{','.join(map(str, ids))}}}"


def entity_index(scope_id: int) -> str:
    """Return the name of the HNSW index over the entities of a large scope."""
    return f"entity_vectors_{scope_id}"


async def find_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the row of `scope`; None if the user has no such knowledge base."""
    return await _scope(connection, scope, _SQL["find_scope"])


async def rows_of(
    database: Database,
    scope: Scope,
    row_factory: BaseRowFactory[T],
    query: LiteralString,
    **values: object,
) -> list[T]:
    """Return the rows of a query over a scope's row, each built by `row_factory`; empty without a scope."""
    async with database.transaction(scope.user_id) as connection:
        found = await find_scope(connection, scope)
        if found is None:
            return []
        return await fetch_rows(
            connection, row_factory, query, {**asdict(found), **values}, binary=True
        )


async def read_rows(
    database: Database, scope: Scope, query: LiteralString, **values: object
) -> list[DictRow]:
    """Return the rows of a query over a scope in one round trip; empty without a scope.

    Raises:
        DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
    """
    return await database.read(scope.user_id, of_scope(query), key_of(scope) | values)


async def share_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the row for a writer; its partition does not change until the transaction ends."""
    return await _scope(connection, scope, _SQL["share_scope"])


async def hold_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the row for a writer of the graph; it is not deleted until the transaction ends."""
    return await _scope(connection, scope, _SQL["hold_scope"])


async def doom_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the row for deleting the scope; every writer is locked out."""
    return await _scope(connection, scope, _SQL["doom_scope"])


async def reserve_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the row for locking documents in any order: other writers of documents wait until the transaction ends."""
    return await _scope(connection, scope, _SQL["lock_scope"])


async def lock_scope(connection: Connection, scope: Scope) -> ScopeRow:
    """Return the row of `scope`, created if new and locked exclusively against other writers."""
    while True:
        await connection.execute(_SQL["create_scope"], key_of(scope))
        # The row may be deleted before it is locked; then create it again.
        if (found := await reserve_scope(connection, scope)) is not None:
            return found


async def _scope(connection: Connection, scope: Scope, query: LiteralString) -> ScopeRow | None:
    cursor = connection.cursor(row_factory=class_row(ScopeRow))
    return await (await cursor.execute(query, key_of(scope))).fetchone()


def _graph_info(row: Mapping[str, Any]) -> GraphInfo:
    columns = dict(row)
    warnings = tuple(map(CodedWarning.from_json, columns.pop("warnings")))
    return GraphInfo(**columns, coded_warnings=warnings)


_SQL = load_queries("scopes")


class KnowledgeBases:
    """List, check and delete knowledge bases; every call sees those of one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, user_id: str) -> builtins.list[GraphInfo]:
        """Return the knowledge bases of a user, by name."""
        user = {"user_id": user_id}
        rows = await self._database.fetch(user_id, dict_row, _SQL["graphs"], user)
        return [_graph_info(row) for row in rows]

    async def note_upkeep(self, scope: Scope, warnings: Sequence[CodedWarning]) -> None:
        """Store the warnings of the last update of a graph; () if there were none."""
        stored = {"warnings": Jsonb([warning.to_json() for warning in warnings])}
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["note_upkeep"], key_of(scope) | stored)

    async def require(self, scope: Scope) -> None:
        """Check that the user has this knowledge base.

        Raises:
            GraphNotFound: no such knowledge base; the message lists the existing ones.
        """
        async with self._database.transaction(scope.user_id) as connection:
            if await find_scope(connection, scope) is not None:
                return
        raise await self._not_found(scope)

    async def has_passages(self, scope: Scope) -> bool:
        """Return whether a knowledge base has passages; it may consist of a graph only.

        Raises:
            GraphNotFound: no such knowledge base.
        """
        found = await rows_of(self._database, scope, scalar_row, _SQL["has_passages"])
        if not found:
            raise await self._not_found(scope)
        return any(found)

    async def _not_found(self, scope: Scope) -> GraphNotFound:
        existing = [graph.graph_id for graph in await self.list(scope.user_id)]
        listed = f"Existing: {', '.join(existing[:20])}." if existing else "There is none yet."
        return GraphNotFound(
            f"No knowledge base named {scope.graph_id!r}. {listed}",
            next_step="Name an existing one (--graph, graphId over HTTP, as the model sextant:NAME), or create it "
            "by adding documents (`sextant ingest`).",
            field="graph_id",
        )

    async def delete(self, scope: Scope) -> None:
        """Delete a knowledge base with everything in it.

        Raises:
            GraphNotFound: no such knowledge base.
        """
        await self.require(scope)
        async with self._database.transaction(scope.user_id) as connection:
            row = await doom_scope(connection, scope)
            if row is None:
                return  # another process was faster
            await connection.execute(_SQL["doom"], {"scope_id": str(row.scope_id)})
            await connection.execute(_SQL["delete_doomed"])
        async with self._database.owner() as owner:
            await owner.set_autocommit(True)
            # The index of entity vectors may exist without any chunk.
            index = Identifier(entity_index(row.scope_id))
            await owner.execute(SQL("drop index concurrently if exists {}").format(index))
            if row.partition_key:
                table = Identifier(f"chunk_vectors_{row.scope_id}")
                await owner.execute(SQL("drop table if exists {}").format(table))


_STAMP = load_queries("stamps")["stamp"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Texts that change whenever the passages, the graph or the reports of a scope do.

    `copy` is the state of the Neo4j copy from which graph and reports are read; empty for the record.
    """

    passages: str
    graph: str
    reports: str
    copy: str = ""


async def stamp_of(database: Database, scope: Scope) -> Stamp:
    """Return the current stamp in one round trip."""
    [row] = orjson.loads(await database.call(scope, _STAMP) or b"[]")
    return Stamp(**row)


_ENTITY_STAMP_SQL = load_queries("entity_search")


@dataclass(frozen=True, slots=True)
class EntityStamp:
    """The state of a knowledge base's entities at one moment.

    Attributes:
        version: changes with every write that may change an entity search: to the graph, its vectors,
            or the embedding model.
        taken_at: the time of the database.
        space: the embedding model of the vectors; None if there are none yet.
        dimension: length of the vectors.
    """

    version: str
    taken_at: datetime
    space: str | None
    dimension: int | None

    def of_copy(self, state: str) -> EntityStamp:
        """Return the stamp of a copy of the graph with its own `state`."""
        return replace(self, version=f"{self.version} {state}")


async def entity_stamp(database: Database, scope: Scope) -> EntityStamp | None:
    """Return the current stamp in one round trip; None if the user has no such knowledge base."""
    rows = await read_rows(database, scope, _ENTITY_STAMP_SQL["stamp"])
    return EntityStamp(**rows[0]) if rows else None
