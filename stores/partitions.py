"""The indexes after a document was published: HNSW for a scope that has grown, and a tidy gram index."""

from __future__ import annotations

from domain.scope import Scope
from stores.database import Database
from stores.queries import load_queries
from stores.scopes import find_scope

_SQL = load_queries("partitions")

# pgvector indexes at most this many dimensions of a `vector`; longer ones are searched exactly.
LONGEST_INDEXED = 2000


async def promote_if_large(database: Database, scope: Scope) -> bool:
    """Give a scope with `retrieval.exact_below` chunks or more an HNSW index of its own.

    Below that an exact scan is faster and misses nothing (anchors: performance §1). Searches go on
    meanwhile; writers of this scope wait. Returns whether anything was done.
    """
    async with database.transaction(scope.user_id) as connection:
        found = await find_scope(connection, scope)
        if found is None or found.partition_key:
            return False
        limits = {
            "scope_id": found.scope_id,
            "exact_below": database.settings.retrieval.exact_below,
            "longest": LONGEST_INDEXED,
        }
        row = await (await connection.execute(_SQL["large"], limits)).fetchone()
        if row is None or not row[0]:
            return False
        done = await (
            await connection.execute(_SQL["promote"], {"scope_id": found.scope_id})
        ).fetchone()
        return bool(done and done[0])


async def tidy_index(database: Database, user_id: str) -> None:
    """Bring what was just stored into its place in the gram index; searches are faster for it."""
    async with database.transaction(user_id) as connection:
        await connection.execute(_SQL["tidy"])
