"""Run a statement that returns one row without a cursor, for searches.

A search runs several statements, and a cursor's conversion of parameters and results is slow.

Also here: ids, scores and vectors in bulk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from struct import Struct
from typing import Any, LiteralString, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import orjson
from psycopg import DataError
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sextant.stores.postgresql.pools import Connection

Vectors = npt.NDArray[np.float32]

_NEAR = np.dtype([("id", (">u8", 2)), ("cosine", ">f8")])
_NEAR_ROW = Struct(">16sd")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The best chunks: ids as halves of shape (n, 2), high first, and scores of shape (n,).

    `cosines` are cosine similarities of a vector search, or scores of a keyword search.
    """

    ids: npt.NDArray[np.uint64]
    cosines: Vectors


class Scored(NamedTuple):
    """A few of the best chunks: ids as text, each with its score."""

    ids: list[str]
    scores: list[float]

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes, float]]) -> Scored:
        """Convert rows of an id as 16 bytes and a score; for a few faster than numpy."""
        ids, scores = list[str](), list[float]()
        for chunk_id, score in rows:
            hex_ = chunk_id.hex()
            ids.append(f"{hex_[:8]}-{hex_[8:12]}-{hex_[12:16]}-{hex_[16:20]}-{hex_[20:]}")
            scores.append(score)
        return cls(ids, scores)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Ids as halves of shape (n, 2), high first, and vectors of shape (n, dimension)."""

    ids: npt.NDArray[np.uint64]
    vectors: Vectors


def halves(ids: bytes | None) -> npt.NDArray[np.uint64]:
    """Decode ids as halves of shape (n, 2), high first."""
    return np.frombuffer(ids or b"", ">u8").reshape(-1, 2).astype(np.uint64)


def format_ids(ids: npt.NDArray[np.uint64]) -> list[str]:
    """Format ids given as halves, shape (n, 2), like `str(UUID(…))`, but faster."""
    digits = ids.astype(">u8").tobytes().hex()
    whole = [digits[start : start + 32] for start in range(0, len(digits), 32)]
    return [f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}" for one in whole]


def nearest_of(rows: bytes | None) -> Nearest:
    """Decode rows of an id and a score."""
    near = np.frombuffer(rows or b"", _NEAR)
    return Nearest(near["id"].astype(np.uint64), near["cosine"].astype(np.float32))


def read_scored(found: Nearest) -> Scored:
    """Return the hits with their ids as text."""
    return Scored(format_ids(found.ids), found.cosines.tolist())


def read_few_scored(rows: bytes | None) -> Scored:
    """Decode a few rows of an id and a score, with ids as text."""
    return Scored.of(_NEAR_ROW.iter_unpack(rows or b""))


def read_embedded(blocks: Sequence[bytes]) -> Embedded:
    """Decode rows of an id and a vector in pgvector's format, which begins with the length."""
    joined = b"".join(blocks)
    length = int.from_bytes(joined[16:18], "big")
    row = np.dtype([("id", (">u8", 2)), ("head", ">u4"), ("vector", (">f4", length))])
    rows = np.frombuffer(joined, row)
    return Embedded(rows["id"].astype(np.uint64), rows["vector"].astype(np.float32))


def rows_from_json(answer: bytes | None) -> list[dict[str, Any]]:
    """Decode the rows that a function of the server returns as one JSON array."""
    rows: list[dict[str, Any]] = orjson.loads(answer) if answer else []
    return rows


TEXT, BINARY = 0, 1  # format codes of PostgreSQL's protocol
_prepared: WeakKeyDictionary[Connection, dict[str, bytes]] = WeakKeyDictionary()
_numbers = count()


async def values_of(
    connection: Connection, query: LiteralString, values: Sequence[object]
) -> list[bytes | None]:
    """Return the values of the first row in binary format; prepare the query once per connection.

    Args:
        connection: used exclusively during the call.
        query: has a placeholder `%s` for each value, with a cast if its type is not clear.
        values: texts, whole numbers, octets, lists of texts, vectors, or None.

    Raises:
        psycopg.Error: as for a cursor.
    """
    names = _prepared.setdefault(connection, {})
    if query in names:
        try:
            return await _fetch_values(connection, names[query], values)
        except InvalidSqlStatementName:
            pass  # cursors deallocate all statements of a connection, for example after a rollback
    names[query] = await _prepare(connection, query)
    return await _fetch_values(connection, names[query], values)


def number_placeholders(query: LiteralString) -> bytes:
    """Replace the placeholders `%s` of a query by the server's numbered ones (`$1`, `$2`)."""
    head, *rest = query.split("%s")
    return (head + "".join(f"${index}{part}" for index, part in enumerate(rest, start=1))).encode()


def encode_values(values: Sequence[object]) -> tuple[list[bytes | None], list[int]]:
    """Encode values for the server; return them with the format code of each (see `values_of`).

    Raises:
        psycopg.DataError: a text contains NUL.
    """
    formats = [BINARY if isinstance(value, (np.ndarray, bytes)) else TEXT for value in values]
    return [*map(_encode_value, values)], formats


async def _prepare(connection: Connection, query: LiteralString) -> bytes:
    """Prepare a query under a new name, since an earlier name may still be in use; return the name."""
    name = b"values %d" % next(_numbers)
    connection.pgconn.send_prepare(name, number_placeholders(query))
    await _result(connection)
    return name


async def _fetch_values(
    connection: Connection, name: bytes, values: Sequence[object]
) -> list[bytes | None]:
    encoded, formats = encode_values(values)
    connection.pgconn.send_query_prepared(name, encoded, formats, result_format=BINARY)
    result = await _result(connection)
    return [result.get_value(0, index) for index in range(result.nfields)] if result.ntuples else []


async def _result(connection: Connection) -> PGresult:
    results: list[PGresult] = await connection.wait(execute(connection.pgconn))
    [result] = results
    if result.status == ExecStatus.FATAL_ERROR:
        raise error_from_result(result)
    return result


def _encode_value(value: object) -> bytes | None:
    """Encode a value for the server."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, np.ndarray):  # in pgvector's binary format
        return len(value).to_bytes(2, "big") + b"\0\0" + value.astype(">f4").tobytes()
    text = _array(value) if isinstance(value, list) else str(value)
    if "\0" in text:  # the server would stop reading there
        raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return text.encode()


def _array(texts: list[str]) -> str:
    quoted = (text.replace("\\", r"\\").replace('"', r"\"") for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
