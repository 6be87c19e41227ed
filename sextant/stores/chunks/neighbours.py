"""Read what relates to a chunk: its entities, chunks that share them, and its neighbours in the document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import id_array, key_of, of_scope

_SQL = load_queries("neighbours")
_ENTITIES, _LINKED, _NEIGHBOURS = (
    of_scope(_SQL[name]) for name in ("entities", "linked", "beside")
)


@dataclass(frozen=True, slots=True)
class MentionedInChunk:
    """An entity that a chunk mentions."""

    name: str
    type: str


async def entities_of(
    database: Database, scope: Scope, ids: Sequence[UUID], limit: int = 10
) -> dict[UUID, tuple[MentionedInChunk, ...]]:
    """Return the entities that each chunk mentions, rarest first, at most `limit` of each.

    Chunks that mention nothing are left out.

    Raises:
        DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
    """
    values = key_of(scope) | {"ids": id_array(ids), "most": limit}
    rows = await database.read(scope.user_id, _ENTITIES, values)
    return {row["id"]: tuple(map(MentionedInChunk, row["names"], row["types"])) for row in rows}


async def linked_chunks(
    database: Database, scope: Scope, ids: Sequence[UUID], limit: int = 3
) -> dict[UUID, tuple[UUID, ...]]:
    """Return for each chunk those that share its most specific entities, best first, at most `limit`.

    Raises:
        DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
    """
    values = key_of(scope) | {"ids": id_array(ids), "most": limit}
    linked = defaultdict[UUID, list[UUID]](list)
    for row in await database.read(scope.user_id, _LINKED, values):
        linked[row["id"]].append(row["chunk_id"])
    return {chunk_id: tuple(others) for chunk_id, others in linked.items()}


async def neighbour_chunks(
    database: Database, scope: Scope, chunk_id: UUID, limit: int
) -> dict[UUID, str]:
    """Return the neighbours of a chunk in its document, nearest first, each with its relation to it.

    The relation is `previous` or `next` in reading order, `section` for the same section, or `parent`
    for a chunk directly in the section above. An unknown chunk has no neighbours.

    Raises:
        DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
    """
    values = key_of(scope) | {"id": chunk_id, "most": limit}
    rows = await database.read(scope.user_id, _NEIGHBOURS, values)
    return {row["id"]: row["relation"] for row in rows}
