"""Check quotations of an answer against the stored documents."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.answers import Quoted
from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import id_array, key_of, of_scope

_STILL_THERE = of_scope(load_queries("quotes")["still_there"])


class QuoteStore:
    """Compare quotations with the live versions of documents; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def check_quotes(self, scope: Scope, quotes: Sequence[Quoted]) -> list[bool]:
        """Return for each quote, in order, whether its document has exactly this text at its position.

        A quote of a document that was deleted or is not in the scope is false.

        Raises:
            DatabaseUnavailable: the server does not answer.
        """
        values = key_of(scope) | {
            "ids": id_array(quote.document_id for quote in quotes),
            "starts": id_array(quote.start for quote in quotes),
            "quotes": [quote.text for quote in quotes],
        }
        rows = await self._database.read(scope.user_id, _STILL_THERE, values)
        return [row["holds"] for row in rows]
