"""Read delimited text: mostly a sheet of one table."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from itertools import islice

from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.parsing.blocks import Block, Blocks, Table
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.grids import Merged, sheet_blocks
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.records import Columns, table_blocks
from sextant.ingestion.parsing.structure import name_some
from sextant.ingestion.parsing.tables import header_rows

_DELIMITERS = ",\t;|"
_SNIFFED_ROWS = 100
_SNIFFED_CHARS = 1_000_000
_SEPARATOR = re.compile(r"sep=(.)[\r\n]+", re.IGNORECASE)  # as Excel writes it above the rows
_open = partial(StringIO, newline="")  # gives lines with their ends, whichever they are
_MOST_LINES = 200  # of one cell, where quotation marks are in disorder


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a delimited file; the delimiter is the one it names, or that gives most rows the same width.

    A quotation mark that is never closed ends with its line at the latest, and a warning names the line.

    Raises:
        FileUnsafe: it has more cells than the limit.
    """
    decoded = decode(content)
    text = decoded.text.lstrip("\r\n")
    csv.field_size_limit(limits.file_bytes)
    if named := _SEPARATOR.match(text):
        text, delimiter = text[named.end() :], named[1]
    else:
        sample = list(islice(_open(text[:_SNIFFED_CHARS]), _SNIFFED_ROWS))
        delimiter = max(_DELIMITERS, key=lambda mark: _regularity(sample, mark))
    budget = CellBudget(limits)
    reader, rows = _CsvReader(delimiter, limits), dict[int, list[str]]()
    for number, row in enumerate(reader.rows(_open(text)), 1):
        if any(map(str.strip, row)):
            budget.spend(len(row))
            # ="00123": by which exports keep Excel from reading a number
            rows[number] = [
                cell[2:-1] if cell.startswith('="') and cell[2:].endswith('"') else cell
                for cell in row
            ]
    blocks = list[Block]()
    if len(rows) > 1 and max(map(len, rows.values())) > 1:
        for block in sheet_blocks(rows, Merged()):
            named_rows = block.rows if isinstance(block, Table) and block.header_rows == 1 else ()
            if named_rows and Columns.of(named_rows).prose:
                blocks += table_blocks(named_rows, 1)
            else:
                blocks.append(block)
    else:
        table = [*rows.values()]
        blocks.append(Table(table, header_rows(table)))
    warnings = (*decoded.warnings, *reader.warnings)
    return Blocks(blocks, warnings=warnings, metadata=decoded.metadata)


@dataclass
class _CsvReader:
    """Reads rows, and notes the lines whose quotation marks are in disorder."""

    delimiter: str
    limits: Limits | None = None
    disordered: list[int] = field(default_factory=list[int])

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """Return which lines hold an open quotation mark."""
        if not self.disordered:
            return ()
        params = {"rows": count(len(self.disordered), "row"), "lines": name_some(self.disordered)}
        return (CodedWarning(WarningCode.QUOTES_NOT_CLOSED, params),)

    def rows(self, lines: Iterator[str]) -> Iterator[list[str]]:
        """Return the cells of each row; of a blank line, none."""
        ahead, number, width = list[str](), 0, 0
        while line := (ahead.pop(0) if ahead else next(lines, "")):
            number += 1
            if '"' not in line:
                if self.limits:  # before the line is cut: memory may not hold its cells
                    CellBudget(self.limits).spend(line.count(self.delimiter) + 1)
                row = line.rstrip("\r\n").split(self.delimiter) if line.strip("\r\n") else []
                yield row
                width = len(row)
                continue
            used, is_open = 0, line.count('"') % 2 > 0 and not self._is_row(line)
            if is_open:
                ahead += islice(lines, max(_MOST_LINES - len(ahead), 0))
                used = self._lines_of_cell(line, ahead, width)
                self.disordered += [] if used else [number]
            if is_open and not used:
                row = self._join(self._split(line, as_it_stands=True), width)
            else:
                row = self._split(line + "".join(ahead[:used]))
            yield row
            del ahead[:used]
            number, width = number + used, len(row)

    def _lines_of_cell(self, line: str, ahead: Sequence[str], width: int) -> int:
        """Return how many further lines a row has whose first line ends inside quotation marks; 0 if they are never closed.

        A mark that another row opens does not close it: then text follows behind it, or the row is no longer as
        wide as the one above while the line behind it is.
        """
        open_row = line
        for used, further in enumerate(ahead, 1):
            open_row += further
            if further.count('"') % 2:
                if not self._is_row(open_row):
                    return 0
                is_other = len(self._split(open_row)) != width == len(self._split(ahead[0]))
                return 0 if is_other else used
        return 0

    def _join(self, row: list[str], width: int) -> list[str]:
        """Return the row as wide as the one above: surplus cells belong to the cell with the open quotation mark."""
        more = len(row) - width
        opens = (at for at, cell in enumerate(row) if cell[:1] == '"' and cell[1:][-1:] != '"')
        at = next(opens, len(row))
        if not 0 < more < min(len(row) - 1, len(row) - at):
            return row
        return [*row[:at], self.delimiter.join(row[at : at + more + 1]), *row[at + more + 1 :]]

    def _is_row(self, text: str) -> bool:
        """Return whether a text is one row, each quotation mark of it in its place."""
        try:
            return len(list(self._reader(_open(text), strict=True))) == 1
        except csv.Error:
            return False

    def _split(self, row: str, *, as_it_stands: bool = False) -> list[str]:
        quoting = csv.QUOTE_NONE if as_it_stands else csv.QUOTE_MINIMAL
        return next(self._reader(_open(row), quoting), [])

    def _reader(
        self, lines: Iterator[str], quoting: int = csv.QUOTE_MINIMAL, *, strict: bool = False
    ) -> Iterator[list[str]]:
        return csv.reader(lines, delimiter=self.delimiter, quoting=quoting, strict=strict)  # type: ignore[arg-type]


def _regularity(sample: Sequence[str], delimiter: str) -> float:
    """Share of the first rows that have the most frequent width; of equal shares the wider wins."""
    rows = _CsvReader(delimiter).rows(iter(sample))
    widths = Counter(len(row) for row in rows if any(row))
    if not widths:
        return 0.0
    width, rows_of_it = widths.most_common(1)[0]
    return rows_of_it / widths.total() + width / 1e6 if width > 1 else 0.0
