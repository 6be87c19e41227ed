"""List the communities of a graph page by page, with reports and without members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import DictRow

from sextant.domain.graph import Finding
from sextant.domain.scope import Scope
from sextant.stores.graph.communities.store import read_findings
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of, of_scope

_SQL = {name: of_scope(query) for name, query in load_queries("graph_community_pages").items()}


@dataclass(frozen=True, slots=True)
class ListedCommunity:
    """A community with its report; `size` counts its entities."""

    id: UUID
    level: int
    parent_id: UUID | None
    title: str
    summary: str
    findings: tuple[Finding, ...]
    rating: float
    size: int


@dataclass(frozen=True, slots=True)
class CommunityCursor:
    """The position of a community in the list, ordered by level, descending rating and id."""

    level: int
    rating: float
    id: UUID


class CommunityPages:
    """Read communities page by page; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        scope: Scope,
        limit: int,
        *,
        level: int | None = None,
        parent_id: UUID | None = None,
        after: CommunityCursor | None = None,
    ) -> list[ListedCommunity]:
        """Return the next communities after a cursor: of a level (0 is the coarsest), or directly inside one."""
        values = {
            "limit": limit,
            "level": level,
            "parent_id": parent_id,
            "after_level": after.level if after else None,
            "after_rating": after.rating if after else None,
            "after_id": after.id if after else None,
        }
        return await self._rows(scope, "page", values)

    async def holding(self, scope: Scope, entity_id: UUID) -> list[ListedCommunity]:
        """Return the communities that contain an entity, coarsest first."""
        return await self._rows(scope, "holding", {"entity_id": entity_id})

    async def _rows(
        self, scope: Scope, query: str, values: Mapping[str, object]
    ) -> list[ListedCommunity]:
        rows = await self._database.read(scope.user_id, _SQL[query], {**key_of(scope), **values})
        return [_read_listed(row) for row in rows]


def _read_listed(row: DictRow) -> ListedCommunity:
    return ListedCommunity(**row | {"findings": read_findings(row["findings"])})
