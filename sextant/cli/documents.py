"""`sextant documents`, `structure`, `graphs` and `chunks`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from sextant.cli import terminal
from sextant.cli.session import (
    GRAPH,
    AsJson,
    BudgetTokens,
    DryRun,
    GraphId,
    ListByDefault,
    chosen_graph,
    document_id,
    print_estimate,
    usage_text,
    with_chunks,
    with_sextant,
)
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.domain.documents import Document, GraphInfo, Section
    from sextant.facade import Sextant
    from sextant.facade.chunks import Chunks
    from sextant.ingestion.model_describer import DescribedByModel, DescriptionEstimate

app = typer.Typer()
chunks = typer.Typer(help="Let the chat model describe passages.")
app.add_typer(chunks, name="chunks")


@chunks.command("describe")
def describe(
    graph: GraphId = GRAPH,
    *,
    dry_run: DryRun = False,
    budget: BudgetTokens = None,
    as_json: AsJson = False,
) -> None:
    """Let the chat model say what passages are about.

    It is asked where SEXTANT_INGESTION__METADATA is llm. Goes on where it stopped.
    """
    if dry_run:

        async def estimated(chunks: Chunks) -> tuple[DescriptionEstimate, bool]:
            return await chunks.estimate_describing(), chunks.by_model

        estimate, by_model = with_chunks(graph, estimated)
        expected = f"{count_noun(estimate.passages, 'passage')} and {count_noun(estimate.sections, 'section')} of several parts"
        print_estimate(estimate, expected, as_json=as_json)
        if not by_model and not as_json:
            terminal.note("The chat model is not asked unless SEXTANT_INGESTION__METADATA is llm.")
        return
    from sextant.cli.progress import stage_bars

    async def described(chunks: Chunks) -> DescribedByModel:
        with stage_bars(quiet=as_json) as on_stage:
            return await chunks.describe(budget_tokens=budget, on_progress=on_stage)

    report = with_chunks(graph, described, lengthy=True)
    terminal.show(report, _print_report, as_json=as_json)
    if report.failed:
        raise typer.Exit(1)


def _print_report(done: DescribedByModel) -> None:
    terminal.say(
        f"{done.summary}, {done.failed} failed, {done.left} left; {usage_text(done.usage)}"
    )
    for warning in done.warnings:
        terminal.warn_of(warning)


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
    sections = with_chunks(graph, lambda chunks: chunks.structure(document))
    terminal.show(sections, _print_sections, as_json=as_json)


def _print_sections(sections: Sequence[Section]) -> None:
    for section in sections:
        space = "  " * len(section.path)
        page = f"  (page {section.page})" if section.page is not None else ""
        terminal.heading(f"{space}{section.title}{page}")
        if section.summary:
            terminal.prose(section.summary, f"{space}  ")
        if section.keywords:
            terminal.faint(f"{space}  {', '.join(section.keywords)}")


graphs = typer.Typer(cls=ListByDefault, help="List the knowledge bases, or delete one.")
app.add_typer(graphs, name="graphs")


@graphs.command("list")
def list_graphs(*, as_json: AsJson = False) -> None:
    """List the knowledge bases with their documents and chunks."""
    terminal.show(with_sextant(lambda rag: rag.graphs()), _print_graphs, as_json=as_json)


def _print_graphs(listed: Sequence[GraphInfo]) -> None:
    rows = [
        (one.graph_id, one.documents, one.chunks, terminal.date(one.created_at)) for one in listed
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
    terminal.print_result(f"Deleted {graph}.", {"deleted": graph}, as_json=as_json)


documents = typer.Typer(cls=ListByDefault, help="List or delete the documents of a knowledge base.")
app.add_typer(documents, name="documents")


@documents.command("list")
def list_documents(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """List the documents, with the errors of failed ones."""

    async def list_chosen(rag: Sextant) -> list[Document]:
        return await rag.documents(await chosen_graph(rag, graph))

    terminal.show(with_sextant(list_chosen), _print_documents, as_json=as_json)


def _print_documents(listed: Sequence[Document]) -> None:
    rows = [
        (one.id, one.status, one.chunk_count, terminal.on_one_line(one.source)) for one in listed
    ]
    terminal.table(("ID", "STATUS", "CHUNKS", "SOURCE"), rows)
    for document in listed:
        if document.error is not None:
            terminal.warn(f"✗ {terminal.on_one_line(document.source)}: {document.error}")


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
    """Delete documents with everything derived from them.

    A document with several files of the same bytes only loses one name at a time.
    """

    async def delete(rag: Sextant) -> dict[UUID, str | None]:
        chosen = await chosen_graph(rag, graph)
        return {one: await rag.delete_document(one, chosen) for one in ids}

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
