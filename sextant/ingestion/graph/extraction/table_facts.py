"""What a table states: the thing that a row is about, a column, and the value in the cell.

A row is about its first cell, or the second where the first column only numbers the rows. A value that is a
name itself makes a relation whose type is the column's heading; any other ("500 mg") belongs to the
description of the row's thing. A name that stands right beside itself is taken for one cell across both
columns, which repeats in the text: the first heading relates it, the second none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sextant.text.linking import is_linkable

_LONGEST_NAME, _LONGEST_HEADING, _LONGEST_VALUE = 60, 40, 120  # characters; what is longer is prose
_MOST_COLUMNS = 16  # that a row tells facts of
_RULE = re.compile(r"\|(?:\s*:?-{3,}:?\s*\|)+")
# Headings of columns that number rows or give them a place, so that the thing comes next. A year does not.
_NUMBERING = frozenset(
    [
        *("", "#", "№", "n°", "no", "nr", "number", "id", "index", "item", "s/n", "rank"),
        *("序", "序号", "序號", "编号", "編號", "项次", "排名", "名次"),
    ]
)
_CELL = re.compile(r"((?:[^|\\]|\\.)*)\|")


class TableCell(NamedTuple):
    """A cell's text and where it begins in the table's text."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What a row says of `subject`, which stands under `heading`: names by their headings, the rest in words."""

    subject: TableCell
    heading: str
    related: tuple[tuple[str, TableCell], ...]
    description: str


def table_facts(text: str, context: str = "") -> Iterator[RowFacts]:
    """Yield the facts of a table with a heading row, which is in `text` or, for later rows, in `context`."""
    lines = list(_lines(text))
    headings, rows = _headings(lines), lines[2:]
    if not headings:
        headings, rows = _headings(list(_lines(context))), lines
    told = [heading for heading in headings if heading]
    if len(headings) < 2 or len(set(told)) != len(told):
        return
    numbering = headings[0].rstrip(".").casefold() in _NUMBERING
    for line in rows:
        cells = _cells(line)
        if len(cells) != len(headings):
            continue
        column = int(numbering and cells[0].text[:1].isdigit())
        if _is_name(cells[column].text):
            yield _row(headings, cells, column)


def _row(headings: list[str], cells: list[TableCell], column: int) -> RowFacts:
    subject = cells[column]
    before = [None, *(cell.text for cell in cells)]
    filled = [
        (heading, cell)
        for heading, cell, left in zip(headings, cells, before, strict=False)
        if heading and cell.text and len(cell.text) <= _LONGEST_VALUE and cell.text != subject.text
        if cell.text != left or not _is_name(cell.text)
    ][:_MOST_COLUMNS]
    related = tuple(pair for pair in filled if _is_name(pair[1].text))
    said = [f"{heading}: {cell.text}" for heading, cell in filled if not _is_name(cell.text)]
    return RowFacts(subject, headings[column], related, "; ".join(said))


def _headings(lines: list[TableCell]) -> list[str]:
    """Return the headings of a table that begins with them and a rule; [] when it does not."""
    if len(lines) < 2 or not _RULE.fullmatch(lines[1].text.strip()):
        return []
    headings = [cell.text for cell in _cells(lines[0])]
    return headings if all(len(one) <= _LONGEST_HEADING for one in headings) else []


def _lines(text: str) -> Iterator[TableCell]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield TableCell(line.rstrip("\r\n"), start)
        start += len(line)


def _cells(line: TableCell) -> list[TableCell]:
    if not line.text.startswith("|"):
        return []
    cells = []
    for match in _CELL.finditer(line.text, 1):
        raw = match.group(1)
        lead = len(raw) - len(raw.lstrip())
        cells.append(TableCell(raw.strip(), line.start + match.start(1) + lead))
    return cells


def _is_name(text: str) -> bool:
    """Return a value that names something: short, no number at its head, no sentence."""
    return (
        len(text) <= _LONGEST_NAME
        and is_linkable(text)
        and not text[0].isdigit()
        and not re.search(r"[。；;!?！？]|\. ", text)
        and len(text.split()) <= 6
    )
