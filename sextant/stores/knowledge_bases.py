"""The knowledge bases of a user: which there are, and how one goes with everything in it.

One comes into being with its first document (`sextant/stores/scopes.py`).
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from psycopg.rows import class_row
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from sextant.domain.documents import GraphInfo
from sextant.domain.errors import GraphNotFound
from sextant.domain.scope import Scope
from sextant.stores.array_files import forget_words
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import doom_scope, entity_index, find_scope

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
