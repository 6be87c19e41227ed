"""Something of each of many ids, as JSON: Python's own objects would take several times as much."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from sextant.retrievers.memory.room import Fits
from sextant.stores.graph.arrays import IdTable, halves_of_texts, index_of

Row = Mapping[str, Any]

# Rows at a time: some milliseconds of the server, and one of the event loop.
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class JsonRows:
    """JSON values by id.

    Attributes:
        ids: of the values.
        joined: the values, one after the other.
        ends: where each ends, after the 0 where the first begins.
    """

    ids: IdTable
    joined: bytes
    ends: npt.NDArray[np.int64]

    def of(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return the values of some ids, in their order; without those that are not there."""
        rows = index_of(self.ids.halves, halves_of_texts(wanted)).tolist()
        found = self.at([row for row in rows if row >= 0])
        return {own: found[row] for own, row in zip(wanted, rows, strict=True) if row in found}

    def at(self, rows: Sequence[int]) -> dict[int, Any]:
        """Return the values of some rows of `ids`, in their order; without rows that have none."""
        first = np.array(rows, np.intp)
        spans = zip(rows, self.ends[first].tolist(), self.ends[first + 1].tolist(), strict=True)
        return {
            row: orjson.loads(self.joined[start:end]) for row, start, end in spans if end > start
        }

    def written(self, row: int) -> bytes:
        """Return the value of one row as JSON; empty where it has none."""
        return self.joined[self.ends[row] : self.ends[row + 1]]

    @property
    def nbytes(self) -> int:
        """Return bytes of memory, without the ids, which are somebody else's."""
        return len(self.joined) + self.ends.nbytes


async def read_rows(
    ids: IdTable,
    read: Callable[[Sequence[str]], Awaitable[tuple[bytes, Sequence[int]]]],
    fits: Fits,
    at_once: int = _AT_ONCE,
) -> JsonRows | None:
    """Return the values of all ids; None as soon as they seem to have no room.

    Args:
        ids: of all.
        read: the values of some, one after the other, and the bytes of each.
        fits: whether so many bytes find room.
        at_once: of how many it is read at a time.
    """
    joined, sizes = bytearray(), list[int]()
    for start in range(0, len(ids), at_once):
        own, octets = await read(ids.texts_of(range(start, min(start + at_once, len(ids)))))
        joined += own
        sizes += octets
        if not fits(len(joined) * len(ids) // len(sizes)):
            return None
    return JsonRows(ids, bytes(joined), np.cumsum([0, *sizes]))


async def rows_as_json(
    read: Callable[[Sequence[str]], Awaitable[list[dict[str, Any]]]],
    kept: Callable[[Row], object],
    wanted: Sequence[str],
) -> tuple[bytes, list[int]]:
    """Return the value of each id wanted, nothing where there is no row, and the bytes of each.

    Args:
        read: rows of some, each with its `id`.
        kept: what is kept of a row, as JSON has it.
        wanted: the ids.
    """
    return await asyncio.to_thread(_encode_rows, wanted, await read(wanted), kept)


def _encode_rows(
    wanted: Sequence[str], rows: Sequence[Row], kept: Callable[[Row], object]
) -> tuple[bytes, list[int]]:
    written = {row["id"]: orjson.dumps(kept(row)) for row in rows}
    values = [written.get(own, b"") for own in wanted]
    return b"".join(values), [len(own) for own in values]
