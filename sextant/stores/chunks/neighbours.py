"""What stands around a chunk: the entities it mentions, and the chunks that mention them, too."""

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
_ENTITIES, _LINKED, _BESIDE = (of_scope(_SQL[name]) for name in ("entities", "linked", "beside"))


@dataclass(frozen=True, slots=True)
class MentionedInChunk:
    """An entity that a chunk mentions."""

    name: str
    type: str


async def entities_of(
    database: Database, scope: Scope, ids: Sequence[UUID], most: int = 10
) -> dict[UUID, tuple[MentionedInChunk, ...]]:
    """Return the entities that chunks mention, the rarest first, `most` of each; of none nothing.

    Raises:
        DatabaseUnavailable: the server does not answer within the time of a lane.
    """
    values = key_of(scope) | {"ids": id_array(ids), "most": most}
    rows = await database.read(scope.user_id, _ENTITIES, values)
    return {row["id"]: tuple(map(MentionedInChunk, row["names"], row["types"])) for row in rows}


async def linked_chunks(
    database: Database, scope: Scope, ids: Sequence[UUID], most: int = 3
) -> dict[UUID, tuple[UUID, ...]]:
    """Return the chunks that share the most telling entities with each, best first, `most` of each.

    Raises:
        DatabaseUnavailable: the server does not answer within the time of a lane.
    """
    values = key_of(scope) | {"ids": id_array(ids), "most": most}
    found = defaultdict[UUID, list[UUID]](list)
    for row in await database.read(scope.user_id, _LINKED, values):
        found[row["id"]].append(row["chunk_id"])
    return {own: tuple(others) for own, others in found.items()}


async def neighbour_chunks(
    database: Database, scope: Scope, chunk_id: UUID, most: int
) -> dict[UUID, str]:
    """Return the chunks around one in its document, nearest first, and how each is related to it.

    `previous` and `next` in reading order, `section` in the same section, `parent` right in the one
    above. Of a chunk that the scope does not have, none.

    Raises:
        DatabaseUnavailable: the server does not answer within the time of a lane.
    """
    values = key_of(scope) | {"id": chunk_id, "most": most}
    rows = await database.read(scope.user_id, _BESIDE, values)
    return {row["id"]: row["relation"] for row in rows}
