"""`sextant graphs`: list the knowledge bases, or delete one."""

from __future__ import annotations

from typing import Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson
from sextant.cli.with_sextant import with_sextant

app = typer.Typer()
graphs = typer.Typer(help="List the knowledge bases, or delete one.")
app.add_typer(graphs, name="graphs")


@graphs.callback(invoke_without_command=True)
def list_graphs(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the knowledge bases with their documents and chunks, or delete one."""
    if context.invoked_subcommand is not None:
        return
    listed = with_sextant(lambda rag: rag.graphs())
    if as_json:
        terminal.emit(listed)
        return
    rows = [
        (graph.graph_id, str(graph.documents), str(graph.chunks), terminal.date(graph.created_at))
        for graph in listed
    ]
    terminal.table(("GRAPH", "DOCUMENTS", "CHUNKS", "CREATED"), rows)
    for graph in listed:
        for warning in graph.warnings:
            terminal.warn(terminal.on_one_line(f"! {graph.graph_id}: {warning}"))


@graphs.command("delete")
def delete_graph(
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="From `sextant graphs`.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a knowledge base with everything in it; asks first."""
    if not yes:
        typer.confirm(
            f"Delete the knowledge base {terminal.printable(graph)!r} with all its documents?",
            abort=True,
            err=True,
        )
    with_sextant(lambda rag: rag.delete_graph(graph))
    if as_json:
        terminal.emit({"deleted": graph})
    else:
        terminal.say(f"Deleted {graph}.")
