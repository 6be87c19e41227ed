"""Imports that tell how far they are, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from sextant.domain.errors import Cancelled
from sextant.domain.tasks import stop
from sextant.graph.failures import as_failed
from sextant.ingestion.progress import OnStage
from sextant.server.problems import problem_fields
from sextant.server.schemas.answers import on_wire
from sextant.server.schemas.graphs import ImportBody
from sextant.server.sse import PING, frame

Work = Callable[[OnStage], Coroutine[Any, Any, ImportBody]]

# More often nobody could see.
_PACE_SECONDS = 0.25


class Imports:
    """The imports that are followed; like others they go on when their client leaves, and end with the server."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[ImportBody]] = set()

    def begin(self, work: Work) -> Following:
        """Begin one, to be followed."""
        following = Following(work)
        self._under_way.add(following.task)
        following.task.add_done_callback(self._under_way.discard)
        return following

    async def close(self) -> None:
        """End what is under way; the same import again goes on from there."""
        await stop(*self._under_way)


class Following:
    """One import, and the latest that it told: who reads slowly misses what is past."""

    def __init__(self, work: Work) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._told: dict[str, object] = {}
        self.task = asyncio.create_task(work(self._tell))
        self.task.add_done_callback(lambda _: self._news.set())

    async def events(self, ping_seconds: float) -> AsyncIterator[bytes]:
        """Yield `progress` now and then, and at the end `done` with the report, or `error`."""
        number = 0
        while not self.task.done():
            try:
                async with asyncio.timeout(ping_seconds):
                    await self._news.wait()
            except TimeoutError:
                yield PING
                continue
            self._news.clear()
            if self._told and not self.task.done():
                number += 1
                yield frame("progress", self._told, str(number))
                await asyncio.wait({self.task}, timeout=_PACE_SECONDS)
        yield self._last(str(number + 1))

    def _last(self, event_id: str) -> bytes:
        try:
            report = self.task.result()
        except asyncio.CancelledError:
            failed = as_failed(
                Cancelled("The server stops.", next_step="Do the same import again: it goes on.")
            )
        except Exception as error:  # noqa: BLE001 - the edge: a stream ends with an event
            failed = as_failed(error)
        else:
            return frame("done", report.model_dump(mode="json", by_alias=True), event_id)
        return frame("error", on_wire(failed) | problem_fields(failed), event_id)

    def _tell(self, stage: str, done: int, total: int) -> None:
        """May be called from any thread."""
        self._told = {"stage": stage, "done": done, "total": total}
        self._loop.call_soon_threadsafe(self._news.set)
