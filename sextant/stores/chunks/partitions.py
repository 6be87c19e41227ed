"""Maintain indexes and statistics after a document was published."""

from __future__ import annotations

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("partitions")


async def maintain_indexes(database: Database, scope: Scope) -> bool:
    """Update indexes and statistics after a document was published.

    New chunks are merged into the gram index, which makes searches faster. A scope with at least
    `retrieval.exact_below` chunks gets its own HNSW index over half-precision vectors; below that an
    exact scan is faster and misses nothing. Searches continue meanwhile; writers of this scope wait.

    Returns:
        Whether an HNSW index was built.
    """
    settings = database.settings.retrieval
    limits = {
        "user_id": scope.user_id,
        "graph_id": scope.graph_id,
        "exact_below": settings.exact_below,
        # pgvector indexes at most this many dimensions of a `halfvec`; longer vectors are searched exactly.
        "longest": 4000,
    }
    async with database.transaction(scope.user_id) as connection:
        row = await (await connection.execute(_SQL["settle"], limits)).fetchone()
    if row is None or not row[1]:
        return False
    graph = {
        "scope_id": row[0],
        "m": settings.hnsw_m,
        "ef_construction": settings.hnsw_ef_construction,
    }
    async with database.transaction(scope.user_id) as connection:
        done = await (await connection.execute(_SQL["promote"], graph)).fetchone()
        return bool(done and done[0])


async def refresh_statistics(database: Database, user_id: str) -> None:
    """Refresh the planner's statistics if the tables have grown; cheap if they have not."""
    async with database.transaction(user_id) as connection:
        await connection.execute(_SQL["look_at_sizes"])
