"""Parts of evidence, of which assessments are made, and rows of tables cut into them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.support import headings
from sextant.nodes.citing.terms import CLAUSE, Text, cut, numbers_in, terms_of
from sextant.text.units import TextValue, rates_in
from sextant.text.values import normalise_values, unit_of_heading

# How much a term says for a part: in itself; ahead of it in its sentence, where the part has a subject of its own or
# none; in its headings; elsewhere in its sentence; in the next ones.
OWN, INHERITED, AHEAD, HEADING, BEHIND, NEAR = 1.0, 0.92, 0.65, 0.7, 0.45, 0.3
# Every row has the names of all columns, and a cell first that of its own.
COLUMNS = 0.75


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """A clause or a cell with what it is said under.

    Attributes:
        passage: the index of its passage.
        span: where its sentence or row stands in the passage's text.
        sentence: the text of that.
        layers: texts by how much a term in them says for this part, most first.
        values: what its numbers say.
        conditions: what else its row or sentence says in numbers, in which a question's numbers may lie.
        is_row: whether it is of a table.
        is_clause: whether it is one of several clauses of a sentence, which is a part, too.
        inherits: whether it has no subject of its own.
        label: the words that name the row and the column, of which a statement should have most.
        row: of a cell the first one of its row.
        column: of a cell the name of its column.
        clauses: of a sentence, between its marks.
        wording: the part as it is written, with the clause that it takes its subject from.
    """

    passage: int
    span: tuple[int, int]
    sentence: str
    layers: tuple[tuple[float, Text], ...]
    values: tuple[TextValue, ...]
    conditions: tuple[TextValue, ...] = ()
    is_row: bool = False
    is_clause: bool = False
    inherits: bool = False
    label: tuple[str, ...] = ()
    row: str = ""
    column: str = ""
    clauses: tuple[Text, ...] = ()
    wording: str = ""

    @property
    def rates(self) -> frozenset[str]:
        """Return the periods that it counts by: a year, 每月."""
        return frozenset(rates_in(self.layers[0][1].plain).values())

    def speaks_of(self, mark: str) -> bool:
        """Return whether a term or a phrase stands in a clause or before it in its sentence."""
        return self.owns(mark) or any(
            mark in text.plain or text.has(mark) == 1.0
            for level, text in self.layers
            if level == AHEAD
        )

    def owns(self, mark: str) -> bool:
        """Return whether a term or a phrase stands in the part itself, or in what it takes its subject from."""
        first = self.layers[: 2 if self.inherits else 1]
        return any(mark in text.plain or text.has(mark) == 1.0 for _, text in first)

    def level(self, term: str) -> float:
        """Return how much a term says for this part: 0 where it stands nowhere near."""
        return max((level * text.has(term) for level, text in self.layers), default=0.0)

    def level_of(self, pattern: re.Pattern[str]) -> float:
        """Return the same for other words of the same meaning."""
        found = (level for level, text in self.layers if pattern.search(text.plain))
        return next(found, 0.0)


ROW = re.compile(r"\s*\|")
_RULE_ROW = re.compile(r"[\s|:-]+")
_SHORT_CELL = 40


def cut_rows(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    """Yield the cells of the tables in a passage."""
    lines = list(_lines(item.text))
    rows = [(span, _cells(line)) for span, line in lines if ROW.match(line)]
    if not rows:
        return
    rows = [
        (span, cells) for span, cells in rows if not all(map(_RULE_ROW.fullmatch, cells or [" "]))
    ]
    context = str(item.metadata.get("context") or "")
    head, body = _head(context, rows, item.text)
    caption = " ".join(line for _, line in _lines(f"{context}\n{item.text}") if not ROW.match(line))
    above, heads = Text(f"{headings(item)} {caption}"), Text(" ".join(head))
    units = [unit_of_heading(name) for name in head]
    columns = _Columns(head, units, heads, above)
    for span, cells in body:
        yield from _cells_of_row(index, span, item.text[slice(*span)], cells, columns)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The names of a table's columns, the units that these give, and what stands above the table."""

    names: Sequence[str]
    units: Sequence[str]
    all_names: Text
    above: Text


def _cells_of_row(
    index: int,
    span: tuple[int, int],
    line: str,
    cells: Sequence[str],
    columns: _Columns,
) -> Iterator[EvidencePart]:
    head, of_columns = columns.names, columns.units
    of_row = unit_of_heading(cells[0]) if not normalise_values(cells[0]) else ""
    units = [
        (of_columns[at] if at < len(of_columns) else "") or (of_row if at else "")
        for at in range(len(cells))
    ]
    values = [_values_in(cell, unit) for cell, unit in zip(cells, units, strict=True)]
    every = tuple(value for some in values for value in some)
    words = [cell for cell, some in zip(cells, values, strict=True) if not some or at_words(cell)]
    for at, cell in enumerate(cells):
        if not cell.strip():
            continue
        name = head[at] if at < len(head) else ""
        around = (
            (HEADING, columns.above),
            (BEHIND, Text(" ".join(cells))),
            (COLUMNS, columns.all_names),
        )
        label = terms_of(" ".join([*(word for word in words if len(word) < _SHORT_CELL), name]))
        conditions = (*every, *(one.value for one in normalise_values(name)))
        clauses = [clause for clause in cut(CLAUSE, cell) if numbers_in(clause)]
        several = clauses if len(clauses) > 1 else []
        whole = EvidencePart(
            index,
            span,
            line,
            ((OWN, Text(" ".join([*words, cell, name]))), *around),
            () if several else values[at],
            conditions,
            is_row=True,
            label=label,
            row=cells[0],
            column=name,
        )
        yield whole
        named = [*(word for word in words if word is not cell), name]
        for clause in several:
            layers = ((OWN, Text(" ".join([*named, clause]))), *around)
            clause_values = _values_in(clause, units[at])
            yield replace(whole, layers=layers, values=clause_values, is_clause=True)


def _values_in(cell: str, unit: str) -> tuple[TextValue, ...]:
    return tuple(_with_unit(one.value, unit) for one in normalise_values(cell))


def at_words(cell: str) -> bool:
    """Return whether a cell says something beside its numbers."""
    return len(terms_of(cell)) > 1


def _with_unit(value: TextValue, unit: str) -> TextValue:
    if value.unit or not unit:
        return value
    number = value.number / 100 if unit == "share" else value.number
    return TextValue(number, unit, value.bound, value.date)


def _lines(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield (start + len(line) - len(line.lstrip()), start + len(line.rstrip())), line
        start += len(line) + 1


def _cells(line: str) -> list[str]:
    return [
        cell.strip()
        for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    ]


def _head(
    context: str, rows: Sequence[tuple[tuple[int, int], list[str]]], text: str
) -> tuple[list[str], Sequence[tuple[tuple[int, int], list[str]]]]:
    """Return the names of the columns, and the rows below them."""
    above = [_cells(line) for _, line in _lines(context) if ROW.match(line)]
    if above:
        return above[0], rows
    ruled = len(text.split("\n")) > 1 and re.search(r"^\s*\|?[\s:|-]*-{3}", text, re.MULTILINE)
    return (rows[0][1], rows[1:]) if ruled and len(rows) > 1 else ([], rows)
