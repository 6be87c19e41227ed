"""Load named queries, SQL from `sql/queries/*.sql` and Cypher from `cypher/*.cypher`, and decode their rows in bulk.

Each statement of a file begins with `-- name: what_it_does` (Cypher: `// name: …`), followed by a comment
that explains it. Values are always bound (`%(name)s`, `$name`), never inserted into the text.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple, cast
from uuid import UUID

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_NAME = re.compile(r"^(?:--|//) name: (\w+)$", re.MULTILINE)
_FOLDER = files("sextant.stores") / "sql" / "queries"
_CYPHER = files("sextant.stores") / "cypher"


@cache
def load_queries(topic: str) -> Mapping[str, LiteralString]:
    """Return the statements of `sql/queries/<topic>.sql` by name.

    They count as literal strings, since they come only from files of this package.
    """
    return _statements((_FOLDER / f"{topic}.sql").read_text(encoding="utf-8"))


@cache
def load_cypher(topic: str) -> Mapping[str, LiteralString]:
    """Return the statements of `cypher/<topic>.cypher` by name."""
    return _statements((_CYPHER / f"{topic}.cypher").read_text(encoding="utf-8"))


def library_text(file: Path) -> LiteralString:
    """Return a script of an installed library, which is as trusted as the library."""
    return file.read_text(encoding="utf-8")


def _statements(text: str) -> Mapping[str, LiteralString]:
    _, *parts = _NAME.split(text)
    names, bodies = parts[::2], parts[1::2]
    return {
        name: cast(LiteralString, body.strip()) for name, body in zip(names, bodies, strict=True)
    }


def columns_of(row: DataclassInstance) -> dict[str, Any]:
    """Return a dataclass as parameters of a statement: tuples as arrays, members of an enum by value."""
    values = {field.name: getattr(row, field.name) for field in fields(row)}
    for name, value in values.items():
        if isinstance(value, tuple):
            values[name] = list(value)
        elif isinstance(value, Enum):
            values[name] = value.value
    return values


Vectors = npt.NDArray[np.float32]

_ID_AND_SCORE = struct.Struct(">16sd")


class Scored(NamedTuple):
    """Some chunks, best first: ids as text, each with its score."""

    ids: list[str]
    scores: list[float]

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes, float]]) -> Scored:
        """Convert rows of an id as 16 bytes and a score."""
        found = list(rows)
        return cls([str(UUID(bytes=id_)) for id_, _ in found], [score for _, score in found])

    @classmethod
    def decode(cls, rows: bytes | None) -> Scored:
        """Decode rows as the server joins them."""
        return cls.of(_ID_AND_SCORE.iter_unpack(rows or b""))


@dataclass(frozen=True, slots=True)
class Embedded:
    """Ids as halves of shape (n, 2), high first, and vectors of shape (n, dimension)."""

    ids: npt.NDArray[np.uint64]
    vectors: Vectors


def halves(ids: bytes | None) -> npt.NDArray[np.uint64]:
    """Decode ids as halves of shape (n, 2), high first."""
    return np.frombuffer(ids or b"", ">u8").reshape(-1, 2).astype(np.uint64)


def read_embedded(blocks: Sequence[bytes]) -> Embedded:
    """Decode rows of an id and a vector in pgvector's format, which begins with the length."""
    joined = b"".join(blocks)
    length = int.from_bytes(joined[16:18], "big")
    row = np.dtype([("id", (">u8", 2)), ("head", ">u4"), ("vector", (">f4", length))])
    rows = np.frombuffer(joined, row)
    return Embedded(rows["id"].astype(np.uint64), rows["vector"].astype(np.float32))
