"""`sextant documents`: list the documents of a knowledge base, or delete one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, document_id
from sextant.cli.with_sextant import with_sextant
from sextant.text.characters import count_noun

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
    """Delete documents with everything that came from them.

    One that was given as several files of the same bytes loses one name; the last takes it away.
    """

    async def delete(rag: Sextant) -> dict[UUID, str | None]:
        return {one: await rag.delete_document(one, graph) for one in ids}

    stays_as = with_sextant(delete)
    copies = {one: name for one, name in stays_as.items() if name is not None}
    deleted = [one for one in stays_as if one not in copies]
    if as_json:
        terminal.emit(
            {"deleted": deleted, "kept": {str(one): name for one, name in copies.items()}}
        )
        return
    terminal.say(f"Deleted {count_noun(len(deleted), 'document')}.")
    for one, name in copies.items():
        terminal.warn(f"{one} stays as {name}, a file of the same bytes: delete it once more.")
