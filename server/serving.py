"""What every request shares: opened when the server starts, closed when it stops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from fastapi import FastAPI, Request

from domain.settings import Settings
from server.auth.authenticator import Authenticator
from server.limits import Rates
from server.runs import Runs
from sextant.facade import Sextant


@dataclass(frozen=True, slots=True)
class Serving:
    """The parts of a running server. `rag` is nobody's in particular: ask `rag_of` for a user's."""

    settings: Settings
    rag: Sextant
    runs: Runs
    authenticator: Authenticator
    rates: Rates


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Serving]:
    """Open what the server needs, models warmed up; close it at the end.

    Raises:
        What `Sextant.open` raises.
    """
    async with Sextant.open(settings) as rag:
        await rag.warm_up()
        runs = Runs(settings.runs)
        authenticator = Authenticator(settings, rag.database)
        try:
            yield Serving(settings, rag, runs, authenticator, Rates(settings.quota))
        finally:
            await runs.close()
            await authenticator.close()


def serving_of(request: Request) -> Serving:
    """The running server's parts, for a route."""
    app = cast("FastAPI", request.app)
    return cast("Serving", app.state.serving)
