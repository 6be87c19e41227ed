"""The stamp of a knowledge base: as long as it is the same, what is kept of it in memory is current."""

from __future__ import annotations

from dataclasses import dataclass

from sextant.domain.scope import Scope
from sextant.stores.postgresql.binary import rows_from_json
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries

STAMP = load_queries("stamps")["stamp"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Texts that change whenever the passages, the graph or the reports of a scope do.

    `copy`: the state of the copy in Neo4j that graph and reports are read from; empty: they are the record's.
    """

    passages: str
    graph: str
    reports: str
    copy: str = ""


async def stamp_of(database: Database, scope: Scope) -> Stamp:
    """Return the stamp as it is now; one round trip, which what is called at the same moment shares."""
    return stamp_from(await database.call(scope, STAMP))


def stamp_from(sent: bytes | None) -> Stamp:
    """Return a stamp from what the server sent."""
    [row] = rows_from_json(sent)
    return Stamp(**row)
