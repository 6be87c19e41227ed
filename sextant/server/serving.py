"""What every request shares: opened when the server starts, closed when it stops."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import cast

from fastapi import FastAPI, Request

from sextant.domain.fair_semaphore import FairSemaphore
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.facade.working import working
from sextant.graph.dependencies import use_dependencies
from sextant.server.auth.authenticator import Authenticator
from sextant.server.auth.rates import Rates
from sextant.server.importing import Imports
from sextant.server.runs import Runs
from sextant.server.uploading import Uploads
from sextant.server.watching import Watching

# At 100,000 one collection of a burst's objects stopped the event loop for 70 to 210 ms; at so many for
# 17, seldom 80, and took no more CPU in all (docs/performance.md).
_YOUNG_OBJECTS = 10_000


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
    watching: Watching
    imports: Imports


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Serving]:
    """Open what the server needs, models warmed up; close it at the end.

    Raises:
        What `Sextant.open` raises.
    """
    async with Sextant.open(settings) as rag:
        await rag.warm_up()
        _collect_in_small_steps()
        runs = Runs(settings.runs)
        http = settings.http
        # Half as many wait: whoever is served under any load has then waited half of a search longer.
        waiting = max(http.searches // 2, 1)
        searches = FairSemaphore(http.searches, http.search_wait_seconds, most_waiting=waiting)
        authenticator = Authenticator(settings, rag.database)
        quota = settings.quota
        rates = Rates(quota.requests_per_second, quota.burst, "Too many requests with this key")
        watching = Watching(lambda user_id: rag.as_user(user_id).library())
        imports = Imports()
        inside = working(rag.worker()) if settings.worker.in_server else nullcontext()
        try:
            async with inside, _shared_slots(rag):
                yield Serving(
                    settings, rag, runs, searches, authenticator, rates,
                    Uploads(settings), watching, imports,
                )  # fmt: skip
        finally:
            await watching.close()
            await imports.close()
            await runs.close()
            await authenticator.close()


def _collect_in_small_steps() -> None:
    """Collect garbage as a server should: few and long collections would keep callers waiting."""
    young, *older = gc.get_threshold()
    if young > _YOUNG_OBJECTS:
        gc.set_threshold(_YOUNG_OBJECTS, *older)


@asynccontextmanager
async def _shared_slots(rag: Sextant) -> AsyncIterator[None]:
    # Under LangGraph's server the graph's nodes run on this loop, too.
    with use_dependencies(await rag.dependencies()):
        yield


def serving_of(request: Request) -> Serving:
    """Return the running server's parts, for a route."""
    app = cast("FastAPI", request.app)
    return cast("Serving", app.state.serving)
