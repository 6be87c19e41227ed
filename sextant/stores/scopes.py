"""A `Scope` as the database knows it."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import LiteralString, TypeVar
from uuid import UUID

from psycopg.rows import BaseRowFactory, class_row
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from sextant.domain.documents import GraphInfo
from sextant.domain.errors import GraphNotFound
from sextant.domain.scope import Scope
from sextant.stores.array_files import forget_words
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries

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


_SQL = load_queries("scopes")


class KnowledgeBases:
    """The knowledge bases of a database; every call sees those of one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, user_id: str) -> builtins.list[GraphInfo]:
        """Return the knowledge bases of a user, by name."""
        async with self._database.transaction(user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(GraphInfo))
            await cursor.execute(_SQL["graphs"], {"user_id": user_id})
            return await cursor.fetchall()

    async def note_upkeep(self, scope: Scope, warnings: Sequence[str]) -> None:
        """Keep what of a graph did not follow when it was brought up to date; () when all did."""
        values = {"graph_id": scope.graph_id, "warnings": Jsonb(list(warnings))}
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["note_upkeep"], {"user_id": scope.user_id} | values)

    async def require(self, scope: Scope) -> None:
        """Return if the user has this knowledge base.

        Raises:
            GraphNotFound: no such knowledge base; the message lists those that are there.
        """
        async with self._database.transaction(scope.user_id) as connection:
            if await find_scope(connection, scope) is not None:
                return
        raise await self._not_found(scope)

    async def has_passages(self, scope: Scope) -> bool:
        """Return whether there are passages in a knowledge base; one may be a graph alone.

        Raises:
            GraphNotFound: no such knowledge base.
        """
        async with self._database.transaction(scope.user_id) as connection:
            if (found := await find_scope(connection, scope)) is not None:
                key = {"scope_id": found.scope_id}
                cursor = await connection.execute(_SQL["has_passages"], key)
                row = await cursor.fetchone()
                return row is not None and bool(row[0])
        raise await self._not_found(scope)

    async def _not_found(self, scope: Scope) -> GraphNotFound:
        there = [graph.graph_id for graph in await self.list(scope.user_id)]
        listed = f"There are: {', '.join(there[:20])}." if there else "There is none yet."
        return GraphNotFound(
            f"No knowledge base named {scope.graph_id!r}. {listed}",
            next_step="Name one with --graph (over HTTP graphId), or make it with `sextant ingest`.",
            field="graph_id",
        )

    async def delete(self, scope: Scope) -> None:
        """Remove a knowledge base with everything in it, from every table.

        Raises:
            GraphNotFound: no such knowledge base.
        """
        await self.require(scope)
        async with self._database.transaction(scope.user_id) as connection:
            row = await doom_scope(connection, scope)
            if row is None:
                return  # somebody else was faster
            await connection.execute(_SQL["doom"], {"scope_id": str(row.scope_id)})
            await connection.execute(_SQL["delete_doomed"])
        async with self._database.owner() as owner:
            await owner.set_autocommit(True)
            # The index of its entities' vectors, which a large graph has even without any chunk.
            index = Identifier(entity_index(row.scope_id))
            await owner.execute(SQL("drop index concurrently if exists {}").format(index))
            if row.partition_key:
                table = Identifier(f"chunk_vectors_{row.scope_id}")
                await owner.execute(SQL("drop table if exists {}").format(table))
        await forget_words(self._database.settings, scope)
