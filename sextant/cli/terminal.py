"""Output of the commands: text for people, JSON for scripts, errors on standard error.

Prose is wrapped between words on a terminal. Control codes are written only to a terminal, never to a pipe or a file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, TextIO, TypeVar
from unicodedata import east_asian_width

import typer

from sextant.domain.errors import SextantError
from sextant.text.characters import language_of, readable_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

T = TypeVar("T")

# A line break, a gap, a wide character with the punctuation that must not begin a line, or a word, which may hold
# no-break spaces ("12 400", "10 km").
_WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
_STOPS = "，。；：？！、）》」』】”’)\\].,;:?!"
_PIECE = re.compile(rf"\n|[ \t]+|[{_WIDE}][{_STOPS}]*|[^ \t\n{_WIDE}]+[{_STOPS}]*")


def columns(text: str) -> int:
    """Return the width of `text` on a terminal: two columns for a wide (Chinese) character."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


class Wrapping:
    """Wraps text that comes in pieces to lines of `width` columns; width 0 does not wrap."""

    def __init__(self, write: Callable[[str], object], width: int, indent: str = "") -> None:
        self._write = write
        self._width = width
        self._indent = indent
        self._column = 0
        self._gap = ""
        self._pending = ""

    def add(self, text: str) -> None:
        """Add text, and write all but its last word, which may go on."""
        if not self._width:
            self._write(text)
            return
        *whole, self._pending = _PIECE.findall(self._pending + text) or [""]
        for piece in whole:
            self._put(piece)

    def end(self) -> None:
        """Write the last word."""
        self._put(self._pending)
        self._pending = self._gap = ""

    def _put(self, piece: str) -> None:
        if piece == "\n":
            self._break("")
        elif not piece.strip():
            self._gap += piece
        else:
            if self._column and self._column + columns(self._gap + piece) > self._width:
                self._break(self._indent)
            self._write(self._gap + piece)
            self._column += columns(self._gap + piece)
            self._gap = ""

    def _break(self, indent: str) -> None:
        self._write("\n" + indent)
        self._column, self._gap = columns(indent), ""


def width_of_terminal(stream: TextIO) -> int:
    """Return the width of the stream's terminal; 0 if it is none.

    `shutil.get_terminal_size` asks only about standard output, which may be a pipe while this stream is a terminal.
    """
    if not stream.isatty():
        return 0
    chosen, columns = os.environ.get("COLUMNS", ""), 0
    with suppress(OSError):
        columns = os.get_terminal_size(stream.fileno()).columns
    return int(chosen) if chosen.isdecimal() else columns or 80


def wrap_text(text: str, width: int, indent: str = "") -> str:
    """Return `text` wrapped to `width` columns with later lines indented; unchanged for width 0."""
    lines: list[str] = []
    wrapping = Wrapping(lines.append, width, indent)
    wrapping.add(text)
    wrapping.end()
    return "".join(lines)


# A row of a table, and the rule below its head.
_ROW = re.compile(r"\|.*\|")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
# C0 and C1 controls but tab and line feed (ECMA-48), and the marks that reverse text (Unicode TR36).
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def emit(value: object) -> None:
    """Print `value` as one line of JSON on standard output."""
    sys.stdout.write(encode_json(value).decode() + "\n")


def print_result(message: str, value: object, *, as_json: bool) -> None:
    """Print a result on standard output: its message, or where JSON is wanted its value."""
    if as_json:
        emit(value)
    else:
        say(message)


def show(value: T, print_value: Callable[[T], None], *, as_json: bool) -> None:
    """Print `value` as JSON, or with `print_value` for people."""
    if as_json:
        emit(value)
    else:
        print_value(value)


