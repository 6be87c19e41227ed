"""A part at a time: from files and spools without keeping the loop waiting, and of what is at hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


async def next_of(
    items: Iterator[T], number: int, size: Callable[[T], int] = lambda _: 0, room: int = 0
) -> list[T]:
    """The next items, fetched off the loop; empty at the end.

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


def runs_of(items: Iterable[T], size: Callable[[T], int], room: int) -> Iterator[list[T]]:
    """Items in their order, in runs that are together no larger than `room`; one that is larger is alone."""
    run, held = list[T](), 0
    for item in items:
        if run and held + size(item) > room:
            yield run
            run, held = [], 0
        run.append(item)
        held += size(item)
    if run:
        yield run
