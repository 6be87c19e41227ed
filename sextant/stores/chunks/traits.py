"""What ranking needs to know of chunks: a hundred are ranked where ten are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import id_array, key_of, of_scope

_SQL = load_queries("traits")
_TRAITS, _PACKED = of_scope(_SQL["traits"]), of_scope(_SQL["packed"])


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
    """Return the traits of the chunks of these ids, in this order; ids that the scope does not have are left out.

    Raises:
        DatabaseUnavailable: the server does not answer within the time of a lane.
    """
    rows = await database.read(scope.user_id, _TRAITS, key_of(scope) | {"ids": id_array(ids)})
    return [Traits(**row) for row in rows]


async def read_traits(
    database: Database, scope: Scope, ids: Iterable[str]
) -> tuple[bytes, list[int]]:
    """Return the traits of these chunks as JSON objects, one after the other, and the octets of each: 0 where there is none.

    Raises:
        DatabaseUnavailable: the server does not answer within the time of a lane.
    """
    [row] = await database.read(scope.user_id, _PACKED, key_of(scope) | {"ids": id_array(ids)})
    return row["traits"] or b"", np.frombuffer(row["octets"] or b"", ">i4").tolist()


def traits_from(row: dict[str, Any]) -> Traits:
    """Return one JSON object of `read_traits`, read."""
    return Traits(**row | {"created_at": datetime.fromisoformat(row["created_at"])})
