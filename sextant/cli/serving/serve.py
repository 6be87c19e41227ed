"""`sextant serve`: the HTTP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import uvicorn

    from sextant.domain.settings import Settings

app = typer.Typer()

_APP = "sextant.server.app:app"
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

    Stopped by SIGTERM or Ctrl-C it finishes what it began, for `http.drain_seconds`, and exits with 0.
    """
    import asyncio
    import logging

    from sextant.cli.serving import sockets
    from sextant.cli.serving.processes import Alone, Several, refusal
    from sextant.domain.configuration import load_settings
    from sextant.facade.logins import may_listen

    _check_level(log)
    settings = load_settings()
    asyncio.run(may_listen(settings, host))
    if log is not None:
        settings = settings.model_copy(update={"log_level": log.upper()})
    config = _config(settings, host, port, workers)
    bound, patience = sockets.bound_to(host, port), settings.runs.write_seconds
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{bound.getsockname()[1]}"
    logging.getLogger("uvicorn.error").info("Sextant is running on %s (Ctrl-C stops it)", address)
    if workers > 1:
        several = Several(config, [sockets.share_socket(bound, config.backlog, patience)])
        several.run()
        raise typer.Exit(several.exit_code)
    try:
        Alone(config).run(sockets=[sockets.alone(bound, config.backlog, patience)])
    except SystemExit:
        # It does not start, and the log says why.
        raise typer.Exit(refusal(_APP)) from None


def _config(settings: Settings, host: str, port: int, workers: int) -> uvicorn.Config:
    import importlib

    import uvicorn

    # By name: the server is above the command line.
    logs = importlib.import_module("sextant.server.observe.logs")
    return uvicorn.Config(
        _APP,
        host=host,
        port=port,
        workers=workers,
        http="sextant.server.connections:BoundedHead",
        log_config=logs.log_config(settings),
        server_header=False,
        timeout_graceful_shutdown=settings.http.drain_seconds,
        # A process that loads its model and imports says nothing for longer than uvicorn's 5 s.
        timeout_worker_healthcheck=_SILENCE,
    )


def _check_level(log: str | None) -> None:
    from sextant.domain.errors import OptionInvalid

    if log is not None and log.lower() not in _LEVELS:
        raise OptionInvalid(
            f"There is no log level {log!r:.40}.",
            next_step=f"Levels: {', '.join(_LEVELS)}.",
            field="log",
        )
