"""Reading from files and spools without keeping the loop waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


async def next_of(
    items: Iterator[T], number: int, size: Callable[[T], int] = lambda _: 0, room: int = 0
) -> list[T]:
    """Return the next items, fetched off the loop; empty at the end.

    Args:
        items: from these.
        number: so many at most.
        size: of an item; none is added to what has more than `room` together.
        room: as large as a batch may be before its last item.
    """

    def taken() -> list[T]:
        batch, held = list[T](), 0
        while len(batch) < number and held <= room:
            try:
                batch.append(next(items))
            except StopIteration:
                break
            held += size(batch[-1])
        return batch

    return await asyncio.to_thread(taken)
