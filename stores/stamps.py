"""What tells whether something kept in memory of a knowledge base is still so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.scope import Scope
from stores.binary import told_rows
from stores.queries import load_queries

if TYPE_CHECKING:
    from stores.database import Database

STAMP = load_queries("stamps")["stamp"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Texts that change whenever the passages, the graph or the reports of a scope do."""

    passages: str
    graph: str
    reports: str


async def stamp_of(database: Database, scope: Scope) -> Stamp:
    """The stamp of the scope as it is now; one round trip."""
    return stamp_from(await database.call(scope, STAMP))


def stamp_from(told: bytes | None) -> Stamp:
    """A stamp as the server tells it."""
    [row] = told_rows(told)
    return Stamp(**row)
