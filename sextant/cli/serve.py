"""`sextant serve`: the HTTP server."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer()

_LEVELS = ("debug", "info", "warning", "error")


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes that answer, each with its own model.")
    ] = 1,
    log: Annotated[
        str | None, typer.Option(help="debug, info, warning or error; default: the log level set.")
    ] = None,
) -> None:
    """Serve answers, searches, documents and graphs over HTTP until it is interrupted.

    Stopped by SIGTERM or SIGINT it finishes what it began, for `http.drain_seconds`.
    """
    import asyncio
    import importlib

    import uvicorn

    from domain.configuration import load_settings
    from sextant.logins import may_listen

    _check(port, workers, log)
    settings = load_settings()
    asyncio.run(may_listen(settings, host))
    if log is not None:
        settings = settings.model_copy(update={"log_level": log.upper()})
    # By name: the server is above the command line.
    logs = importlib.import_module("server.observe.logs")
    uvicorn.run(
        "server.app:app",
        host=host,
        port=port,
        workers=workers,
        log_config=logs.log_config(settings),
        server_header=False,
        timeout_graceful_shutdown=settings.http.drain_seconds,
    )


def _check(port: int, workers: int, log: str | None) -> None:
    from domain.errors import OptionInvalid

    if workers > 1 and port == 0:
        raise OptionInvalid(
            "Several processes cannot share a port that is not known yet.",
            next_step="Name a --port, or leave --workers out.",
            field="port",
        )
    if log is not None and log.lower() not in _LEVELS:
        raise OptionInvalid(
            f"There is no log level {log!r:.40}.",
            next_step=f"Levels: {', '.join(_LEVELS)}.",
            field="log",
        )
