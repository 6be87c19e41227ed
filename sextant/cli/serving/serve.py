"""`sextant serve`: the HTTP server."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import uvicorn

app = typer.Typer()

# Seconds after which a process that does not answer is replaced by another.
_SILENCE = 60
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
    """Serve the web page, the HTTP API and MCP.

    Stopped by SIGTERM or SIGINT it finishes what it began, for `http.drain_seconds`.
    """
    import asyncio
    import importlib

    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from domain.configuration import load_settings
    from sextant.cli.serving import listening
    from sextant.logins import may_listen

    _check_level(log)
    settings = load_settings()
    asyncio.run(may_listen(settings, host))
    if log is not None:
        settings = settings.model_copy(update={"log_level": log.upper()})
    # By name: the server is above the command line.
    logs = importlib.import_module("server.observe.logs")
    config = uvicorn.Config(
        "server.app:app",
        host=host,
        port=port,
        workers=workers,
        http="server.edge.connections:BoundedHead",
        log_config=logs.log_config(settings),
        server_header=False,
        timeout_graceful_shutdown=settings.http.drain_seconds,
        # A process that loads its model and imports says nothing for longer than uvicorn's 5 s.
        timeout_worker_healthcheck=_SILENCE,
    )
    bound, patience = _bound(config), settings.runs.write_seconds
    if workers > 1:
        Multiprocess(config, [listening.shared(bound, config.backlog, patience)]).run()
        return
    server = uvicorn.Server(config)
    server.run(sockets=[listening.alone(bound, config.backlog, patience)])
    if not server.started:
        raise typer.Exit(1)


def _bound(config: uvicorn.Config) -> socket.socket:
    """The socket to listen on; uvicorn logs why there is none, and would end the process."""
    from domain.errors import OptionInvalid

    try:
        return config.bind_socket()
    except SystemExit:
        raise OptionInvalid(
            f"{config.host}:{config.port} cannot be listened on; another server may run there.",
            next_step="Choose another with --port; 0 takes any that is free.",
            field="port",
        ) from None


def _check_level(log: str | None) -> None:
    from domain.errors import OptionInvalid

    if log is not None and log.lower() not in _LEVELS:
        raise OptionInvalid(
            f"There is no log level {log!r:.40}.",
            next_step=f"Levels: {', '.join(_LEVELS)}.",
            field="log",
        )
