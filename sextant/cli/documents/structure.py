"""`sextant structure`: the section tree of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, document_id
from sextant.cli.with_sextant import with_part

if TYPE_CHECKING:
    from sextant.facade.knowledge.chunks import StructureNode

app = typer.Typer()


@app.command("structure")
def structure(
    document: Annotated[
        UUID, typer.Argument(metavar="ID", help="From `documents list`.", parser=document_id)
    ],
    graph: GraphId = GRAPH,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a document's sections, and what each is about."""
    root = with_part(lambda rag: rag.chunks(graph), lambda chunks: chunks.structure(document))
    if as_json:
        terminal.emit(root)
    else:
        _print(root, 0)


def _print(node: StructureNode, depth: int) -> None:
    space = "  " * depth
    page = f"  (page {node.page})" if node.page is not None else ""
    terminal.heading(f"{space}{node.title}{page}")
    if node.summary:
        terminal.prose(node.summary, f"{space}  ")
    if node.keywords:
        terminal.faint(f"{space}  {', '.join(node.keywords)}")
    for child in node.children:
        _print(child, depth + 1)
