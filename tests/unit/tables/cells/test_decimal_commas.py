"""Numbers whose fraction stands behind a comma."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sextant.tables.cells.table import make_table
from sextant.tables.cells.values import ValueKind, read_value


def numbers(*cells: str) -> list[Decimal | None]:
    column = make_table([["n"], *([cell] for cell in cells)], header_rows=1).columns[0]
    return [value.number if value.kind is ValueKind.NUMBER else None for value in column.values]


def test_one_fraction_tells_how_a_table_writes_numbers() -> None:
    assert numbers("0,12", "1.500", "1.234,50 €") == [
        Decimal("0.12"),
        Decimal(1500),
        Decimal("1234.50"),
    ]


@pytest.mark.parametrize("cells", [("1,500", "2,000"), ("1,5", "2.5"), ("Leeds, York", "1,000")])
def test_a_comma_that_may_part_thousands_does(cells: tuple[str, str]) -> None:
    assert numbers(*cells) == [
        value.number if (value := read_value(cell)).kind is ValueKind.NUMBER else None
        for cell in cells
    ]


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [
        ("$(1,234.50)", "-1234.50", ("$", "")),
        ("1,234.50 €", "1234.50", ("", "€")),
        ("₽ 10", "10", ("₽", "")),
    ],
)
def test_amounts_as_accounts_write_them(cell: str, number: str, unit: tuple[str, str]) -> None:
    value = read_value(cell)
    assert (value.number, value.unit) == (Decimal(number), unit)


def test_dashes_for_zero_leave_a_column_one_of_numbers() -> None:
    table = make_table([["n"], ["$5.00"], ["$-"], ["-"]], header_rows=1)
    assert table.columns[0].kind is ValueKind.NUMBER
