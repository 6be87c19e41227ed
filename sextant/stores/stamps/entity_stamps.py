"""The stamp of entities: as long as it is the same, a search for them finds the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of

_SQL = load_queries("entity_search")


@dataclass(frozen=True, slots=True)
class EntityStamp:
    """A moment of a knowledge base's entities.

    Attributes:
        version: changes with every write that a search for entities could notice: of the graph, of
            its vectors, of the embedding model.
        graph_version: changes with every write of the graph.
        taken_at: the database's clock.
        space: the embedding model that the vectors come from, None when there are none yet.
        dimension: length of the vectors.
    """

    version: str
    graph_version: str
    taken_at: datetime
    space: str | None
    dimension: int | None

    def of_copy(self, state: str) -> EntityStamp:
        """Return the stamp of the same graph in a store that may change by itself."""
        versions = f"{self.version} {state}", f"{self.graph_version} {state}"
        return replace(self, version=versions[0], graph_version=versions[1])


async def entity_stamp(database: Database, scope: Scope) -> EntityStamp | None:
    """Return the stamp as it is now, in one round trip; None when the user has no such knowledge base."""
    rows = await database.read(scope.user_id, _SQL["stamp"], key_of(scope))
    return EntityStamp(**rows[0]) if rows else None
