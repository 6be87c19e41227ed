"""Rows of tables as an answer tells them: each cell behind the name of its column."""

from __future__ import annotations

import re

from sextant.domain.retrieval import RetrievedItem
from sextant.tables.cells.stored import cells_of
from sextant.text.characters import language_of

_RULE = re.compile(r"^\|[ :|-]+$")
# Between the name and its cell, and between two cells.
_SIGNS = {"en": (": ", "; "), "zh": ("：", "；")}


def describe_row(sentence: str, item: RetrievedItem, start: int) -> str:
    """Return `sentence`, which begins at `start` of the passage; a table's row with its columns named.

    A row without a head above it, or with another number of cells, stays as it is.
    """
    above = f"{item.metadata.get('context') or ''}\n{item.text[:start]}"
    names, cells = (
        cells_of(_head(above)),
        cells_of(sentence + _empty_cells(item.text, start, sentence)),
    )
    if len(names) < 2 or len(names) != len(cells):
        return sentence
    colon, gap = _SIGNS[language_of(" ".join(names))]
    pairs = zip(names, cells, strict=True)
    return gap.join(f"{name}{colon}{cell}" if name else cell for name, cell in pairs if cell)


def _empty_cells(text: str, start: int, sentence: str) -> str:
    """Return the rest of a row's line where it has but empty cells, with which a quotation does not end."""
    rest = text[start + len(sentence) :].partition("\n")[0]
    return "" if rest.strip(" |") else rest


def _head(above: str) -> str:
    """Return the head of the table that `above` ends in; empty when it ends in none."""
    *lines, mark = above.split("\n")
    if mark.strip() != "|":  # what a row begins with
        return ""
    rows = list[str]()
    for line in reversed(lines):
        if not line.startswith("|"):
            break
        if rows and _RULE.match(rows[-1]):
            return line
        rows.append(line)
    return ""
