"""A `Scope` as the database knows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import LiteralString, TypeVar
from uuid import UUID

from psycopg.rows import BaseRowFactory, class_row

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("scopes")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """The number of a knowledge base and the partition of its vectors (0: the shared one)."""

    scope_id: int
    partition_key: int


def of_scope(query: LiteralString) -> LiteralString:
    """Return a query over `scope_id` as one over `user_id` and `graph_id`, which need not be looked up first.

    Over a knowledge base that the user does not have it finds nothing.
    """
    return query.replace("%(scope_id)s", f"({_SQL['scope_id']})")


def key_of(scope: Scope) -> dict[str, object]:
    """Return the values of a query that `of_scope` made."""
    return {"user_id": scope.user_id, "graph_id": scope.graph_id}


def id_array(ids: Iterable[UUID | str | int]) -> str:
    """Return ids as PostgreSQL writes an array; the driver takes ten times as long to write each by itself."""
    return f"{{{','.join(map(str, ids))}}}"


def entity_index(scope_id: int) -> str:
    """Return the name, in the schema `sextant`, of the HNSW index over the entities of a scope that has very many."""
    return f"entity_vectors_{scope_id}"


async def find_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the row of `scope`, or None when the user has no such knowledge base."""
    return await _scope(connection, scope, _SQL["find_scope"])


async def rows_of(
    database: Database,
    scope: Scope,
    made: BaseRowFactory[T],
    query: LiteralString,
    **values: object,
) -> list[T]:
    """Return the rows of a query over `scope_id`, each as `made` of it; none where there is no such scope."""
    async with database.transaction(scope.user_id) as connection:
        found = await find_scope(connection, scope)
        if found is None:
            return []
        cursor = connection.cursor(row_factory=made)
        await cursor.execute(query, {"scope_id": found.scope_id, **values})
        return await cursor.fetchall()


async def share_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the same for a writer: the partition stays what it is until the transaction ends."""
    return await _scope(connection, scope, _SQL["share_scope"])


async def hold_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the same for a writer of its graph: the scope is not deleted until the transaction ends."""
    return await _scope(connection, scope, _SQL["hold_scope"])


async def doom_scope(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the same for deleting the scope: every writer of it is kept out."""
    return await _scope(connection, scope, _SQL["doom_scope"])


async def lock_scope(connection: Connection, scope: Scope) -> ScopeRow:
    """Return the row of `scope`, created if new, and locked against all who register in it or share it."""
    key = {"user_id": scope.user_id, "graph_id": scope.graph_id}
    while True:
        await connection.execute(_SQL["create_scope"], key)
        # One that was there may be deleted before it is locked, and is created then.
        if (found := await _scope(connection, scope, _SQL["lock_scope"])) is not None:
            return found


async def _scope(connection: Connection, scope: Scope, query: LiteralString) -> ScopeRow | None:
    cursor = connection.cursor(row_factory=class_row(ScopeRow))
    key = {"user_id": scope.user_id, "graph_id": scope.graph_id}
    return await (await cursor.execute(query, key)).fetchone()
