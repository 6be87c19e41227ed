"""Who parses and embeds next, when several users have documents in hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from sextant.ingestion.workers import WorkShares

Share = Callable[[str], AbstractAsyncContextManager[None]]


class Work:
    """Tasks that each hold a share until they are let go, in the order in which they got it."""

    def __init__(self, share: Share) -> None:
        self.begun: list[str] = []
        self._share = share
        self._release: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self, *users: str) -> None:
        self._tasks += [asyncio.create_task(self._hold(user)) for user in users]
        await self._settle()

    async def finish_one(self) -> None:
        """Let the one go that has held its share longest."""
        self._release[next(iter(self._release))].set()
        await self._settle()

    async def finish_all(self) -> list[str]:
        while not all(task.done() for task in self._tasks):
            await self.finish_one()
        return self.begun

    async def _hold(self, user: str) -> None:
        async with self._share(user):
            name = f"{user}{len(self.begun)}"
            self.begun.append(user)
            released = self._release[name] = asyncio.Event()
            await released.wait()
            del self._release[name]

    async def _settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


async def test_files_of_one_user_that_take_long_to_parse_keep_nobody_else_waiting() -> None:
    work = Work(WorkShares().parsing)
    await work.begin(*"AAAAAA")
    assert work.begun == ["A", "A"]
    await work.begin("B")
    assert work.begun == ["A", "A", "B"]
    assert await work.finish_all() == [*"AABAAAA"]


async def test_the_embedding_model_goes_from_user_to_user() -> None:
    work = Work(WorkShares().embedding)
    await work.begin(*"AAAAAA", "B", "B", "C")
    assert work.begun == ["A"]
    assert await work.finish_all() == [*"ABCABAAAA"]


async def test_whoever_stops_waiting_for_a_share_keeps_none() -> None:
    shares = WorkShares()
    work = Work(shares.embedding)
    await work.begin("A")
    waiting = asyncio.create_task(shares.embedding("A").__aenter__())
    await asyncio.sleep(0)
    waiting.cancel()
    await work.begin("B")
    assert await work.finish_all() == ["A", "B"]
