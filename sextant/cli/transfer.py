"""`sextant ingest`, `import` and `export`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.session import (
    GRAPH,
    STANDARD,
    AsJson,
    GraphId,
    chosen_graph,
    with_sextant,
)
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.facade import Sextant
    from sextant.ingestion.importer import ImportReport
    from sextant.ingestion.pipeline import Ingested, IngestReport

app = typer.Typer()


@app.command("ingest")
def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.")],
    graph: GraphId = GRAPH,
    *,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync",
            help="Delete documents whose files lay in these folders and are there no longer.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ingest documents into a knowledge base. A changed file replaces its old version."""
    from sextant.ingestion.files import find_unsupported

    results = with_sextant(
        lambda rag: _ingest(rag, paths, graph, sync=sync, as_json=as_json), lengthy=True
    )
    others = find_unsupported(paths)
    if as_json:
        files = [_ingested_json(result) for result in results]
        report = {
            "graph_id": graph,
            "files": files,
            "left_out": others,
            "removed": results.removed,
            "warnings": results.warnings,
            "coded_warnings": results.coded_warnings,
        }
        terminal.emit(report)
    elif others:
        terminal.say(_left_out_message(others))
    worst = max((result.error.exit_code for result in results if result.error), default=0)
    if worst:
        raise typer.Exit(worst)


async def _ingest(
    rag: Sextant, paths: list[Path], graph: str, *, sync: bool, as_json: bool
) -> IngestReport:
    from sextant.cli.progress import ingest_with_progress, print_summary
    from sextant.ingestion.parsing.detect import SUPPORTED

    results = await ingest_with_progress(rag, paths, graph, sync=sync, quiet=as_json)
    if not as_json:
        print_summary(results)
        if not results:
            terminal.note(f"Name files, or folders that hold some. {SUPPORTED}")
    return results


def _ingested_json(result: Ingested) -> dict[str, object]:
    return {
        "source": result.source,
        "filename": result.filename,
        "document_id": result.document_id,
        "chunks": result.chunks,
        "unchanged": result.unchanged,
        "warnings": [str(warning) for warning in result.warnings],
        "coverage": result.coverage,
        "error": terminal.describe_error(result.error) if result.error else None,
        "attachments": [_ingested_json(one) for one in result.attachments],
    }


def _left_out_message(others: list[Path]) -> str:
    from sextant.ingestion.parsing.detect import is_named_as_image
    from sextant.text.characters import count_noun

    images = [file for file in others if is_named_as_image(file.name)]
    kinds = Counter(_kind_of(file) for file in others if file not in images)
    listed = terminal.first_of([f"{count} {kind}" for kind, count in kinds.most_common()], 8)
    messages = list[str]()
    if kinds:
        unread = count_noun(kinds.total(), "file")
        messages.append(f"{unread} left out, being of no kind that is read: {listed}")
    if images:
        messages.append(
            f"{count_noun(len(images), 'image')} left out: images are read where they are named, not in folders"
        )
    return "\n".join(messages)


def _kind_of(file: Path) -> str:
    from sextant.ingestion.parsing.detect import EXTENSIONS

    suffix = file.suffix.lower()
    if file.is_dir() or (file.is_symlink() and suffix in EXTENSIONS):
        return "linked from outside"
    return "pipe, socket or device" if suffix in EXTENSIONS else suffix or "no extension"


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
    terminal.show(report, _print_import, as_json=as_json)
    if report.left_out:
        raise typer.Exit(2)


def _print_import(report: ImportReport) -> None:
    for problem in report.problems[:_SHOWN]:
        terminal.warn(f"{'!' if problem.kept else '✗'} line {problem.line}: {problem.reason}")
    if report.problem_count > _SHOWN:
        terminal.warn(f"… and {report.problem_count - _SHOWN} more; --json lists them.")
    for warning in report.warnings:
        terminal.warn_of(warning)
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
        with_sextant(lambda rag: _export_print(rag, graph), lengthy=True)
        return
    name, lines = with_sextant(lambda rag: _write(rag, graph, out), lengthy=True)
    if as_json:
        terminal.emit({"graph_id": name, "out": out, "lines": lines})
    else:
        terminal.note(f"Wrote {count_noun(lines, 'line')} to {out}.")


async def _export_print(rag: Sextant, graph: str) -> None:
    async for line in rag.export_graph(await chosen_graph(rag, graph)):
        terminal.emit(line)


async def _write(rag: Sextant, graph: str, out: Path) -> tuple[str, int]:
    """Write the knowledge base; return its name and the number of lines."""
    import gzip

    from sextant.stores.postgresql.backup import write_atomically

    name, lines = await chosen_graph(rag, graph), 0
    with (
        write_atomically(out) as part,
        gzip.open(part, "wb") if out.suffix == ".gz" else part.open("wb") as file,
    ):
        async for line in rag.export_graph(name):
            file.write(terminal.encode_json(line) + b"\n")
            lines += 1
    return name, lines
