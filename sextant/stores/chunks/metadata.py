"""Read the metadata of chunks that ranking uses; no texts, since far more are ranked than shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sextant.domain.scope import Scope, key_of
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.values import id_array
from sextant.stores.scopes import of_scope

_SQL = load_queries("chunk_metadata")
_METADATA = of_scope(_SQL["metadata"])


@dataclass(frozen=True, slots=True)
class ChunkMetadata:
    """A chunk without its text, as ranking sees it.

    Attributes:
        titles: the titles above it, the document's first.
        labels: its topics, keywords, entities and tags, one a line.
        neighbours: ids of the adjacent chunks in its section.
    """

    id: str
    titles: Sequence[str]
    labels: str
    modality: str
    created_at: datetime
    neighbours: Sequence[str]


async def read_metadata(
    database: Database, scope: Scope, ids: Iterable[str]
) -> list[ChunkMetadata]:
    """Return the metadata of the chunks with these ids, in this order; unknown ids are skipped.

    Raises:
        DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
    """
    rows = await database.read(scope.user_id, _METADATA, key_of(scope) | {"ids": id_array(ids)})
    return [ChunkMetadata(**row) for row in rows]
