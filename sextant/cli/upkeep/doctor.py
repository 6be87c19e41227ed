"""`sextant doctor`: what Sextant depends on, how it is, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson

if TYPE_CHECKING:
    from sextant.facade.doctor import Examination

app = typer.Typer()

_SIGNS = {"ok": "✓", "off": "-", "warning": "!", "failed": "✗"}
_COLOURS = {"ok": "green", "off": None, "warning": "yellow", "failed": "red"}


@app.command("doctor")
def doctor(*, as_json: AsJson = False) -> None:
    """Check every dependency, and say how to mend what is wrong."""
    import asyncio

    findings = asyncio.run(_examine(as_json=as_json))
    if as_json:
        terminal.emit(findings)
    worst = max(finding.exit_code for finding in findings)
    if worst:
        raise typer.Exit(worst)


async def _examine(*, as_json: bool) -> list[Examination]:
    from sextant.cli.session import show_log
    from sextant.domain.configuration import load_settings
    from sextant.facade.doctor import examine

    settings = load_settings()
    show_log(settings)
    findings = []
    async for finding in examine(settings):
        findings.append(finding)
        if not as_json:
            _print(finding)
    return findings


def _print(finding: Examination) -> None:
    line = f"{_SIGNS[finding.health]} {finding.name}: {finding.detail}"
    typer.secho(terminal.printable(line), fg=_COLOURS[finding.health])
    if finding.next_step:
        terminal.say(f"  {finding.next_step}")
