"""CSV and its kin: one table."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from domain.errors import FileBroken
from ingestion.parsing.blocks import Blocks, Table
from ingestion.parsing.encodings import decode
from ingestion.parsing.limits import CellBudget, Limits
from ingestion.parsing.tables import header_rows

_DELIMITERS = ",\t;|"
_SNIFFED_ROWS = 100


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a delimited file; the delimiter is the one that gives most rows the same width.

    Raises:
        FileBroken: its rows cannot be told apart.
        FileUnsafe: it has more cells than the limit.
    """
    decoded = decode(content)
    text = decoded.text
    csv.field_size_limit(limits.file_bytes)
    delimiter = max(_DELIMITERS, key=lambda mark: _regularity(text, mark))
    budget = CellBudget(limits)
    rows = []
    try:
        for row in _rows(text, delimiter):
            budget.spend(len(row))
            rows.append(row)
    except csv.Error as error:
        raise FileBroken(
            f"The CSV cannot be read ({error}).", next_step="Check its quotation marks."
        ) from error
    table = Table(rows, header_rows(rows))
    return Blocks([table], warnings=decoded.warnings, metadata=decoded.metadata)


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return (row for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter) if any(row))


def _regularity(text: str, delimiter: str) -> float:
    """Share of the first rows that have the most frequent width; of equal shares the wider wins."""
    try:
        widths = Counter(len(row) for row in islice(_rows(text, delimiter), _SNIFFED_ROWS))
    except csv.Error:
        return 0.0
    if not widths:
        return 0.0
    width, rows = widths.most_common(1)[0]
    return rows / widths.total() + width / 1e6 if width > 1 else 0.0
