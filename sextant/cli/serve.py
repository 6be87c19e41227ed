"""`sextant serve`, `worker` and `mcp`: the HTTP server, workers, and the tools over standard input."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    import uvicorn

    from sextant.domain.settings import Settings

app = typer.Typer()


_APP = "sextant.server.app:app"


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes that answer, each with its own model.")
    ] = 1,
) -> None:
    """Serve the web page, the HTTP API and MCP.

    Stopped by SIGTERM or Ctrl-C it finishes what it began, for `http.drain_seconds`, and exits with 0.
    """
    import asyncio
    import logging

    from sextant.cli import processes
    from sextant.domain.configuration import load_settings
    from sextant.stores.api_keys import may_listen

    settings = load_settings()
    asyncio.run(may_listen(settings, host))
    config = _config(settings, host, port, workers)
    bound, patience = processes.bound_to(host, port), settings.runs.write_seconds
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{bound.getsockname()[1]}"
    logging.getLogger("uvicorn.error").info("Sextant is running on %s (Ctrl-C stops it)", address)
    if workers > 1:
        several = processes.Several(
            config, [processes.share_socket(bound, config.backlog, patience)]
        )
        several.run()
        raise typer.Exit(several.exit_code)
    try:
        processes.Alone(config).run(sockets=[processes.alone(bound, config.backlog, patience)])
    except SystemExit:
        # The log says why it does not start.
        raise typer.Exit(processes.refusal(_APP)) from None


def _config(settings: Settings, host: str, port: int, workers: int) -> uvicorn.Config:
    import uvicorn

    from sextant.server.observe.logs import log_config

    return uvicorn.Config(
        _APP,
        host=host,
        port=port,
        workers=workers,
        http="sextant.server.connections:BoundedHead",
        log_config=log_config(settings),
        server_header=False,
        timeout_graceful_shutdown=settings.http.drain_seconds,
        # A process that loads its model does not answer within uvicorn's 5 s.
        timeout_worker_healthcheck=60,
    )


@app.command()
def worker(
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency", "-c", min=0, max=64, show_default=False,
            help="Documents in hand at a time; default SEXTANT_WORKER__CONCURRENCY (3).",
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
    """Ingest the uploads of all users, until it is stopped.

    Start as many workers as you like, on any machines; they share only the database (DATABASE_URL).
    After the first SIGTERM or Ctrl-C a worker finishes its documents, or gives them back after
    SEXTANT_WORKER__DRAIN seconds. Documents of a worker that dies are taken over within half a minute.
    With workers the server need not ingest by itself: SEXTANT_WORKER__IN_SERVER=false.
    """
    import asyncio

    where = None if metrics_port is None else (metrics_host, metrics_port)
    asyncio.run(_work(concurrency or None, where))


async def _work(concurrency: int | None, where: tuple[str, int] | None) -> None:
    import asyncio
    import signal

    from sextant.cli.session import open_session
    from sextant.cli.terminal import say

    async with open_session(lengthy=True, unattended=True) as rag, AsyncExitStack() as stack:
        metrics_hint = ""
        if where is not None:
            from sextant.server.observe.metrics import serving_metrics

            address = await stack.enter_async_context(serving_metrics(rag, *where))
            metrics_hint = f" Metrics: {address}."
        worker = rag.worker(concurrency)
        for order in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(order, worker.stop)
        say(f"Working.{metrics_hint} Ctrl-C stops.")
        await worker.run()
    say("Stopped.")


@app.command("mcp")
def mcp(
    names: Annotated[
        Literal["dotted", "compat"],
        typer.Option(help="dotted: kb.search; compat: kb_search, for hosts that take no dot."),
    ] = "dotted",
) -> None:
    """Serve the MCP tools over standard input and output.

    For a chat host or an agent that starts this command.
    """
    from sextant.cli.session import run_interruptible, show_log
    from sextant.domain.configuration import load_settings

    settings = load_settings()
    show_log(settings)
    from sextant.server.mcp.server import serve_stdio

    run_interruptible(serve_stdio(settings, names))
