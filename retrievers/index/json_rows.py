"""Rows as JSON, one after the other in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson


@dataclass(frozen=True, slots=True)
class JsonRows:
    """Rows of values, each as a JSON array.

    Attributes:
        joined: the rows, one after the other.
        ends: where each ends, after the 0 where the first begins.
    """

    joined: bytes
    ends: npt.NDArray[np.int64]

    @classmethod
    def of(cls, written: Collection[bytes]) -> JsonRows:
        """Return rows that are written already."""
        return cls(b"".join(written), np.cumsum([0, *map(len, written)]))

    def at(self, row: int) -> list[Any]:
        """Return the values of a row; of none where there is no such row."""
        values: list[Any] = orjson.loads(self.joined[self.ends[row] : self.ends[row + 1]] or b"[]")
        return values

    @property
    def nbytes(self) -> int:
        """Return the bytes that they take."""
        return len(self.joined) + self.ends.nbytes


@dataclass(slots=True)
class JsonRowsBuilder:
    """Rows as they are being read, block by block: an object for each would leave gaps in memory."""

    _blocks: list[bytes] = field(default_factory=list[bytes])
    _sizes: list[int] = field(default_factory=lambda: [0])

    def add(self, rows: Iterable[Sequence[object] | None]) -> None:
        """Write the next rows; None: there is no such row."""
        written = [b"" if row is None else orjson.dumps(tuple(row)) for row in rows]
        self._blocks.append(b"".join(written))
        self._sizes += map(len, written)

    def estimate(self, rows: int) -> int:
        """Return the bytes of so many rows, by those that are here."""
        return sum(self._sizes) * rows // max(len(self._sizes) - 1, 1)

    def build(self) -> JsonRows:
        """Return all rows; nothing is left here."""
        joined = b"".join(self._blocks)
        self._blocks.clear()
        return JsonRows(joined, np.cumsum(self._sizes))
