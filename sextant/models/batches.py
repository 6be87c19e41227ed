"""Work in batches, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_batches(
    work: Callable[[Sequence[Item]], Awaitable[Result]],
    items: Sequence[Item],
    *,
    size: int,
    at_once: int,
) -> list[Result]:
    """Return what `work` makes of each batch of `items`, in order.

    The first batch that fails stops the others, and its error is raised; so does a cancellation.

    Args:
        work: takes up to `size` items.
        items: in order.
        size: of a batch, at least 1.
        at_once: batches under way at a time.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(start: int) -> Result:
        async with gate:
            return await work(items[start : start + size])

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(start)) for start in range(0, len(items), size)]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
