"""Read all that searches need of a scope in blocks, to cache it in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt
import orjson
from psycopg.rows import dict_row

from sextant.domain.scope import Scope, key_of
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.chunks.metadata import ChunkMetadata
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.values import halves
from sextant.stores.postgresql.watched import Connection

_SQL = load_queries("snapshot")
# Half a MB, so that neither the server nor a thread is busy with it for long: what a connection reads at a time it
# keeps room for.
_BLOCK_CHUNKS = 256


class ChunkRow(NamedTuple):
    """All that results and ranking tell of a chunk, as JSON has it; `labels` as `ChunkMetadata` has them.

    What comes before `text` is usually the same of all chunks of a section.
    """

    document_id: str
    external_id: str | None
    filename: str
    document_title: str
    source: str
    section_path: Sequence[str]
    title: str
    section_id: str
    text: str
    page: int | None
    start: int
    end: int
    modality: str
    ordinal: int
    context: str
    labels: str
    created_at: str
    neighbours: Sequence[str]

    @property
    def searched(self) -> str:
        """Return the text that the keyword lane searches."""
        return search_text(self.context, self.text)

    def metadata(self, id_: str) -> ChunkMetadata:
        """Return what ranking asks of the chunk."""
        titles, whole = self.section_path, self.document_title
        return ChunkMetadata(
            id_,
            titles if whole in titles else [whole, *titles],
            self.labels,
            self.modality,
            datetime.fromisoformat(self.created_at),
            self.neighbours,
        )


def search_text(context: str, text: str) -> str:
    """Return the text of a chunk that the keyword lane searches: its context and its text."""
    return f"{context}\n{text}" if context else text


@dataclass(frozen=True, slots=True)
class Block:
    """A block of chunks in the order of ids.

    Attributes:
        ids: halves of shape (n, 2), high first.
        vectors: shape (n, dimension), as stored.
        rows: of each chunk.
    """

    ids: npt.NDArray[np.uint64]
    vectors: Vectors
    rows: Sequence[ChunkRow]


@dataclass(frozen=True, slots=True)
class ScopeSnapshot:
    """A scope as of one moment; `blocks` may be read once.

    Attributes:
        stamp: equals `read_chunks_stamp` until the scope changes.
        chunks: the number of chunks.
        octets: the length of all their texts in bytes.
        dimension: the numbers of a vector.
        complete: whether every chunk has a vector.
    """

    stamp: str
    chunks: int
    octets: int
    dimension: int
    complete: bool
    _connection: Connection
    _scope_key: Mapping[str, int]

    async def blocks(self) -> AsyncIterator[Block]:
        """Yield all chunks of the scope, block by block."""
        after: UUID | None = None
        for _ in range(0, self.chunks, _BLOCK_CHUNKS):
            cursor = self._connection.cursor(row_factory=dict_row, binary=True)
            values = {**self._scope_key, "after": after, "limit": _BLOCK_CHUNKS}
            row = await (await cursor.execute(_SQL["block"], values)).fetchone()
            if row is None or row["ids"] is None:
                return
            after = UUID(bytes=row["ids"][-16:])
            rows = [ChunkRow(*one) for one in orjson.loads(row["rows"])]
            yield Block(halves(row["ids"]), _vectors(row["vectors"]), rows)


async def read_chunks_stamp(database: Database, scope: Scope) -> str:
    """Return a stamp that changes whenever the scope's chunks, texts or vectors do; one round trip."""
    return _stamp_text(await database.call(scope, _SQL["stamp"]))


@asynccontextmanager
async def open_snapshot(database: Database, scope: Scope) -> AsyncIterator[ScopeSnapshot | None]:
    """Open a snapshot of the scope; yield None if the user has no such knowledge base.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    async with database.transaction(scope.user_id, snapshot=True) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        found = await (await cursor.execute(_SQL["head"], key_of(scope))).fetchone()
        if found is None:
            yield None
            return
        yield ScopeSnapshot(
            _stamp_text(found["stamp"]),
            found["chunks"],
            found["octets"],
            found["dimension"],
            found["chunks"] == found["vectors"],
            connection,
            {name: found[name] for name in ("scope_id", "partition_key")},
        )


def _stamp_text(stamp: bytes | None) -> str:
    return (stamp or b"").decode()


def _vectors(octets: bytes) -> Vectors:
    """Decode vectors as pgvector sends them: each is preceded by its length."""
    length = int.from_bytes(octets[:2], "big")
    rows = np.frombuffer(octets, np.dtype([("head", ">u4"), ("vector", (">f4", length))]))
    return rows["vector"].astype(np.float32)
