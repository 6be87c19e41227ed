"""`sextant worker`: ingests what was uploaded, beside the server or on other machines."""

from __future__ import annotations

from typing import Annotated

import typer

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
) -> None:  # fmt: skip
    """Ingest the documents that were uploaded, of all users, until it is stopped.

    Start as many as you like, on as many machines: all that they share is the database
    (DATABASE_URL). The first SIGTERM or Ctrl-C lets it finish what it has in hand, or give that back
    after SEXTANT_WORKER__DRAIN seconds; another worker goes on with it. What a worker has in hand that
    dies is taken over within half a minute. While workers run, the server need not ingest by itself:
    SEXTANT_WORKER__IN_SERVER=false.
    """
    import asyncio

    asyncio.run(_work(concurrency or None))


async def _work(concurrency: int | None) -> None:
    import asyncio
    import signal

    from sextant.cli.session import opened
    from sextant.cli.terminal import say

    async with opened(unattended=True) as rag:
        worker = rag.worker(concurrency)
        for order in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(order, worker.stop)
        say("Working. Ctrl-C stops.")
        await worker.run()
    say("Stopped.")
