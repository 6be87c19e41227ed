"""`sextant searches`: the log of searches, where it is kept."""

from __future__ import annotations

from typing import Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId
from sextant.cli.with_sextant import with_part

app = typer.Typer()


@app.command("searches")
def searches(
    graph: GraphId = GRAPH,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Searches at most.")] = 20,
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Forget them all.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the last searches and what they returned. Kept with SEXTANT_SEARCH_LOG__ENABLED=true."""
    if clear:
        number = with_part(lambda rag: rag.chunks(graph), lambda chunks: chunks.forget_searches())
        if as_json:
            terminal.emit({"forgotten": number})
        else:
            terminal.say(f"Forgot {number} {'search' if number == 1 else 'searches'}.")
        return
    found = with_part(lambda rag: rag.chunks(graph), lambda chunks: chunks.searches(limit))
    if as_json:
        terminal.emit(found)
        return
    if not found:
        terminal.say("None was kept. SEXTANT_SEARCH_LOG__ENABLED=true keeps those to come.")
        return
    rows = [
        (
            one.at.strftime("%Y-%m-%d %H:%M:%S"),
            str(one.request.get("mode", "chunks")),
            str(len(one.results)),
            f"{one.milliseconds:.0f}",
            one.query,
        )
        for one in found
    ]
    terminal.table(("AT", "MODE", "RESULTS", "MS", "QUERY"), rows)
