"""A row that is asked for by its place: "and the second row?", 第二行呢."""

from __future__ import annotations

import re

from domain.language.number_words import ORDINALS
from domain.tables.table import DataTable

_ORDINALS = ORDINALS[:10]
_DIGITS = "一二三四五六七八九十"
_ENGLISH = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_ORDINALS)}|last)|(?P<nth>\d+)(?:st|nd|rd|th))\s+row\b|\brow\s+(?P<row>\d+)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(rf"第\s*(?P<digits>\d+|[{_DIGITS}])\s*行|(?P<last>最后一行)")


def row_asked_for(question: str, table: DataTable) -> int | None:
    """The place (from 0) of the row that `question` calls by its number; None without such a row."""
    place = _place(question, len(table.rows))
    return place if place is not None and 0 <= place < len(table.rows) else None


def asks_by_place(question: str) -> bool:
    """Whether a question asks for a row by its number."""
    return _place(question, 1) is not None


def _place(question: str, rows: int) -> int | None:
    if found := _ENGLISH.search(question):
        word = (found["word"] or "").lower()
        if word:
            return rows - 1 if word == "last" else _ORDINALS.index(word)
        return int(found["nth"] or found["row"]) - 1
    if found := _CHINESE.search(question):
        if found["last"]:
            return rows - 1
        digits = found["digits"]
        return (int(digits) if digits.isdigit() else _DIGITS.index(digits) + 1) - 1
    return None
