"""Numbers with a comma before their fraction (1.234,50), which only the whole table tells from thousands (1,234)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from sextant.tables.cells.values import CellValue, ValueKind, read_value

# What can only be a fraction: of one or two digits, or of any number behind groups of three.
_COMMA = re.compile(r"[^\w.,]*\d{1,3}(?:\.\d{3})+,\d+\D*|[^\w.,]*\d+,\d{1,2}(?!\d)[^\d.,]*")
_POINT = re.compile(r"[^\w.,]*\d{1,3}(?:,\d{3})+\.\d+\D*|[^\w.,]*\d+\.\d{1,2}(?!\d)[^\d.,]*")
_SWAP = str.maketrans(",.", ".,")


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Return whether a table writes fractions behind a comma: some cells do, and none behind a point."""
    found = False
    for cell in cells:
        if "," in cell or "." in cell:
            if _POINT.fullmatch(cell):
                return False
            found = found or _COMMA.fullmatch(cell) is not None
    return found


def read_with_comma(text: str) -> CellValue:
    """Read a cell of such a table; what is no number then is read as elsewhere."""
    value = read_value(text)
    if value.kind in {ValueKind.DATE, ValueKind.EMPTY}:
        return value
    swapped = read_value(text.translate(_SWAP))
    return replace(swapped, text=text) if swapped.kind is ValueKind.NUMBER else value
