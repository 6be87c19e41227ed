"""`sextant serve`: the HTTP server."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")] = 8000,
) -> None:
    """Serve answers, searches, documents and graphs over HTTP until it is interrupted."""
    import asyncio
    import importlib

    import uvicorn

    from domain.configuration import load_settings
    from sextant.logins import may_listen

    settings = load_settings()
    asyncio.run(may_listen(settings, host))
    # By name: the server is above the command line.
    logs = importlib.import_module("server.observe.logs")
    uvicorn.run("server.app:app", host=host, port=port, log_config=logs.log_config(settings))
