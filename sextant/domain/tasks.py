"""Ending tasks that would go on for ever."""

from __future__ import annotations

import asyncio
from typing import Any

# One that was cancelled may have a last thing to do; after so long it is cancelled again.
_AGAIN_SECONDS = 2.0


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and again until all have ended, however they end.

    Once is not enough for a task that loops: up to Python 3.11 `asyncio.wait_for`, by which the connection
    pool waits, forgets a cancellation that comes just when what it waits for is done (python/cpython#86296).
    """
    going = {task for task in tasks if not task.done()}
    while going:
        for task in going:
            task.cancel()
        _, going = await asyncio.wait(going, timeout=_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # whose error nobody asks for is logged as forgotten


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Stop tasks.

    Raises:
        Exception: the first error that one of them had ended with.
    """
    await stop(*tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
