"""Parts of a passage that are about one thing: sentences, clauses and cells, which are cut here from tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.support import headings
from sextant.nodes.citing.terms import CLAUSE, Text, cut, numbers_in, terms_of
from sextant.text.characters import normalise
from sextant.text.units import COUNT, SHARE, TextValue, scale_of_heading, unit_of_heading
from sextant.text.values import normalise_values

# The level of a term: how much it counts for a part by where it stands. In the part itself; in the subject that it takes
# from another clause; ahead of it in its sentence; in its headings; behind it in its sentence; in the next sentences.
OWN, INHERITED, AHEAD, HEADING, BEHIND, NEAR = 1.0, 0.92, 0.65, 0.7, 0.45, 0.3
# In the names of a table's other columns.
COLUMNS = 0.75


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """A sentence, clause or cell, with the texts around it.

    Attributes:
        passage: the index of its passage.
        span: where its sentence or row stands in the passage's text.
        sentence: the text of that.
        layers: texts with the level of their terms, the part itself first.
        values: its numbers.
        conditions: all numbers of its row or sentence.
        is_row: whether it is a cell of a table.
        is_clause: whether it is a clause of a sentence or cell that is another part.
        inherits: whether it takes its subject from another clause, its second layer.
        label: the terms of a cell's row and column.
        row: the first cell of a cell's row.
        column: the name of a cell's column.
        clauses: of a sentence, as its marks cut it.
        stated: its sentence; an item of a list behind the line that introduces it: "not refunded" of "taxis".
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
    stated: str = ""

    def speaks_of(self, mark: str) -> bool:
        """Return whether a term stands in a clause or ahead of it in its sentence."""
        return self.owns(mark) or any(
            mark in text.plain or text.has(mark) == 1.0
            for level, text in self.layers
            if level == AHEAD
        )

    def owns(self, mark: str) -> bool:
        """Return whether a term stands in the part itself, or in the clause that it takes its subject from."""
        first = self.layers[: 2 if self.inherits else 1]
        return any(mark in text.plain or text.has(mark) == 1.0 for _, text in first)

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of a cell's row and column, normalised."""
        return normalise(self.row), normalise(self.column)

    def is_called(self, value: TextValue) -> bool:
        """Return whether a value is in the name of a cell's row or column."""
        named = normalise_values(f"{self.row} | {self.column}") if self.is_row else ()
        return any(value.matches(one.value) for one in named)

    def level(self, term: str) -> float:
        """Return the level of a term, 0..1; 0 where it does not stand near."""
        return max((level * text.has(term) for level, text in self.layers), default=0.0)

    def measure(self, terms: Sequence[str], values: Sequence[TextValue]) -> float:
        """Return the share (0..1) of terms and values that stand in the part or in its headings."""
        stated = sum(any(map(value.matches, self.values + self.conditions)) for value in values)
        found = sum(level for term in terms if (level := self.level(term)) >= HEADING)
        return (found + stated) / (len(terms) + len(values) or 1)

    def level_of(self, pattern: re.Pattern[str]) -> float:
        """Return the level of words that match a pattern."""
        found = (level for level, text in self.layers if pattern.search(text.plain))
        return next(found, 0.0)


def has_value(values: Sequence[TextValue], asked: TextValue) -> bool:
    """Return whether a value itself is among these, and not only a range that it lies in."""
    return any(is_exactly(asked, value) for value in values)


def is_exactly(asked: TextValue, value: TextValue) -> bool:
    """Return whether a value is the one asked for; "less than ten" is not ten."""
    is_below = value.bound == "max" and asked.bound != "max"
    return asked.matches(value) and not asked.opposes(value) and not is_below


def holds_value(values: Sequence[TextValue], asked: TextValue) -> bool:
    """Return whether one of these values is the same, or a range of two or a bound has it within."""
    if any(asked.matches(value) and not asked.opposes(value) for value in values):
        return True
    alike = [v for v in values if v.date is None and (v.unit == asked.unit or not v.unit)]
    return any(_is_in_range(low, high, asked) for low, high in pairwise([None, *alike, None]))


def _is_in_range(low: TextValue | None, high: TextValue | None, asked: TextValue) -> bool:
    """Return whether two values that follow each other are a range with a value, or one is its bound and the other of no range.

    What is at least ten does not lie below ten.
    """
    reaches = low is not None and asked.number >= low.number
    stays = high is not None and (
        asked.number < high.number or (asked.number == high.number and not asked.opposes(high))
    )
    is_range = low and high and low.number < high.number
    if is_range and low and high and low.bound != "max" and high.bound != "min":
        return reaches and stays
    return bool(
        (low and low.bound == "min" and reaches) or (high and high.bound == "max" and stays)
    )


_OF_RULE = frozenset("|:- \t")
_SHORT_CELL = 40
_YEARS = (1900, 2100)
# 收入（亿元）, Price (EUR)
_UNIT_OF_HEAD = re.compile(r"[(（]([^()（）]{1,20})[)）]\s*\Z")


