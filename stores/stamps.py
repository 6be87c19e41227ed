"""What tells whether something kept in memory of a knowledge base is still so."""

from __future__ import annotations

from dataclasses import dataclass

from domain.scope import Scope
from stores.binary import told_rows
from stores.database import Database
from stores.queries import load_queries

_STAMP = load_queries("stamps")["stamp"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Texts that change whenever the passages, the graph or the reports of a scope do."""

    passages: str
    graph: str
    reports: str


async def stamp_of(database: Database, scope: Scope) -> Stamp:
    """The stamp of the scope as it is now; one round trip."""
    [row] = told_rows(await database.call(scope, _STAMP))
    return Stamp(**row)
