"""Ids, scores and vectors in bulk: as one value, row after row, as PostgreSQL sends them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

Vectors = npt.NDArray[np.float32]

_NEAR = np.dtype([("id", (">u8", 2)), ("cosine", ">f8")])
_NEAR_ROW = Struct(">16sd")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The ids of the best chunks, as halves of shape (n, 2), high first, and their scores.

    `cosines` are those of a vector search, or a keyword search's scores.
    """

    ids: npt.NDArray[np.uint64]
    cosines: Vectors


class Scored(NamedTuple):
    """The same of a few: ids as text, each with its score."""

    ids: list[str]
    scores: list[float]

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes, float]]) -> Scored:
        """Return rows of an id as sixteen bytes and a score; numpy would take twice as long."""
        ids, scores = list[str](), list[float]()
        for own, score in rows:
            one = own.hex()
            ids.append(f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}")
            scores.append(score)
        return cls(ids, scores)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Ids, as halves of shape (n, 2), high first, and their vectors, shape (n, dimension)."""

    ids: npt.NDArray[np.uint64]
    vectors: Vectors


def halves(ids: bytes | None) -> npt.NDArray[np.uint64]:
    """Return ids as pairs of numbers, high first, shape (n, 2)."""
    return np.frombuffer(ids or b"", ">u8").reshape(-1, 2).astype(np.uint64)


def format_ids(ids: npt.NDArray[np.uint64]) -> list[str]:
    """Return ids given as halves, shape (n, 2), each as `str(UUID(…))`, in a tenth of the time."""
    digits = ids.astype(">u8").tobytes().hex()
    whole = [digits[start : start + 32] for start in range(0, len(digits), 32)]
    return [f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}" for one in whole]


def nearest_of(rows: bytes | None) -> Nearest:
    """Return rows of an id and a score."""
    near = np.frombuffer(rows or b"", _NEAR)
    return Nearest(near["id"].astype(np.uint64), near["cosine"].astype(np.float32))


def read_scored(found: Nearest) -> Scored:
    """Return the same as text."""
    return Scored(format_ids(found.ids), found.cosines.tolist())


def read_few_scored(rows: bytes | None) -> Scored:
    """Return the same rows, if they are few."""
    return Scored.of(_NEAR_ROW.iter_unpack(rows or b""))


def read_embedded(blocks: Sequence[bytes]) -> Embedded:
    """Read rows of an id and a vector, as PostgreSQL sends them: the vector's length comes first."""
    joined = b"".join(blocks)
    length = int.from_bytes(joined[16:18], "big")
    row = np.dtype([("id", (">u8", 2)), ("head", ">u4"), ("vector", (">f4", length))])
    rows = np.frombuffer(joined, row)
    return Embedded(rows["id"].astype(np.uint64), rows["vector"].astype(np.float32))


def rows_from_json(sent: bytes | None) -> list[dict[str, Any]]:
    """Return rows that a function of the server sent as one JSON array."""
    rows: list[dict[str, Any]] = orjson.loads(sent) if sent else []
    return rows
