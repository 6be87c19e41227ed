"""Decode ids, scores and vectors in bulk, for which the driver's conversion of each is slow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

_NEAR = np.dtype([("id", (">u8", 2)), ("cosine", ">f8")])


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


def read_embedded(blocks: Sequence[bytes]) -> Embedded:
    """Decode rows of an id and a vector in pgvector's format, which begins with the length."""
    joined = b"".join(blocks)
    length = int.from_bytes(joined[16:18], "big")
    row = np.dtype([("id", (">u8", 2)), ("head", ">u4"), ("vector", (">f4", length))])
    rows = np.frombuffer(joined, row)
    return Embedded(rows["id"].astype(np.uint64), rows["vector"].astype(np.float32))


def id_array(ids: Iterable[UUID | str | int]) -> str:
    """Return ids as the text of a PostgreSQL array; much faster than the driver's conversion."""
    return f"{{{','.join(map(str, ids))}}}"
