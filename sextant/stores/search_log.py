"""A log of searches and what they returned, for those who want to look into one later (seed 004).

It is kept only where `search_log.enabled` says so, by knowledge base under row-level security, for
`search_log.days` days. It holds questions, ids and scores, and no text of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sextant.domain.questions import in_range
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of
from sextant.text.characters import clean_text

_SQL = load_queries("search_log")


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """One search: what was asked with which options, and what came back, best first.

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
    """The searches of a database's users; every call sees one scope."""

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
        """Keep a search, and let go of those that are too old; nothing where the log is off.

        Raises:
            DatabaseUnavailable: it was not kept.
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
            await connection.execute(_SQL["prune"], key_of(scope) | self._kept)

    async def list(self, scope: Scope, limit: int = 50) -> list[LoggedSearch]:
        """Return the last searches, newest first; none that is older than it is to be kept.

        Raises:
            OptionInvalid: the limit is no number that there can be.
        """
        limit = in_range(limit, "limit")
        async with self._database.transaction(scope.user_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            values = key_of(scope) | self._kept | {"limit": limit}
            await cursor.execute(_SQL["list"], values)
            return [
                LoggedSearch(**{**row, "warnings": tuple(row["warnings"])}) async for row in cursor
            ]

    async def clear(self, scope: Scope) -> int:
        """Forget them all; says how many."""
        async with self._database.transaction(scope.user_id) as connection:
            return (await connection.execute(_SQL["clear"], key_of(scope))).rowcount

    @property
    def _kept(self) -> dict[str, object]:
        return {"days": self._settings.days}


def item_to_log(item: RetrievedItem) -> dict[str, Any]:
    """Return what the log keeps of a result."""
    return {
        "kind": item.kind.value,
        "id": item.id,
        "document_id": item.document_id,
        "score": item.score,
    }


def _json(value: object) -> Jsonb:
    return Jsonb(_storable(value), dumps=lambda one: orjson.dumps(one, default=str))


def _storable(value: object) -> object:
    """Return the same without what JSON in PostgreSQL cannot hold; a request may come with anything."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(name)): _storable(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable(one) for one in value]
    return value
