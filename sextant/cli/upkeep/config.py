"""`sextant config`: every setting with its value, default and origin."""

from __future__ import annotations

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson

app = typer.Typer()


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