def is_row(line: str) -> bool:
    """Return whether a line is a row of a table."""
    return line.lstrip().startswith("|")


def cut_rows(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    """Yield the cells of the tables in a passage."""
    lines = list(_lines(item.text))
    rows = [(span, _cells(line)) for span, line in lines if is_row(line)]
    if not rows:
        return
    rows = [(span, cells) for span, cells in rows if not _OF_RULE.issuperset("".join(cells))]
    context = str(item.metadata.get("context") or "")
    head, body = _head(context, rows, item.text)
    caption = " ".join(line for _, line in _lines(f"{context}\n{item.text}") if not is_row(line))
    above, heads = Text(f"{headings(item)} {caption}"), Text(" ".join(head))
    units = [unit_of_heading(name) for name in head]
    of_all = next(filter(None, map(scale_of_heading, [*head[:1], caption])), None)
    scales = [scale_of_heading(name) or of_all for name in head]
    columns = _Columns(head, units, heads, above, scales)
    for span, cells in body:
        yield from _cells_of_row(index, span, item.text[slice(*span)], cells, columns)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The names of a table's columns, the units and scales that these give, and what stands above the table."""

    names: Sequence[str]
    units: Sequence[str]
    all_names: Text
    above: Text
    scales: Sequence[tuple[int, str] | None] = ()


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
    scales = [columns.scales[at] if at < len(columns.scales) else None for at in range(len(cells))]
    values = [
        _values_in(cell, unit, scale)
        for cell, unit, scale in zip(cells, units, scales, strict=True)
    ]
    every = tuple(value for some in values for value in some)
    words = [
        cell
        for at, (cell, some) in enumerate(zip(cells, values, strict=True))
        if not some or _has_words(cell, least=2 if at else 1)
    ]
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
            clause_values = _values_in(clause, units[at], scales[at])
            yield replace(whole, layers=layers, values=clause_values, is_clause=True)


def _values_in(cell: str, unit: str, scale: tuple[int, str] | None) -> tuple[TextValue, ...]:
    found = [one.value for one in normalise_values(cell)]
    if scale is None or unit == SHARE:
        return tuple(_with_unit(value, unit) for value in found)
    return tuple(one for value in found for one in _scale(value, *scale))


def _scale(value: TextValue, power: int, unit: str) -> tuple[TextValue, ...]:
    """Return the values of a number in a column of thousands or millions: multiplied, and as it is written."""
    if value.unit and value.dimension != "money":
        return (value,)
    meant = replace(value, number=value.number * 10**power, unit=value.unit or unit)
    return (meant, replace(value, unit=COUNT))


def _has_words(cell: str, least: int) -> bool:
    """Return whether a cell has words beside its numbers."""
    return len(terms_of(cell)) >= least


def _with_unit(value: TextValue, unit: str) -> TextValue:
    if value.unit or not unit:
        return value
    number = value.number / 100 if unit == SHARE else value.number
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
    above = [_cells(line) for _, line in _lines(context) if is_row(line)]
    if above:
        return above[0], rows
    ruled = any("-" in line and _OF_RULE.issuperset(line) for _, line in _lines(text))
    if not (ruled and len(rows) > 1):
        return [], rows
    names, body = rows[0][1], rows[1:]
    # Names may take several rows: "Year ended" over 2019 and 2018.
    while (
        len(body) > 1
        and not (all(names[1:]) and body[0][1][0])
        and not any(map(_measures, body[0][1][1:]))
    ):
        names = [
            f"{one} {two}".strip() for one, two in zip_longest(names, body[0][1], fillvalue="")
        ]
        body = body[1:]
    return names, body


def _measures(cell: str) -> bool:
    """Return whether a cell has a number other than a date or a year."""
    return any(
        not value.date and (value.unit or not _YEARS[0] <= value.number <= _YEARS[1])
        for value in numbers_in(cell)
    )


def with_units_of_head(row: str, head: str) -> str:
    """Return a row of an answer's table whose bare numbers have the units of their columns: 18.2亿元 below 收入（亿元）."""
    cells, names = _cells(row), _cells(head)
    if not is_row(row) or len(cells) != len(names):
        return row
    return f"| {' | '.join(map(_with_unit_of, cells, names))} |"


def _with_unit_of(cell: str, name: str) -> str:
    """Return a cell of a bare number behind which the name of its column puts a unit: (kg), but not (FTE)."""
    cell, name = cell.strip("*_ "), name.strip("*_ ")
    unit, bare = _UNIT_OF_HEAD.search(name), numbers_in(cell)
    if not unit or not bare or any(one.unit for one in bare) or terms_of(cell):
        return cell
    named = f"{cell}{' ' * unit[1].isascii()}{unit[1]}"
    return cell if numbers_in(named) == bare else named
