"""Where a word has a capital because something begins there, not because it is a name."""

from __future__ import annotations

import re
from collections.abc import Iterable

# The mark of a list's item, with what may stand before it: "- Let structs own", "4. Check the star".
_ITEM = re.compile(r"^[ \t]*(?:[-*+•·–—]|\d{1,3}[.)、])[ \t]+(?=\S+[ \t])", re.MULTILINE)
_ROW = re.compile(r"^\|.*\|[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"(?<=\| )[^|\n]+(?= \|)")
_RULE = re.compile(r"\n\|(?: *:?-+:? *\|)+")


def openings(text: str, sentences: Iterable[tuple[int, int]]) -> list[int]:
    """Return the places where sentences, items and cells of tables begin, in order.

    An item or a cell that is one word may be a name; in the head of a table it is what a column is
    called, and counts as a beginning, too.
    """
    places = {start for start, _ in sentences}
    places |= {item.end() for item in _ITEM.finditer(text)}
    for row in _ROW.finditer(text):
        head = _RULE.match(text, row.end()) is not None
        cells = _CELL.finditer(text, row.start(), row.end())
        places |= {cell.start() for cell in cells if head or " " in cell.group()}
    return sorted(places)
