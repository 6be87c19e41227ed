"""Images and tables that came with a question, as passages of an answer, and their markers: `[I1]`, `[T1:r3c2]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property

from sextant.domain.questions import Attachment, AttachmentKind
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.citations import ATTACHMENT, SHOWN, attachment_of, is_table
from sextant.nodes.citing.support import SupportedQuote
from sextant.tables.cells.values import ValueKind, numbers_in, read_value
from sextant.tables.results.written import ComputedFinding
from sextant.text.characters import estimate_tokens, find_whole, normalise

BETWEEN = " | "

_NAMES = {
    ("image", "zh"): "用户附上的图像",
    ("image", "en"): "image attached to the question",
    ("table", "zh"): "用户附上的表格",
    ("table", "en"): "table attached to the question",
}
_TEXTS = {
    "zh": ("精确计算的结果：", "（共 {rows} 行，此处列出 {shown} 行）"),
    "en": ("Computed exactly:", "({rows} rows, {shown} of them shown)"),
}


def attachment_items(
    attachments: Sequence[Attachment], language: str, tokens: int
) -> list[RetrievedItem]:
    """Return the attachments with content as passages, which take at most `tokens` of a prompt."""
    telling = [one for one in attachments if one.text or one.rows]
    budget = tokens // max(1, len(telling))
    return [_item(one, language, budget) for one in telling]


def _item(attachment: Attachment, language: str, budget: int) -> RetrievedItem:
    kind = _NAMES[attachment.kind.value, language]
    name = f"{kind}: {attachment.name}" if attachment.name else kind
    metadata = {"filename": name, "title": attachment.name, ATTACHMENT: attachment}
    if attachment.kind is AttachmentKind.TABLE:
        metadata[SHOWN] = "\n".join(_display_value(attachment, language, budget))
        text = "\n".join(table_lines(attachment))
    else:
        text = attachment.text
    return RetrievedItem(ItemKind.CHUNK, attachment.label, text, 1.0, metadata=metadata)


def header_cells(table: Attachment) -> list[str]:
    """Return the cells of the first line: the numbers and names of the columns."""
    numbered = ((f"c{n}", name) for n, name in enumerate(table.names, start=1))
    return ["", *(" ".join(dict.fromkeys(filter(None, both))) for both in numbered)]


def row_cells(table: Attachment, row: int) -> list[str]:
    """Return the cells of a row (counted from 0), with its number (from 1) ahead."""
    return [f"r{row + 1}", *table.rows[row]]


def table_lines(table: Attachment) -> list[str]:
    """Return the lines of a table as text, which the offsets of citations refer to."""
    rows = (row_cells(table, row) for row in range(len(table.rows)))
    return [BETWEEN.join(cells) for cells in (header_cells(table), *rows)]


def _display_value(table: Attachment, language: str, budget: int) -> Iterator[str]:
    """Yield the lines of a table in a prompt: rows that computed values rest on before others, and the computed values."""
    title, counted = _TEXTS[language]
    header, *lines = table_lines(table)
    computed = [
        *_list_computed(table.label, table.findings),
        *_list_computed(table.label, table.statistics),
    ]
    budget -= estimate_tokens(header)
    said = list(_fitting(computed, budget // 3))
    budget -= sum(map(estimate_tokens, said))
    first = dict.fromkeys(one.row for one in table.findings if one.row is not None)
    order = [*first, *(row for row in range(len(lines)) if row not in first)]
    shown = sum(1 for _ in _fitting((lines[row] for row in order), budget))
    if shown < len(lines):
        yield counted.format(rows=len(lines), shown=shown)
    yield header
    yield from (lines[row] for row in sorted(order[:shown]))
    if said:
        yield from (title, *said)


def _list_computed(label: str, findings: Sequence[ComputedFinding]) -> list[str]:
    return [f"- {one.text} [{label}{':' if one.place else ''}{one.place}]" for one in findings]


def _fitting(lines: Iterable[str], budget: int) -> Iterator[str]:
    for line in lines:
        budget -= estimate_tokens(line)
        if budget < 0:
            return
        yield line


_PLACE = re.compile(r"(?:r(\d{1,6}))?(?:c(\d{1,5}))?")
# Rows that are looked through for the name of another one.
_NAMED_ROWS = 5000


class TableCells:
    """A table that came with a question, in whose `text` citations are quoted."""

    def __init__(self, table: Attachment, text: str) -> None:
        self._table = table
        self._text = text

    def quote(self, place: str, sentence: str) -> SupportedQuote | None:
        """Return the text of `place` if it supports `sentence`; None if it does not, or does not exist.

        Args:
            place: `r3c2`, `c2`, `r3`, or "" for the whole table; counted from 1.
            sentence: the statement so far, without markers.
        """
        match = _PLACE.fullmatch(place)
        if match is None:
            return None
        row, column = (int(number) - 1 if number else None for number in match.groups())
        if not self._has(row, column):
            return None
        if row is None:
            return self._of_column(place, column, sentence)
        columns = range(len(self._table.names)) if column is None else (column,)
        if self._speaks_of_another(row, sentence):
            return None
        for at in columns:
            if _stands_in(self._table.rows[row][at], sentence):
                start, end = self._span(row, None if column is None else at)
                return self._quote(place, start, end, self._support(row, sentence))
        return None

    def found(self, sentence: str) -> SupportedQuote | None:
        """Return the place of a computed value that a sentence states without citing it."""
        for finding in self._table.findings:
            numbers = set(numbers_in(finding.value))
            stated = numbers and numbers <= set(numbers_in(sentence))
            if stated and (quote := self.quote(finding.place, sentence)):
                return quote
        return None

    def _has(self, row: int | None, column: int | None) -> bool:
        rows, columns = len(self._table.rows), len(self._table.names)
        return (row is None or 0 <= row < rows) and (column is None or 0 <= column < columns)

    def _of_column(self, place: str, column: int | None, sentence: str) -> SupportedQuote | None:
        stated = set(numbers_in(sentence))
        for finding in (*self._table.findings, *self._table.statistics):
            if finding.place == place and stated.intersection(numbers_in(finding.value)):
                start, end = self._span(None, column)
                return self._quote(place, start, end, 1.0)
        if column is None and stated.intersection({Decimal(len(self._table.rows))}):
            return self._quote(place, *self._span(None, None), 1.0)
        return None

    def _speaks_of_another(self, row: int, sentence: str) -> bool:
        """Return whether a sentence names other rows by their first words, and not this one."""
        said = normalise(sentence)
        own = self._label(row)
        if own and find_whole(said, normalise(own)):
            return False
        labels = (self._label(other) for other in range(min(len(self._table.rows), _NAMED_ROWS)))
        return any(label != own and find_whole(said, normalise(label)) for label in labels if label)

    def _label(self, row: int) -> str:
        """Return the first cell of a row that is words."""
        cells = self._table.rows[row]
        return next((cell for cell in cells if read_value(cell).kind is ValueKind.TEXT), "")

    def _support(self, row: int, sentence: str) -> float:
        """Return the share (0..1) of a sentence's numbers that the row or the computed values have."""
        stated = numbers_in(sentence)
        known = {number for cell in self._table.rows[row] for number in _numbers_of(cell)}
        known |= {number for name in self._table.names for number in numbers_in(name)}
        known |= {number for one in self._table.findings for number in numbers_in(one.text)}
        return sum(number in known for number in stated) / len(stated) if stated else 1.0

    def _quote(self, place: str, start: int, end: int, support: float) -> SupportedQuote:
        return SupportedQuote(self._text[start:end], start, end, support, place=place)

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")

    def _span(self, row: int | None, column: int | None) -> tuple[int, int]:
        """Return the span of a cell, row, column's name or header in the table's text."""
        line = 0 if row is None else row + 1
        start = sum(len(before) + 1 for before in self._lines[:line])
        if column is None:
            return start, start + len(self._lines[line])
        cells = header_cells(self._table) if row is None else row_cells(self._table, row)
        start += sum(len(cell) + len(BETWEEN) for cell in cells[: column + 1])
        return start, start + len(cells[column + 1])


def tables_among(passages: Sequence[RetrievedItem]) -> dict[int, TableCells]:
    """Return the tables among an answer's passages, by their places."""
    return {
        place: TableCells(attachment, item.text)
        for place, item in enumerate(passages)
        if is_table(item) and (attachment := attachment_of(item))
    }


def _stands_in(cell: str, sentence: str) -> bool:
    value = read_value(cell)
    if value.kind is ValueKind.EMPTY:
        return False
    if value.kind is ValueKind.NUMBER:
        stated = numbers_in(sentence)
        return value.number in stated or (value.number < 0 and -value.number in stated)
    if value.date is not None:
        return {value.date.year, value.date.month} <= set(numbers_in(sentence))
    return normalise(cell) in normalise(sentence)


def _numbers_of(cell: str) -> Iterator[Decimal]:
    value = read_value(cell)
    if value.kind is ValueKind.NUMBER:
        yield value.number
        yield abs(value.number)
    yield from numbers_in(cell)
