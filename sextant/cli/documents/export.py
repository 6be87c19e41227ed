"""`sextant export`: a whole knowledge base as JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, STANDARD, AsJson, GraphId
from sextant.cli.with_sextant import with_sextant
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.facade import Sextant

app = typer.Typer()


@app.command("export")
def export(
    graph: GraphId = GRAPH,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write here; .gz compresses. By default, and with -, to standard output."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a knowledge base as `sextant import` takes it."""
    if out is None or out == STANDARD:
        with_sextant(lambda rag: _print(rag, graph), lengthy=True)
        return
    lines = with_sextant(lambda rag: _write(rag, graph, out), lengthy=True)
    if as_json:
        terminal.emit({"graph_id": graph, "out": out, "lines": lines})
    else:
        terminal.note(f"Wrote {count_noun(lines, 'line')} to {out}.")


async def _print(rag: Sextant, graph: str) -> None:
    async for line in rag.export_graph(graph):
        terminal.emit(line)


async def _write(rag: Sextant, graph: str, out: Path) -> int:
    import gzip

    from sextant.stores.array_files import write_atomically

    lines = 0
    with (
        write_atomically(out) as part,
        gzip.open(part, "wb") if out.suffix == ".gz" else part.open("wb") as file,
    ):
        async for line in rag.export_graph(graph):
            file.write(terminal.encode_json(line) + b"\n")
            lines += 1
    return lines
