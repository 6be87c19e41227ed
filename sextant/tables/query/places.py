"""Rows and columns that are asked for by their place: "the second row", 第二行, "column 2", 最后一列."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sextant.tables.cells.table import DataTable
from sextant.text.number_words import CHINESE_DIGITS, ORDINALS, number_of

_ORDINALS = ORDINALS[:10]


def _forms(english: str, chinese: str) -> re.Pattern[str]:
    """Return how both languages call one by its place; the words are patterns."""
    return re.compile(
        rf"\b(?:(?P<word>{'|'.join(_ORDINALS)}|last)|(?P<nth>\d+)(?:st|nd|rd|th))[\s-]+{english}\b"
        rf"|\b{english}\s+(?:no\.?\s*|number\s+)?(?P<number>\d+)\b"
        rf"|第\s*(?P<digits>\d+|[{CHINESE_DIGITS[1:]}])\s*{chinese}|(?P<last>(?:最后|末)一?{chinese})",
        re.IGNORECASE,
    )


_ROW, _COLUMN = _forms("row", "行"), _forms("column", "[列栏]")


def find_numbered_row(question: str, table: DataTable) -> int | None:
    """Return the place (from 0) of the row that `question` calls by its number; None without such a row."""
    found = _ROW.search(question)
    index = _index_of(found, len(table.rows)) if found else -1
    return index if 0 <= index < len(table.rows) else None


def find_numbered_columns(
    question: str, table: DataTable
) -> Iterator[tuple[tuple[int, int], int | None]]:
    """Yield where `question` calls a column by its number, and which (from 0) that is; None: there is no such one."""
    for found in _COLUMN.finditer(question):
        index = _index_of(found, table.width)
        yield found.span(), index if 0 <= index < table.width else None


def _index_of(found: re.Match[str], count: int) -> int:
    """Return the place, from 0, that one of `count` is called by."""
    word = (found["word"] or "").lower()
    if found["last"] or word == "last":
        return count - 1
    if word:
        return _ORDINALS.index(word)
    return number_of(found["nth"] or found["number"] or found["digits"]) - 1
