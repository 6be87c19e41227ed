"""Reading all of a scope that its searches need, to keep it in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt
from psycopg.rows import dict_row

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.postgresql.binary import halves
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of

_SQL = load_queries("packing")
# 2 MB at a time: 10 ms of the server, and as much of a thread that takes it in.
_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Block:
    """Some chunks in the order of ids.

    Attributes:
        ids: halves of shape (n, 2), high first.
        vectors: shape (n, dimension), as stored.
        octets: how long each text is.
        texts: what the keyword lane looks in, one after the other with a line's end between them.
    """

    ids: npt.NDArray[np.uint64]
    vectors: Vectors
    octets: npt.NDArray[np.int64]
    texts: str


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A scope at one moment, to be read once.

    Attributes:
        stamp: what `stamp_of_chunks` says as long as nothing of it has changed.
        chunks, octets: how many there are, and how long their texts are in all.
        vector_octets: how long a vector is.
        complete: whether every chunk has its vector.
    """

    stamp: str
    chunks: int
    octets: int
    vector_octets: int
    complete: bool
    _connection: Connection
    _whose: Mapping[str, int]

    async def blocks(self) -> AsyncIterator[Block]:
        """Yield its chunks."""
        after: UUID | None = None
        for _ in range(0, self.chunks, _AT_ONCE):
            cursor = self._connection.cursor(row_factory=dict_row, binary=True)
            values = {**self._whose, "after": after, "limit": _AT_ONCE}
            row = await (await cursor.execute(_SQL["block"], values)).fetchone()
            assert row is not None  # noqa: S101 - an aggregate
            after = UUID(bytes=row["ids"][-16:])
            yield Block(
                halves(row["ids"]),
                _vectors(row["vectors"]),
                np.frombuffer(row["octets"], ">i4").astype(np.int64),
                row["texts"],
            )


async def stamp_of_chunks(database: Database, scope: Scope) -> str:
    """Return what changes whenever the scope's chunks, their texts or vectors do; one round trip."""
    return _stamp_text(await database.call(scope, _SQL["stamp"]))


@asynccontextmanager
async def open_packing(database: Database, scope: Scope) -> AsyncIterator[Unpacked | None]:
    """Provide the scope as it is now; None when the user has no such knowledge base.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    async with database.transaction(scope.user_id, snapshot=True) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        found = await (await cursor.execute(_SQL["head"], key_of(scope))).fetchone()
        if found is None:
            yield None
            return
        yield Unpacked(
            _stamp_text(found["stamp"]),
            found["chunks"],
            found["octets"],
            found["vector_octets"],
            found["chunks"] == found["vectors"],
            connection,
            {name: found[name] for name in ("scope_id", "partition_key")},
        )


def _stamp_text(stamp: bytes | None) -> str:
    return (stamp or b"").decode()


def _vectors(sent: bytes) -> Vectors:
    """As PostgreSQL sends them: the length comes first."""
    length = int.from_bytes(sent[:2], "big")
    rows = np.frombuffer(sent, np.dtype([("head", ">u4"), ("vector", (">f4", length))]))
    return rows["vector"].astype(np.float32)
