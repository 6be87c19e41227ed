"""3/14/2025 is a date where its column tells which number is the month, and words where it does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.cells.values import ValueKind
from tests.unit.tables.unasked import unasked


def orders(days: Sequence[str]) -> DataTable:
    rows = [[f"O-{number}", day] for number, day in enumerate(days, 1)]
    return make_table([["Order", "Date"], *rows], header_rows=1)


@pytest.mark.parametrize(
    ("days", "read"),
    [
        (["3/14/2025", "4/1/2025"], ["2025-03-14", "2025-04-01"]),
        (["14/3/2025", "4/1/2025"], ["2025-03-14", "2025-01-04"]),
        (["14-03-2025", "04-01-2025"], ["2025-03-14", "2025-01-04"]),
        (["4.1.2025", "5.2.2025"], ["2025-01-04", "2025-02-05"]),
        (["", "14.3.2025"], [None, "2025-03-14"]),
    ],
)
def test_the_column_tells_the_order(days: Sequence[str], read: Sequence[str | None]) -> None:
    column = orders(days).columns[1]
    assert column.kind is ValueKind.DATE
    assert [value.date and value.date.isoformat() for value in column.values] == read


@pytest.mark.parametrize(
    "days",
    [
        ["3/4/2025", "4/1/2025"],  # either way
        ["14/3/2025", "3/14/2025"],  # both ways
        ["14/3/2025", "14.3.2025"],  # as by two hands
        ["31.6.2025"],  # no day
        ["3/14/25"],  # of which century
    ],
)
def test_what_is_not_sure_stays_words(days: Sequence[str]) -> None:
    assert orders(days).columns[1].kind is ValueKind.TEXT


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the latest date?", ["4/1/2025"]),
        ("Which orders have a date before April 2025?", ["O-1", "O-3"]),
        ("Which orders are dated since 2025-03-14?", ["O-1", "O-2"]),
    ],
)
def test_such_dates_are_compared(question: str, rows: Sequence[str]) -> None:
    found = unasked(question, orders(["3/14/2025", "4/1/2025", "12/2/2024"]), "en")
    assert [one.value for one in found if one.place] == rows
