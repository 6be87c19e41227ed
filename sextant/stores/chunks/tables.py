"""The tables of documents, whole, where a search found a passage of one."""

from __future__ import annotations

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of, of_scope
from sextant.tables.cells.stored import TablePart

_PARTS = of_scope(load_queries("tables")["parts"])
# Passages of one section; its tables have some twenty thousand rows then.
_MOST = 2000


class TableStore:
    """Reads what stands beside a passage of a table; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def parts(self, scope: Scope, chunk_id: str) -> list[TablePart]:
        """Return all passages of tables in the section of this one, in reading order.

        None, where there are more than 2,000, or the document is still being stored.

        Raises:
            DatabaseUnavailable: the server does not answer within the time of a lane.
        """
        values = key_of(scope) | {"id": chunk_id, "most": _MOST + 1}
        rows = await self._database.read(scope.user_id, _PARTS, values)
        return [] if len(rows) > _MOST else [TablePart(**row) for row in rows]
