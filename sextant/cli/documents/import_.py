"""`sextant import`: a whole knowledge base from JSON Lines."""

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
    from sextant.ingestion.importer import ImportReport

app = typer.Typer()

_SHOWN = 20


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="JSON Lines, may be gzipped; docs/import.md has the format. - is standard input.",
        ),
    ],
    graph: GraphId = GRAPH,
    *,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first line that cannot be used.")
    ] = False,
    facts_as_passages: Annotated[
        bool,
        typer.Option(
            "--facts-as-passages",
            help="Of a graph without documents: make its relations and descriptions passages, which questions find.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import documents, chunks, entities and relations. Doing it again changes nothing."""
    from sextant.cli.progress import stage_bars

    source = Path("/dev/stdin") if file == STANDARD else file

    async def imported(rag: Sextant) -> ImportReport:
        with stage_bars(quiet=as_json) as on_stage:
            return await rag.import_graph(
                source,
                graph,
                strict=strict,
                facts_as_passages=facts_as_passages,
                on_progress=on_stage,
            )

    report = with_sextant(imported, lengthy=True)
    if as_json:
        terminal.emit(report)
    else:
        _print(report)
    if report.left_out:
        raise typer.Exit(2)


def _print(report: ImportReport) -> None:
    for problem in report.problems[:_SHOWN]:
        terminal.warn(f"{'!' if problem.kept else '✗'} line {problem.line}: {problem.reason}")
    if report.problem_count > _SHOWN:
        terminal.warn(f"… and {report.problem_count - _SHOWN} more; --json lists them.")
    for warning in report.warnings:
        terminal.warn(f"Note: {warning}")
    terminal.say(
        f"{count_noun(report.documents, 'document')} ({report.unchanged} unchanged), {count_noun(report.chunks, 'passage')}, "
        f"{count_noun(report.entities, 'entity')}, {count_noun(report.relations, 'relation')}"
    )
    if report.graph_alone:
        terminal.warn(
            "Note: A question finds passages, and this graph has none. Import it again with "
            "--facts-as-passages, which makes passages of its relations and descriptions."
        )
    if report.graph is not None:
        terminal.say(
            "With what the texts say, the graph has "
            f"{count_noun(report.graph.entities, 'entity')} and {count_noun(report.graph.relations, 'relation')}."
        )
