"""Lines of prose broken between words on a terminal, also while they are still coming."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO
from unicodedata import east_asian_width

# A line's end, a gap, a wide character with the stops that must not begin a line, or a word, of which the
# spaces that no line may be broken at are part ("12 400", "10 km").
_WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
_STOPS = "，。；：？！、）》」』】”’)\\].,;:?!"
_PIECE = re.compile(rf"\n|[ \t]+|[{_WIDE}][{_STOPS}]*|[^ \t\n{_WIDE}]+[{_STOPS}]*")

# Columns of a terminal that does not say how many it has.
_USUAL = 80


def columns(text: str) -> int:
    """Return columns that `text` takes on a terminal: two for a wide (Chinese) character."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


class Wrapping:
    """Takes text piece by piece and writes it in lines of `width` columns; without a width as it comes."""

    def __init__(self, write: Callable[[str], object], width: int, indent: str = "") -> None:
        self._write = write
        self._width = width
        self._indent = indent
        self._column = 0
        self._gap = ""
        self._held = ""

    def add(self, text: str) -> None:
        """Write what is whole of `text` and what was held before it; its last word may go on."""
        if not self._width:
            self._write(text)
            return
        *whole, self._held = _PIECE.findall(self._held + text) or [""]
        for piece in whole:
            self._place(piece)

    def end(self) -> None:
        """Write what is held."""
        self._place(self._held)
        self._held = self._gap = ""

    def _place(self, piece: str) -> None:
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
    """Return how wide the lines of a stream may be; 0 where it is no terminal.

    `shutil.get_terminal_size` asks standard output only, which may be a pipe where this is none.
    """
    if not stream.isatty():
        return 0
    chosen, told = os.environ.get("COLUMNS", ""), 0
    with suppress(OSError):
        told = os.get_terminal_size(stream.fileno()).columns
    return int(chosen) if chosen.isdecimal() else told or _USUAL


def wrap_text(text: str, width: int, indent: str = "") -> str:
    """Return `text` in lines of `width` columns, those after the first behind `indent`; as it is for 0."""
    lines: list[str] = []
    wrapping = Wrapping(lines.append, width, indent)
    wrapping.add(text)
    wrapping.end()
    return "".join(lines)
