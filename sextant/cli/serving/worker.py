"""`sextant worker`: ingests what was uploaded, beside the server or on other machines."""

from __future__ import annotations

import importlib
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sextant.facade import Sextant

app = typer.Typer()


@app.command()
def worker(
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency", "-c", min=0, max=64, show_default=False,
            help="Documents in hand at a time; default SEXTANT_WORKER__CONCURRENCY (2).",
        ),
    ] = 0,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, show_default=False,
            help="Tell metrics at http://127.0.0.1:PORT/metrics; 0: any port that is free.",
        ),
    ] = None,
    metrics_host: Annotated[
        str,
        typer.Option(help="Address for metrics; any but this machine's needs SEXTANT_OBSERVE__METRICS_TOKEN."),
    ] = "127.0.0.1",
) -> None:  # fmt: skip
    """Ingest what all users upload, until it is stopped.

    Start as many as you like, on as many machines: all that they share is the database
    (DATABASE_URL). The first SIGTERM or Ctrl-C lets it finish what it has in hand, or give that back
    after SEXTANT_WORKER__DRAIN seconds; another worker goes on with it. What a worker has in hand that
    dies is taken over within half a minute. While workers run, the server need not ingest by itself:
    SEXTANT_WORKER__IN_SERVER=false.
    """
    import asyncio

    where = None if metrics_port is None else (metrics_host, metrics_port)
    asyncio.run(_work(concurrency or None, where))


async def _work(concurrency: int | None, where: tuple[str, int] | None) -> None:
    import asyncio
    import signal

    from sextant.cli.session import open_session
    from sextant.cli.terminal import say

    async with (
        open_session(lengthy=True, unattended=True) as rag,
        _serving_metrics(rag, where) as address,
    ):
        worker = rag.worker(concurrency)
        for order in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(order, worker.stop)
        metrics_hint = f" Metrics: {address}." if address else ""
        say(f"Working.{metrics_hint} Ctrl-C stops.")
        await worker.run()
    say("Stopped.")


def _serving_metrics(
    rag: Sextant, where: tuple[str, int] | None
) -> AbstractAsyncContextManager[str | None]:
    """Return metrics at this address, if one is named."""
    if where is None:
        return nullcontext()
    # By name: the server is above the command line.
    scraping = importlib.import_module("sextant.server.observe.metrics_endpoint")
    serving: AbstractAsyncContextManager[str] = scraping.serving_metrics(rag, *where)
    return serving
