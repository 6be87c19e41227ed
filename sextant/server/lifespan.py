"""The parts of a running server, and imports whose progress is streamed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

from fastapi import FastAPI, Request

from sextant.domain.concurrency import FairSemaphore, Shares, stop
from sextant.domain.errors import Cancelled
from sextant.domain.settings import Settings
from sextant.domain.system import map_large_blocks
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
    """The streamed imports. They go on when their client leaves, and end with the server."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[ImportBody]] = set()

    def begin(self, work: Work) -> ImportStream:
        """Begin an import and return the stream of its progress."""
        stream = ImportStream(work)
        self._under_way.add(stream.task)
        stream.task.add_done_callback(self._under_way.discard)
        return stream

    async def close(self) -> None:
        """Stop the imports; importing the same again goes on from there."""
        await stop(*self._under_way)


class ImportStream:
    """One import and its latest progress; a slow reader misses older progress."""

    def __init__(self, work: Work) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._stage: dict[str, object] = {}
        self.task = asyncio.create_task(work(self._report))
        self.task.add_done_callback(lambda _: self._news.set())

    async def events(self, ping_seconds: float) -> AsyncIterator[bytes]:
        """Yield `progress` events, and at the end `done` with the report, or `error`."""
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
                await asyncio.wait({self.task}, timeout=0.25)  # at most four events a second
        last_id = str(number + 1)
        try:
            report = self.task.result()
        except asyncio.CancelledError:
            failed = as_failed(
                Cancelled("The server stops.", next_step="Do the same import again: it goes on.")
            )
        except Exception as error:  # noqa: BLE001 - the edge: a stream ends with an event
            failed = as_failed(error)
        else:
            yield frame("done", report.model_dump(mode="json", by_alias=True), last_id)
            return
        yield frame("error", on_wire(failed) | problem_fields(failed), last_id)

    def _report(self, stage: str, done: int, total: int) -> None:
        """Note progress; may be called from any thread."""
        self._stage = {"stage": stage, "done": done, "total": total}
        self._loop.call_soon_threadsafe(self._news.set)


@dataclass(frozen=True, slots=True)
class Serving:
    """The parts of a running server. `rag` belongs to the default user: `rag_of` gives that of a caller."""

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
    """Open the parts of the server with models warmed up; close them at the end.

    Raises:
        SextantError: as `Sextant.open`.
    """
    async with Sextant.open(settings) as rag:
        await rag.warm_up()
        map_large_blocks()
        runs = Runs(settings.runs)
        http = settings.http
        # Half as many may wait, so waiting adds at most half the time of a search.
        waiting = max(http.searches // 2, 1)
        searches = FairSemaphore(http.searches, http.search_wait_seconds, most_waiting=waiting)
        authenticator = Authenticator(settings, rag.database)
        quota = settings.quota
        rates = Rates(quota.requests_per_second, quota.burst, "Too many requests with this key")
        imports = Imports()
        inside = working(rag.worker()) if settings.worker.in_server else nullcontext()
        try:
            async with inside:
                # LangGraph's server runs the nodes of the graph on this loop, too.
                with use_dependencies(await rag.dependencies()):
                    yield Serving(
                        settings, rag, runs, searches, authenticator, rates,
                        Uploads(settings), watch_shares(), imports,
                    )  # fmt: skip
        finally:
            await imports.close()
            await runs.close()
            await authenticator.close()


def serving_of(request: Request) -> Serving:
    """Return the parts of the running server."""
    app = cast("FastAPI", request.app)
    return cast("Serving", app.state.serving)
