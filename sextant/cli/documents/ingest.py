"""`sextant ingest`: files and folders into a knowledge base."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId
from sextant.cli.with_sextant import with_sextant

if TYPE_CHECKING:
    from sextant.facade import Sextant
    from sextant.ingestion.pipeline import Ingested, IngestReport

app = typer.Typer()

# Kinds of files left out that are named.
_KINDS = 8


@app.command("ingest")
def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.")],
    graph: GraphId = GRAPH,
    *,
    as_json: AsJson = False,
) -> None:
    """Take documents into a knowledge base. A changed file replaces its old version."""
    from sextant.ingestion.files import find_unsupported

    results = with_sextant(lambda rag: _ingest(rag, paths, graph, as_json=as_json), lengthy=True)
    others = find_unsupported(paths)
    if as_json:
        files = [_ingested_json(result) for result in results]
        report = {
            "graph_id": graph,
            "files": files,
            "left_out": others,
            "warnings": results.warnings,
        }
        terminal.emit(report)
    elif others:
        terminal.say(_left_out_message(others))
    worst = max((result.error.exit_code for result in results if result.error), default=0)
    if worst:
        raise typer.Exit(worst)


async def _ingest(rag: Sextant, paths: list[Path], graph: str, *, as_json: bool) -> IngestReport:
    from sextant.cli.progress import ingest_with_progress, print_summary
    from sextant.ingestion.parsing.detect import SUPPORTED

    results = await ingest_with_progress(rag, paths, graph, quiet=as_json)
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
        "error": terminal.describe_error(result.error) if result.error else None,
    }


def _left_out_message(others: list[Path]) -> str:
    from sextant.text.characters import count_noun

    kinds = Counter(_kind_of(file) for file in others)
    listed = terminal.first_of([f"{count} {kind}" for kind, count in kinds.most_common()], _KINDS)
    return f"{count_noun(len(others), 'file')} left out, being of no kind that is read: {listed}"


def _kind_of(file: Path) -> str:
    from sextant.ingestion.parsing.detect import EXTENSIONS

    suffix = file.suffix.lower()
    if suffix in EXTENSIONS or file.is_dir():
        return "linked from outside"
    return suffix or "no extension"
