"""What ranking needs to know of chunks: a hundred are ranked where ten are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.scope import Scope
from stores.database import Database
from stores.queries import load_queries
from stores.scopes import id_array, key_of, of_scope

_TRAITS = of_scope(load_queries("traits")["traits"])


@dataclass(frozen=True, slots=True)
class Traits:
    """A chunk without its text.

    Attributes:
        titles: above it, the document's own first.
        said: its topics, keywords, entities and tags, a line each.
        neighbours: ids of the chunks beside it in its section.
    """

    id: str
    titles: Sequence[str]
    said: str
    modality: str
    created_at: datetime
    neighbours: Sequence[str]


async def traits_of(database: Database, scope: Scope, ids: Iterable[str]) -> list[Traits]:
    """The traits of the chunks of these ids, in this order; ids that the scope does not have are left out.

    Raises:
        DatabaseUnavailable: the server does not answer within the time of a lane.
    """
    return [Traits(**row) for row in await trait_rows(database, scope, ids)]


async def trait_rows(database: Database, scope: Scope, ids: Iterable[str]) -> list[dict[str, Any]]:
    """The same as rows, with the names of `Traits`."""
    return await database.read(scope.user_id, _TRAITS, key_of(scope) | {"ids": id_array(ids)})
