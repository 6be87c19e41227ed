"""Rows and columns by their number: "the second row", 第二行, "column 2", 最后一列."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sextant.tables.cells.table import DataTable
from sextant.text.number_words import CHINESE_DIGITS, ORDINALS, number_of

_ORDINALS = ORDINALS[:10]


def _forms(english: str, chinese: str) -> re.Pattern[str]:
    """Return a pattern of references by number; the two words are patterns, too."""
    return re.compile(
        rf"\b(?:(?P<word>{'|'.join(_ORDINALS)}|last)|(?P<nth>\d+)(?:st|nd|rd|th))[\s-]+{english}\b"
        rf"|\b{english}\s+(?:no\.?\s*|number\s+)?(?P<number>\d+)\b"
        rf"|第\s*(?P<digits>\d+|[{CHINESE_DIGITS[1:]}])\s*{chinese}|(?P<last>(?:最后|末)一?{chinese})",
        re.IGNORECASE,
    )


_ROW, _COLUMN = _forms("row", "行"), _forms("column", "[列栏]")


def find_numbered_row(question: str, table: DataTable) -> int | None:
    """Return the row (from 0) that `question` refers to by its number; None if there is no such row."""
    found = _ROW.search(question)
    index = _index_of(found, len(table.rows)) if found else -1
    return index if 0 <= index < len(table.rows) else None


def find_numbered_columns(
    question: str, table: DataTable
) -> Iterator[tuple[tuple[int, int], int | None]]:
    """Yield the span of each column number in `question`, and the column (from 0); None if there is no such column."""
    for found in _COLUMN.finditer(question):
        index = _index_of(found, table.width)
        yield found.span(), index if 0 <= index < table.width else None


def _index_of(found: re.Match[str], count: int) -> int:
    """Return the position, from 0, among `count` rows or columns."""
    word = (found["word"] or "").lower()
    if found["last"] or word == "last":
        return count - 1
    if word:
        return _ORDINALS.index(word)
    return number_of(found["nth"] or found["number"] or found["digits"]) - 1
