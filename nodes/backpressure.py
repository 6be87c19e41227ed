"""Keeps a run from getting far ahead of its reader."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar


class Backpressure:
    """Lets `ahead` events be written before the first of them is read."""

    def __init__(self, ahead: int) -> None:
        self._slots = asyncio.Semaphore(ahead)

    def set(self) -> None:
        """Make this the pace of runs begun in the current context."""
        _pace.set(self)

    def read(self) -> None:
        """Say that one paced event was read."""
        self._slots.release()

    async def wait(self) -> None:
        """Wait for room for one more event."""
        await self._slots.acquire()


_pace: ContextVar[Backpressure | None] = ContextVar("pace", default=None)


async def wait_for_reader() -> None:
    """Wait, where a pace is set, until one more event of the answer may be written."""
    if (pace := _pace.get()) is not None:
        await pace.wait()
