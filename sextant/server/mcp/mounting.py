"""The tools over streamable HTTP, at `/mcp` and `/mcp-compat`, for the caller that HTTP knows.

No session is kept between requests, so any replica serves any of them. For the same reason there is
nothing to send unasked, and no stream that a GET could open (it would only stay open: 405).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

from fastapi import FastAPI, Request, Response
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from sextant.domain.events import Done, Event, Failed
from sextant.server.auth.caller import Principal
from sextant.server.mcp.building import Naming, build_server
from sextant.server.mcp.tools import Ask, Call, Caller
from sextant.server.routing.guards import Reader, rag_of
from sextant.server.routing.router import router as new_router
from sextant.server.runs import Runs
from sextant.server.serving import serving_of

PATHS = {"/mcp": Naming.DOTTED, "/mcp-compat": Naming.COMPAT}

_BODY_BYTES = 1_000_000  # of a call; files are uploaded elsewhere

router = new_router("tools", in_schema=False)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What answers at each path, while the server runs."""

    managers: Mapping[str, StreamableHTTPSessionManager]


@asynccontextmanager
async def endpoints() -> AsyncIterator[Endpoints]:
    """Run what serves the tools; a mounted application's own lifespan would never run."""
    managers = {path: _manager(naming) for path, naming in PATHS.items()}
    stop, ready = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(_run(managers, ready, stop))
    waiting = asyncio.create_task(ready.wait())
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        yield Endpoints(managers)
    finally:
        waiting.cancel()
        stop.set()
        await running


async def _run(
    managers: Mapping[str, StreamableHTTPSessionManager], ready: asyncio.Event, stop: asyncio.Event
) -> None:
    # In a task of its own: a manager must be left by the task that entered it, and whoever runs a
    # lifespan need not keep to one.
    first, second = managers.values()
    async with first.run(), second.run():
        ready.set()
        await stop.wait()


def _manager(naming: Naming) -> StreamableHTTPSessionManager:
    server = build_server(_caller_of, naming)
    # Whose request it is, and for which host and page it was meant, `Reader` has seen to: the
    # library's own check would answer 421 to every name but localhost.
    anywhere = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(
        stateless_http=True, max_request_body_size=_BODY_BYTES, transport_security=anywhere
    )
    return server.session_manager


def _caller_of(call: Call) -> Caller:
    request = cast("Request", call.request_context.request)
    return cast("Caller", request.state.caller)


async def _in_slot(runs: Runs, principal: Principal, ask: Ask) -> AsyncGenerator[Event]:
    """Yield the events of an answer that has a slot of its own while it lasts; raises what `start` does."""
    queue = asyncio.Queue[Event]()

    def told(event: Event, _: str) -> bytes:
        queue.put_nowait(event)
        return b""

    run = runs.start(principal, ask, told)
    try:
        while True:
            event = await queue.get()
            yield event
            if isinstance(event, Done | Failed):
                return
    finally:
        run.stop()


class _Handled(Response):
    """What the tools' own server answers."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


@router.post("/mcp")
@router.post("/mcp-compat")
async def mcp(request: Request, principal: Reader) -> Response:
    """Return the tools `kb.search`, `kb.related`, `kb.preview` and `kb.ask`, or `kb_search` and so on."""
    serving = serving_of(request)
    run = partial(_in_slot, serving.runs, principal)
    place = partial(serving.searches.place, principal.quota_key)
    request.state.caller = Caller(rag_of(request, principal), run, place)
    running = cast("FastAPI", request.app).state.mcp
    return _Handled(cast("Endpoints", running).managers[request.url.path])
