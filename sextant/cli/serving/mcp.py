"""`sextant mcp`: the knowledge bases as tools of an agent or a chat host, over standard input."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

app = typer.Typer()


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
    import importlib

    from sextant.cli.session import show_log
    from sextant.cli.with_sextant import run_interruptible
    from sextant.domain.configuration import load_settings

    settings = load_settings()
    show_log(settings)
    # By name: the server is above the command line.
    stdio = importlib.import_module("sextant.server.mcp.server")
    run_interruptible(stdio.serve(settings, names))
