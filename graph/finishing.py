"""What must be done to its end once it was begun, although a run may be stopped at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Do `work`; where the task that waits for it is cancelled meanwhile, it is so when the work is done.

    A scope of anyio shields from the cancellation of other scopes, not from `Task.cancel`.
    """
    doing = asyncio.create_task(work)
    stopped: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not doing.done():
            try:
                await asyncio.wait({doing})
            except asyncio.CancelledError as error:
                stopped = error
    if stopped is not None:
        raise stopped from doing.exception()
    return doing.result()
