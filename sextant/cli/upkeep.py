"""`sextant doctor`, `config`, `backup`, `restore` and `reembed`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.session import AsJson, run_interruptible, with_sextant
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sextant.domain.configuration import SettingValue
    from sextant.facade import Sextant
    from sextant.facade.doctor import Examination
    from sextant.ingestion.progress import OnStage

app = typer.Typer()

Measure = Annotated[
    bool,
    typer.Option(
        "--measure/--no-measure", help="Measure chat models, or only ask them one short question."
    ),
]

_SIGNS = {"ok": "✓", "off": "-", "warning": "!", "failed": "✗"}
_COLOURS = {"ok": "green", "off": None, "warning": "yellow", "failed": "red"}


@app.command("doctor")
def doctor(*, measure: Measure = True, as_json: AsJson = False) -> None:
    """Check every dependency, and say how to fix what is wrong.

    Chat models are measured by up to three calls (some 12,000 tokens): their speed, the length of their context, and
    options that they refuse. Answers use these figures.
    """
    findings = run_interruptible(_examine(measure=measure, as_json=as_json))
    if as_json:
        terminal.emit(findings)
    worst = max(finding.exit_code for finding in findings)
    if worst:
        raise typer.Exit(worst)


async def _examine(*, measure: bool, as_json: bool) -> list[Examination]:
    from sextant.cli.session import show_log
    from sextant.domain.configuration import load_settings
    from sextant.facade.doctor import examine
    from sextant.ingestion.progress import silent

    settings = load_settings()
    show_log(settings)
    findings = []
    report = silent if as_json else terminal.note
    async for finding in examine(settings, measure=measure, report=report):
        findings.append(finding)
        if not as_json:
            line = f"{_SIGNS[finding.health]} {finding.name}: {finding.detail}"
            typer.secho(terminal.printable(line), fg=_COLOURS[finding.health])
            if finding.next_step:
                terminal.say(f"  {finding.next_step}")
    return findings


@app.command("config")
def config(*, as_json: AsJson = False) -> None:
    """List every setting with its value, default and origin. Secrets are masked."""
    from sextant.domain.configuration import describe_settings, load_settings

    listed = list(describe_settings(load_settings()))
    terminal.show(listed, _print_settings, as_json=as_json)


def _print_settings(listed: Sequence[SettingValue]) -> None:
    for row in listed:
        line = f"{row.variable} = {_text(row.value)}"
        if row.origin == "default":
            terminal.say(line)
        else:
            terminal.heading(f"{line}  ({row.origin}; default {_text(row.default)})")
        terminal.prose(row.description, "    ")


def _text(value: object) -> str:
    return "-" if value is None else str(value)


@app.command("backup")
def backup(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Save the whole database, of all users, to a file.

    It may be in use meanwhile.
    """
    from sextant.domain.errors import OptionInvalid

    if out.exists() and not force:
        raise OptionInvalid(
            f"{out} is there already.", next_step="Name another file, or say --force.", field="out"
        )
    size = run_interruptible(_save(out, as_json=as_json))
    if as_json:
        terminal.emit({"out": out, "bytes": size})
    else:
        terminal.note(f"Saved {size / 1e6:,.1f} MB to {out}. Back: sextant restore {out}")


async def _save(out: Path, *, as_json: bool) -> int:
    import asyncio

    from sextant.cli.progress import stage_bars
    from sextant.domain.configuration import load_settings
    from sextant.stores.postgresql.backup import backup as save
    from sextant.stores.postgresql.database import Database

    settings = await asyncio.to_thread(load_settings)
    async with await Database.open(settings) as database:
        with stage_bars(quiet=as_json) as on_stage:
            return await save(database, out, partial(_count_megabytes, on_stage, "saved"))


def _count_megabytes(on_stage: OnStage, done: str, size: int) -> None:
    on_stage(f"MB {done}", size // 1_000_000, 0)


@app.command("restore")
def restore(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `sextant backup` wrote.")
    ],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where knowledge bases are there; they are lost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of the whole database.

    Stop servers and workers before.
    """
    graphs = run_interruptible(_bring(source, replace=replace, as_json=as_json))
    if as_json:
        terminal.emit({"source": source, "graphs": graphs})
    else:
        terminal.note(f"Restored {count_noun(graphs, 'knowledge base')} from {source}.")


async def _bring(source: Path, *, replace: bool, as_json: bool) -> int:
    import asyncio

    from sextant.cli.progress import stage_bars
    from sextant.domain.configuration import load_settings
    from sextant.stores.postgresql.backup import count_graphs
    from sextant.stores.postgresql.backup import restore as bring
    from sextant.stores.postgresql.database import Database

    settings = await asyncio.to_thread(load_settings)
    async with await Database.open(settings) as database:
        with stage_bars(quiet=as_json) as on_stage:
            count = partial(_count_megabytes, on_stage, "restored")
            await bring(database, source, replace=replace, on_bytes=count)
    async with await Database.open(settings) as database:  # migrates an older schema
        return await count_graphs(database)


@app.command("reembed")
def reembed(*, as_json: AsJson = False) -> None:
    """Embed all documents again. Needed after another model was set; goes on where it was stopped."""
    from sextant.cli.progress import stage_bars

    async def embedded(rag: Sextant) -> int:
        with stage_bars(quiet=as_json) as on_stage:
            return await rag.reembed(partial(on_stage, "passages"))

    chunks = with_sextant(embedded, lengthy=True)
    terminal.print_result(
        f"Embedded {count_noun(chunks, 'passage')}.", {"chunks": chunks}, as_json=as_json
    )
