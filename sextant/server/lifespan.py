"""What every request shares: opened when the server starts, closed when it stops.

Also here: imports that tell how far they are, as server-sent events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

from fastapi import FastAPI, Request

from sextant.domain.errors import Cancelled
from sextant.domain.fair_semaphore import FairSemaphore, Shares
from sextant.domain.settings import Settings
from sextant.domain.system import map_large_blocks
from sextant.domain.tasks import stop
from sextant.facade import Sextant
from sextant.facade.worker import working
from sextant.graph.dependencies import use_dependencies
from sextant.graph.streaming import as_failed
from sextant.ingestion.progress import OnStage
from sextant.server.auth.authenticator import Authenticator, Rates
from sextant.server.connections import PING, frame
from sextant.server.problems import problem_fields
from sextant.server.runs import Runs
from sextant.server.schemas.answers import on_wire
from sextant.server.schemas.graphs import ImportBody
from sextant.server.uploading import Uploads, watch_shares

Work = Callable[[OnStage], Coroutine[Any, Any, ImportBody]]


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
        self._stage: dict[str, object] = {}
        self.task = asyncio.create_task(work(self._report))
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
            if self._stage and not self.task.done():
                number += 1
                yield frame("progress", self._stage, str(number))
                await asyncio.wait({self.task}, timeout=0.25)  # more often nobody could see
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

    def _report(self, stage: str, done: int, total: int) -> None:
        """May be called from any thread."""
        self._stage = {"stage": stage, "done": done, "total": total}
        self._loop.call_soon_threadsafe(self._news.set)


@dataclass(frozen=True, slots=True)
class Serving:
    """The parts of a running server. `rag` is nobody's in particular: ask `rag_of` for a user's."""

    settings: Settings
    rag: Sextant
    runs: Runs
    searches: FairSemaphore
    authenticator: Authenticator
    rates: Rates
    uploads: Uploads
    watching: Shares
    imports: Imports


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Serving]:
    """Open what the server needs, models warmed up; close it at the end.

    Raises:
        What `Sextant.open` raises.
    """
    async with Sextant.open(settings) as rag:
        await rag.warm_up()
        map_large_blocks()
        runs = Runs(settings.runs)
        http = settings.http
        # Half as many wait: whoever is served under any load has then waited half of a search longer.
        waiting = max(http.searches // 2, 1)
        searches = FairSemaphore(http.searches, http.search_wait_seconds, most_waiting=waiting)
        authenticator = Authenticator(settings, rag.database)
        quota = settings.quota
        rates = Rates(quota.requests_per_second, quota.burst, "Too many requests with this key")
        imports = Imports()
        inside = working(rag.worker()) if settings.worker.in_server else nullcontext()
        try:
            async with inside, _share_slots(rag):
                yield Serving(
                    settings, rag, runs, searches, authenticator, rates,
                    Uploads(settings), watch_shares(), imports,
                )  # fmt: skip
        finally:
            await imports.close()
            await runs.close()
            await authenticator.close()


@asynccontextmanager
async def _share_slots(rag: Sextant) -> AsyncIterator[None]:
    # Under LangGraph's server the graph's nodes run on this loop, too.
    with use_dependencies(await rag.dependencies()):
        yield


def serving_of(request: Request) -> Serving:
    """Return the running server's parts, for a route."""
    app = cast("FastAPI", request.app)
    return cast("Serving", app.state.serving)
