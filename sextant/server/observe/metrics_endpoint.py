"""Who may read metrics, and where a process tells them that answers no other requests."""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sextant.domain.errors import OptionInvalid, SettingsInvalid
from sextant.domain.settings import Settings
from sextant.domain.system import is_loopback
from sextant.facade import Sextant
from sextant.server.connections import BoundedHead
from sextant.server.observe.metrics import MEDIA_TYPE, Metrics, observing


def is_scraper(request: Request, settings: Settings) -> bool:
    """Return whether the request has the token for metrics; nobody has it where none is set."""
    token = settings.observe.metrics_token
    given = request.headers.get("authorization", "").encode()
    return bool(token) and hmac.compare_digest(
        given, f"Bearer {token.get_secret_value() if token else ''}".encode()
    )


@asynccontextmanager
async def serving_metrics(rag: Sextant, host: str, port: int) -> AsyncIterator[str]:
    """Serve `/metrics`, and nothing else, while the block runs; yields its address.

    Args:
        rag: whose metrics.
        host: address to listen on.
        port: its port; 0: any that is free.

    Raises:
        SettingsInvalid: others than this machine reach the address, and there is no token.
        OptionInvalid: nothing can listen there.
    """
    settings = rag.settings
    if settings.observe.metrics_token is None and not is_loopback(host):
        raise SettingsInvalid(
            f"Without a token, metrics are given to this machine only, and not on {host or '*'}.",
            next_step="Set SEXTANT_OBSERVE__METRICS_TOKEN, or leave --metrics-host out.",
            field="metrics-host",
        )
    listening = _bound(host, port)
    async with observing(rag, Metrics()) as observed:

        async def metrics(request: Request) -> Response:
            if settings.observe.metrics_token is not None and not is_scraper(request, settings):
                return PlainTextResponse("Metrics have a token of their own.\n", status_code=401)
            return Response(await observed.measured(), media_type=MEDIA_TYPE)

        server = _WorkerMetrics(
            uvicorn.Config(
                Starlette(routes=[Route("/metrics", metrics)]),
                http=BoundedHead,
                lifespan="off",
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield f"http://{host}:{listening.getsockname()[1]}/metrics"
        finally:
            server.should_exit = True
            await serving


class _WorkerMetrics(uvicorn.Server):
    """A server in a process with other work, which hears the signals itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See uvicorn."""
        yield


def _bound(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), reuse_port=False)
    except (OSError, OverflowError) as error:
        raise OptionInvalid(
            f"Nothing can listen on {host}:{port}: {error}.",
            next_step="Name another --metrics-port; every worker of a machine needs its own.",
            field="metrics-port",
        ) from error
