"""`sextant documents`: list the documents of a knowledge base, or delete one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from domain.text import counted
from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, document_id
from sextant.cli.with_sextant import with_sextant

if TYPE_CHECKING:
    from sextant.facade import Sextant

app = typer.Typer()
documents = typer.Typer(help="List or delete the documents of a knowledge base.")
app.add_typer(documents, name="documents")


@documents.command("list")
def list_documents(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """List the documents, and why any could not be taken in."""
    listed = with_sextant(lambda rag: rag.documents(graph))
    if as_json:
        terminal.emit(listed)
        return
    rows = [
        (str(document.id), document.status, str(document.chunk_count), document.source)
        for document in listed
    ]
    terminal.table(("ID", "STATUS", "CHUNKS", "SOURCE"), rows)
    for document in listed:
        if document.error is not None:
            terminal.warn(f"✗ {document.source}: {document.error}")


@documents.command("delete")
def delete_documents(
    ids: Annotated[
        list[UUID],
        typer.Argument(metavar="ID", help="From `documents list`.", parser=document_id),
    ],
    graph: GraphId = GRAPH,
    *,
    as_json: AsJson = False,
) -> None:
    """Delete documents with everything that came from them."""

    async def delete(rag: Sextant) -> None:
        for one in ids:
            await rag.delete_document(one, graph)

    with_sextant(delete)
    if as_json:
        terminal.emit({"deleted": ids})
    else:
        terminal.say(f"Deleted {counted(len(ids), 'document')}.")
