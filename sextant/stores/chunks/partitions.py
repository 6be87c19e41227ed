"""The indexes after a document was published: HNSW for a scope that has grown, and a tidy gram index."""

from __future__ import annotations

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("partitions")

# pgvector indexes at most this many dimensions of a `halfvec`; longer vectors are searched exactly.
_LONGEST_INDEXED = 4000


async def settle(database: Database, scope: Scope) -> bool:
    """Tidy up after a document was published: indexes, statistics, and where vectors lie.

    What was just stored gets its place in the gram index; searches are faster for it. A scope with
    `retrieval.exact_below` chunks or more gets an HNSW index of its own, over halves: below that an
    exact scan is faster and misses nothing (anchors: performance §1). So does one that has an index of
    floats, as all had before. Searches go on meanwhile; writers of this scope wait. Returns whether
    such an index was made.
    """
    own = database.settings.retrieval
    limits = {
        "user_id": scope.user_id,
        "graph_id": scope.graph_id,
        "exact_below": own.exact_below,
        "longest": _LONGEST_INDEXED,
    }
    async with database.transaction(scope.user_id) as connection:
        row = await (await connection.execute(_SQL["settle"], limits)).fetchone()
    if row is None or not row[1]:
        return False
    graph = {"scope_id": row[0], "m": own.hnsw_m, "ef_construction": own.hnsw_ef_construction}
    async with database.transaction(scope.user_id) as connection:
        done = await (await connection.execute(_SQL["promote"], graph)).fetchone()
        return bool(done and done[0])


async def look_at_sizes(database: Database, user_id: str) -> None:
    """Let the planner know how large the tables have become; costs a millisecond when they have not."""
    async with database.transaction(user_id) as connection:
        await connection.execute(_SQL["look_at_sizes"])
