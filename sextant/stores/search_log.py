"""Log searches and their results, to investigate them later.

The log is written only if `search_log.enabled` is set, by knowledge base under row-level security, and
kept for `search_log.days` days. It contains questions, ids and scores, but no text of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sextant.domain.documents import storable
from sextant.domain.questions import in_range
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope, key_of
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.text.characters import clean_text

_SQL = load_queries("search_log")


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """One search with its options, and its results, best first.

    `results` are `{"kind", "id", "document_id", "score"}`.
    """

    id: int
    at: datetime
    query: str
    request: dict[str, Any]
    results: list[dict[str, Any]]
    warnings: tuple[str, ...]
    milliseconds: float


class SearchLog:
    """Record and list searches; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._settings = database.settings.search_log

    @property
    def enabled(self) -> bool:
        """Return whether searches are to be recorded."""
        return self._settings.enabled

    async def record(
        self,
        scope: Scope,
        query: str,
        request: Mapping[str, Any],
        results: Iterable[Mapping[str, Any]],
        *,
        warnings: Iterable[str] = (),
        milliseconds: float,
    ) -> None:
        """Record a search and delete old ones; do nothing if the log is off.

        Raises:
            DatabaseUnavailable: the search was not recorded.
        """
        if not self.enabled:
            return
        values = {
            "query": clean_text(query),
            "request": _json(request),
            "results": _json(list(results)),
            "warnings": list(warnings),
            "milliseconds": milliseconds,
        }
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["record"], key_of(scope) | values)
            await connection.execute(_SQL["prune"], key_of(scope) | self._retention)

    async def list(self, scope: Scope, limit: int = 50) -> list[LoggedSearch]:
        """Return the last searches within the retention time, newest first.

        Raises:
            OptionInvalid: the limit is out of range.
        """
        limit = in_range(limit, "limit")
        values = key_of(scope) | self._retention | {"limit": limit}
        rows = await self._database.fetch(scope.user_id, dict_row, _SQL["list"], values)
        return [LoggedSearch(**row | {"warnings": tuple(row["warnings"])}) for row in rows]

    async def clear(self, scope: Scope) -> int:
        """Delete all searches; return their number."""
        async with self._database.transaction(scope.user_id) as connection:
            return (await connection.execute(_SQL["clear"], key_of(scope))).rowcount

    @property
    def _retention(self) -> dict[str, object]:
        return {"days": self._settings.days}


def item_to_log(item: RetrievedItem) -> dict[str, Any]:
    """Return a result as the log records it."""
    return {
        "kind": item.kind.value,
        "id": item.id,
        "document_id": item.document_id,
        "score": item.score,
    }


def _json(value: object) -> Jsonb:
    return Jsonb(storable(value), dumps=lambda one: orjson.dumps(one, default=str))
