"""Progress of long work: bars on a terminal, elsewhere a line for each file and one every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sextant.cli import terminal
from sextant.domain.documents import JobStage
from sextant.ingestion.pipeline import Ingested, IngestReport
from sextant.ingestion.progress import OnProgress, OnStage, Progress, silent
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.facade import Sextant


_ENDS = (JobStage.DONE, JobStage.FAILED)
_LINE_SECONDS = 10.0  # between two lines of progress where there is no terminal


async def ingest_with_progress(
    rag: Sextant,
    paths: Sequence[str | Path],
    graph_id: str,
    *,
    sync: bool = False,
    quiet: bool = False,
) -> IngestReport:
    """Ingest files and folders, and show each file's stage and chunks on standard error."""
    with _display(quiet=quiet) as on_progress:
        return await rag.ingest(paths, graph_id=graph_id, on_progress=on_progress, sync=sync)


def print_summary(report: IngestReport) -> None:
    """Print the failures and warnings of the files, and the totals."""
    files = len(report)
    results = [one for result in report for one in _with_attachments(result)]
    for result in results:
        if result.error is not None:
            terminal.warn(f"✗ {terminal.on_one_line(result.source)}: {result.error}")
        elif result.same_as is not None:
            terminal.note(terminal.on_one_line(f"= {result.source}: same as {result.same_as}"))
        for warning in result.warnings:
            terminal.warn(terminal.on_one_line(f"! {result.source}: {warning}"))
    for name in report.removed:
        terminal.note(terminal.on_one_line(f"- {name}: removed, its file is gone"))
    failed = sum(result.error is not None for result in results)
    same = sum(result.same_as is not None and result.error is None for result in results)
    unchanged = sum(result.unchanged and result.same_as is None for result in results)
    stored = len(results) - failed - unchanged - same
    chunks = sum(result.chunks for result in results if result.same_as is None)
    parts = [
        f"{stored} ingested ({count_noun(chunks, 'passage')})",
        f"{unchanged} unchanged",
        f"{failed} failed",
    ]
    if same:
        parts.insert(2, f"{same} the same as another")
    if report.removed:
        parts.append(f"{len(report.removed)} removed")
    named = count_noun(files, "file")
    if len(results) > files:
        named += f" and {count_noun(len(results) - files, 'attachment')}"
    terminal.say(f"{named}: " + ", ".join(parts))


def _with_attachments(result: Ingested) -> Iterator[Ingested]:
    yield result
    for attached in result.attachments:
        yield from _with_attachments(attached)


@contextmanager
def stage_bars(*, quiet: bool) -> Iterator[OnStage]:
    """Provide a callback that shows the progress of each stage."""
    if quiet:
        yield silent
        return
    if not sys.stderr.isatty():
        say = seldom()
        yield lambda stage, done, total: say(f"{stage}: {_so_far(done, total)}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Bars(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        tasks = dict[str, TaskID]()

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for before in bars.tasks:  # an earlier stage without a total has ended
                    bars.update(before.id, total=before.total or before.completed)
                tasks[stage] = bars.add_task(stage, total=None)
            # Without a total the bar only counts.
            bars.update(tasks[stage], completed=done, total=total or None)

        yield show


@contextmanager
def _display(*, quiet: bool) -> Iterator[OnProgress]:
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        with _bars() as on_progress:
            yield on_progress
    else:
        yield _lines()


def _lines() -> OnProgress:
    say = seldom()

    def show(progress: Progress) -> None:
        if progress.stage in _ENDS:
            terminal.note(_finished_line(progress))
        else:
            name, far = (
                terminal.on_one_line(progress.filename),
                _so_far(progress.done, progress.total),
            )
            thing = " page" if progress.stage is JobStage.OCR else ""
            why = f" ({progress.note})" if progress.note else ""
            say(f"… {name}: {progress.stage.value}{thing} {far}".rstrip() + why)

    return show


def seldom(clock: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """Return a function that prints a line on standard error if none was printed for ten seconds."""
    due = clock() + _LINE_SECONDS

    def say(line: str) -> None:
        nonlocal due
        if (now := clock()) >= due:
            terminal.note(line)
            due = now + _LINE_SECONDS

    return say


def _so_far(done: int, total: int) -> str:
    return f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""


def _finished_line(progress: Progress) -> str:
    name = terminal.on_one_line(progress.filename)
    if progress.stage is JobStage.FAILED:
        return f"✗ {name}" + (f": {progress.note}" if progress.note else "")
    return f"✓ {name}: {progress.note or count_noun(progress.total, 'passage')}"


@contextmanager
def _bars() -> Iterator[OnProgress]:
    """Provide a callback that shows a bar for each file, and a line for a finished one."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    stage, name = TextColumn("{task.fields[stage]:<8}"), TextColumn("{task.description}")
    with Bars(stage, BarColumn(), MofNCompleteColumn(), name, console=console) as bars:
        tasks = dict[str, TaskID]()

        def show(progress: Progress) -> None:
            shown = escape(terminal.printable(terminal.on_one_line(progress.filename)))
            if progress.stage in _ENDS:
                bars.console.print(
                    escape(terminal.printable(_finished_line(progress))), highlight=False
                )
                if (task := tasks.pop(progress.filename, None)) is not None:
                    bars.remove_task(task)
                return
            if progress.filename not in tasks:
                tasks[progress.filename] = bars.add_task(shown, stage="", total=None)
            bars.update(
                tasks[progress.filename],
                description=f"{shown} ({progress.note})" if progress.note else shown,
                stage=progress.stage.value,
                completed=progress.done,
                total=progress.total or None,
            )

        yield show
