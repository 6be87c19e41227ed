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

    import uvicorn

    from domain.configuration import load_settings
    from sextant.logins import may_listen

    asyncio.run(may_listen(load_settings(), host))
    uvicorn.run("server.app:app", host=host, port=port)
