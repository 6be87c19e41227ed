"""Read whole tables of documents after a search found one of their passages."""

from __future__ import annotations

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of, of_scope
from sextant.tables.cells.stored import TablePart

_PARTS = of_scope(load_queries("tables")["parts"])
# Sections with more table passages than this are not read; tables of `limits.table_cells` have fewer.
_MAX_PARTS = 10_000


class TableStore:
    """Read the passages that make up a table; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def parts(self, scope: Scope, chunk_id: str) -> list[TablePart]:
        """Return all table passages in the section of this chunk, in reading order.

        The list is empty if there are more than 10,000, or while the document is being stored.

        Raises:
            DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
        """
        values = key_of(scope) | {"id": chunk_id, "most": _MAX_PARTS + 1}
        rows = await self._database.read(scope.user_id, _PARTS, values)
        return [] if len(rows) > _MAX_PARTS else [TablePart(**row) for row in rows]
