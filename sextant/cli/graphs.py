"""`sextant graphs`: the knowledge bases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson

if TYPE_CHECKING:
    from domain.documents import GraphInfo

app = typer.Typer()


@app.command("graphs")
def graphs(*, as_json: AsJson = False) -> None:
    """List the knowledge bases with their documents and chunks."""
    import asyncio

    listed = asyncio.run(_list())
    if as_json:
        terminal.emit(listed)
        return
    rows = [
        (graph.graph_id, str(graph.documents), str(graph.chunks), terminal.date(graph.created_at))
        for graph in listed
    ]
    terminal.table(("GRAPH", "DOCUMENTS", "CHUNKS", "CREATED"), rows)


async def _list() -> list[GraphInfo]:
    from sextant.cli.session import opened

    async with opened() as rag:
        return await rag.graphs()