def encode_json(value: object) -> bytes:
    """Return `value`, including dataclasses, paths and dates, as JSON.

    Bytes of a file name that are not UTF-8 are escaped as in Python.
    """
    import orjson

    try:
        return orjson.dumps(value, default=_text_of, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:
        return orjson.dumps(_readable(value), default=_text_of, option=orjson.OPT_NON_STR_KEYS)


def _text_of(value: object) -> str:
    return readable_name(str(value))


def _readable(value: object) -> object:
    if isinstance(value, str):
        return readable_name(value)
    if isinstance(value, Mapping):
        return {readable_name(str(key)): _readable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _readable(getattr(value, field.name)) for field in fields(value)}
    return value


def report(error: SextantError, *, as_json: bool) -> None:
    """Print an error on standard error: one sentence and the next step, or the same as JSON."""
    if as_json:
        sys.stderr.write(encode_json({"error": describe_error(error)}).decode() + "\n")
        return
    message, next_step = error.wording("en")
    sentence = " ".join(f"Error: {message}".split())
    typer.secho(_fitting(sentence, err=True), err=True, fg=typer.colors.RED)
    if next_step:
        note(next_step)


def describe_error(error: SextantError) -> dict[str, object]:
    """Return an error as a JSON object, the same in every command."""
    return {
        "code": error.code,
        "message": error.message,
        "next_step": error.next_step,
        "field": error.field,
        "retryable": error.retryable,
    }


def heading(text: str) -> None:
    """Print a line, bold on a terminal."""
    typer.secho(_fitting(text), bold=True)


def faint(text: str) -> None:
    """Print a line, dim on a terminal."""
    typer.secho(_fitting(text), dim=True)


def say(text: str) -> None:
    """Print a line on standard output."""
    typer.echo(printable(text))


def write(text: str) -> None:
    """Print a part of a line at once, for a streamed answer."""
    typer.echo(printable(text), nl=False)
    sys.stdout.flush()


def prose(text: str, indent: str = "") -> None:
    """Print text with an indent, wrapped to the terminal."""
    say(wrap_text(indent + " ".join(text.split()), width_of_terminal(sys.stdout), indent))


def note(text: str) -> None:
    """Print a line on standard error."""
    typer.echo(_fitting(text, err=True), err=True)


def warn(text: str) -> None:
    """Print a line on standard error, yellow on a terminal."""
    typer.secho(_fitting(text, err=True), err=True, fg=typer.colors.YELLOW)


def warn_of(sentence: str) -> None:
    """Print a warning of a result after "Note:" in its language."""
    announced = "提示：" if language_of(sentence) == "zh" else "Note: "
    warn(f"{announced}{sentence}")


def date(moment: datetime | None) -> str:
    """Return a moment in local time to the minute; "-" for none."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment else "-"


def score(value: float) -> str:
    """Return a score with four decimals, or with three significant digits if it is very small."""
    return f"{value:.3g}" if 0 < abs(value) < 0.001 else f"{value:.4f}"


def printable(text: str) -> str:
    """Return `text` without control characters, so that no document can control the terminal."""
    return _CONTROL.sub("", text)


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first names, each shortened, and how many more there are."""
    shown = ", ".join(map(brief, names[:most]))
    rest = len(names) - most
    return f"{shown} and {rest} more; --json lists them" if rest > 0 else shown


def on_one_line(text: str) -> str:
    """Return `text` with its white space collapsed; even a file name may have line breaks."""
    return " ".join(text.split())


def read_out(text: str) -> str:
    """Return a passage on one line; rows of a Markdown table without outer bars, and no rule below the head."""
    lines = [line.strip() for line in text.splitlines() if not _RULE.fullmatch(line.strip())]
    rows = [f"{line.strip('| ')};" if _ROW.fullmatch(line) else line for line in lines]
    return on_one_line(" ".join(rows)).removesuffix(";")


def brief(text: str) -> str:
    """Return `text` on one line, shortened to 119 characters."""
    return shorten(on_one_line(text), 119)


def shorten(text: str, chars: int = 300) -> str:
    """Return the beginning of `text`, with an ellipsis if it is longer."""
    return text if len(text) <= chars else text[:chars] + "…"


def table(header: tuple[str, ...], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in aligned columns; the last column is not padded."""
    lines = [list(map(str, row)) for row in (header, *rows)]
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
    for number, cells in enumerate(lines):
        padded = [
            cell + " " * (width - columns(cell)) for cell, width in zip(cells, widths, strict=True)
        ]
        typer.secho(printable("  ".join(padded).rstrip()), bold=number == 0 or None)


def print_debug(
    timings: Mapping[str, float], constants: Mapping[str, float], aside: str = ""
) -> None:
    """Print the milliseconds of each step and the constants of a search."""
    table(("STEP", "MS"), [(step, f"{elapsed:.1f}") for step, elapsed in timings.items()])
    listed = ", ".join(f"{name} {value:g}" for name, value in constants.items())
    faint(f"constants: {listed}{aside}")


def _fitting(text: str, *, err: bool = False) -> str:
    """Return `text` without control characters, wrapped to the terminal with its own indent."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    return wrap_text(printable(text), width_of_terminal(sys.stderr if err else sys.stdout), indent)
