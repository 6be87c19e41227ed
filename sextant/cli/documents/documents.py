"""`sextant documents`, `structure` and `graphs`: which documents and knowledge bases there are, and how a document is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, document_id
from sextant.cli.with_sextant import with_part, with_sextant
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.facade import Sextant
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
