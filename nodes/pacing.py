"""Keeps a run from getting far ahead of its reader.

LangGraph queues what nodes write without bound, so a reader that stands still would have the whole
answer pile up. Whoever reads a run sets a pace for it; the answer waits when too much of it is unread,
stops reading from the model's connection meanwhile, and so the endpoint waits too.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar


class Backpressure:
    """Lets `ahead` events be written before the first of them is read."""

    def __init__(self, ahead: int) -> None:
        self._room = asyncio.Semaphore(ahead)

    def set(self) -> None:
        """Make this the pace of runs begun in the current context."""
        _pace.set(self)

    def read(self) -> None:
        """Say that one paced event was read."""
        self._room.release()

    async def wait(self) -> None:
        """Wait for room for one more event."""
        await self._room.acquire()


_pace: ContextVar[Backpressure | None] = ContextVar("pace", default=None)


async def wait_for_reader() -> None:
    """Wait, where a pace is set, until one more event of the answer may be written."""
    if (pace := _pace.get()) is not None:
        await pace.wait()
