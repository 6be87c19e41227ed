"""Dates whose order of day and month only their column tells: 3/14/2025 and 14/3/2025, but also 14.3.2025."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from sextant.tables.cells.values import CellValue, ValueKind

_LOCAL = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2((?:19|20)\d\d)")
_MONTHS = 12


def with_local_dates(values: Sequence[CellValue]) -> tuple[CellValue, ...]:
    """Return a column's values, its dates read where it is sure which number is the month.

    Points stand between day and month (DIN 1355, ÖNORM A 1080). Of others one date of the column must have a
    day past the twelfth; else, or where dates say both, all stay words.

    Args:
        values: the cells of one column.
    """
    found = [
        _LOCAL.fullmatch(value.text.strip()) if value.kind is ValueKind.TEXT else None
        for value in values
    ]
    signs = {match[2] for match in found if match}
    if len(signs) != 1:
        return tuple(values)
    numbers = [(int(match[1]), int(match[3])) for match in found if match]
    day_first = True if signs == {"."} else _day_first(numbers)
    if day_first is None:
        return tuple(values)
    return tuple(
        _to_date(value, match, day_first=day_first) if match else value
        for value, match in zip(values, found, strict=True)
    )


def _day_first(numbers: Iterable[tuple[int, int]]) -> bool | None:
    """Return whether the first of two numbers is the day; None where that is not sure."""
    sure = {first > _MONTHS for first, second in numbers if (first > _MONTHS) != (second > _MONTHS)}
    return sure.pop() if len(sure) == 1 else None


def _to_date(value: CellValue, match: re.Match[str], *, day_first: bool) -> CellValue:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    day, month = (first, second) if day_first else (second, first)
    try:
        return replace(value, kind=ValueKind.DATE, date=date(year, month, day))
    except ValueError:  # the 31st of June
        return value
