"""What the commands print: text for people, JSON for scripts, errors on standard error.

Control codes are written only to a terminal, never into a pipe or a file.
"""

from __future__ import annotations

import sys

import typer

from domain.errors import SextantError


def emit(value: object) -> None:
    """Print `value` (dataclasses, paths, dates included) as one line of JSON on standard output."""
    import orjson

    sys.stdout.write(orjson.dumps(value, default=str).decode() + "\n")


def report(error: SextantError, *, as_json: bool) -> None:
    """Print an error on standard error: one sentence and the next step, or the same as JSON."""
    if as_json:
        import orjson

        sys.stderr.write(orjson.dumps({"error": described(error)}).decode() + "\n")
        return
    typer.secho(f"Error: {error.message}", err=True, fg=typer.colors.RED)
    if error.next_step:
        typer.echo(error.next_step, err=True)


def described(error: SextantError) -> dict[str, object]:
    """An error as a JSON object, the same in every command."""
    return {
        "code": error.code,
        "message": error.message,
        "next_step": error.next_step,
        "field": error.field,
        "retryable": error.retryable,
    }


def heading(text: str) -> None:
    """Print a line that stands out on a terminal."""
    typer.secho(text, bold=True)


def faint(text: str) -> None:
    """Print a line that steps back on a terminal."""
    typer.secho(text, dim=True)


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print rows in aligned columns; the last column is not padded."""
    widths = [max(_width(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    heading(_line(header, widths))
    for row in rows:
        typer.echo(_line(row, widths))


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = [
        cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Columns that `text` takes on a terminal: two for a wide (Chinese) character."""
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
