"""Stamps: texts by which a cache knows whether it is current."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sextant.domain.scope import Scope, key_of
from sextant.stores.postgresql.database import Database, rows_from_json
from sextant.stores.postgresql.queries import load_queries

_STAMP = load_queries("stamps")["stamp"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Texts that change whenever the passages, the graph or the reports of a scope do.

    `copy` is the state of the Neo4j copy from which graph and reports are read; empty for the record.
    """

    passages: str
    graph: str
    reports: str
    copy: str = ""


async def stamp_of(database: Database, scope: Scope) -> Stamp:
    """Return the current stamp in one round trip."""
    [row] = rows_from_json(await database.call(scope, _STAMP))
    return Stamp(**row)


_SQL = load_queries("entity_search")


@dataclass(frozen=True, slots=True)
class EntityStamp:
    """The state of a knowledge base's entities at one moment.

    Attributes:
        version: changes with every write that may change an entity search: to the graph, its vectors,
            or the embedding model.
        taken_at: the time of the database.
        space: the embedding model of the vectors; None if there are none yet.
        dimension: length of the vectors.
    """

    version: str
    taken_at: datetime
    space: str | None
    dimension: int | None

    def of_copy(self, state: str) -> EntityStamp:
        """Return the stamp of a copy of the graph with its own `state`."""
        return replace(self, version=f"{self.version} {state}")


async def entity_stamp(database: Database, scope: Scope) -> EntityStamp | None:
    """Return the current stamp in one round trip; None if the user has no such knowledge base."""
    rows = await database.read(scope.user_id, _SQL["stamp"], key_of(scope))
    return EntityStamp(**rows[0]) if rows else None
