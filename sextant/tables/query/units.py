"""Units of columns, and conversion of a number in a question to the unit of a column: 100 EUR, 500 MB, 450万元."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from sextant.tables.cells.table import Column
from sextant.tables.cells.values import SCALE, ValueKind, numbers_in
from sextant.text.characters import plain_of
from sextant.text.units import COUNT, SHARE, TIMES, UNIT_FORMS, UNITS, TextValue, unit_of_heading

# The scale of a column, in brackets after its name: 销售额（万元）.
_SCALED = re.compile(rf"(?<=[(（\[【])([^)）\]】\d]{{0,20}}?)({SCALE})")
_SCALE = re.compile(SCALE)
_MAX_NAME_CHARS = 60  # a header cell may be a page of text
_CURRENCIES = [(form, unit) for form, unit in UNIT_FORMS if UNITS[unit][0].isupper()]
_CURRENCY = re.compile("|".join(f"({form})" for form, _ in _CURRENCIES))


def find_unit(column: Column) -> str:
    """Return the unit of a column, by its name or its cells; "" if it is unknown."""
    named = unit_of_heading(_SCALED.sub(r"\1", plain_of(column.name[:_MAX_NAME_CHARS])))
    written = plain_of("".join(column.unit or ()))
    return named or (unit_of_heading(f"({written})") if written else "")


def find_currencies(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the spans of currencies in a text, with the currency; 元 may also be part of another word (单元)."""
    for match in _CURRENCY.finditer(text):
        ahead, behind = text[: match.start()][-1:], text[match.end() :][:1]
        is_part = match[0].isascii() and any(
            at.isascii() and at.isalpha() for at in (ahead, behind)
        )
        is_amount = ahead.isdigit() or ahead in {*"万亿千百少几"}
        if (match[0] != "元" or is_amount) and not (match[0][0].isalpha() and is_part):
            yield match.span(), _CURRENCIES[(match.lastindex or 1) - 1][1]


def find_other_currencies(columns: Sequence[Column], text: str) -> set[int]:
    """Return the columns in another currency than the question names.

    "The average price in euros" says nothing of `Price (CNY)`.
    """
    named = {unit for _, unit in find_currencies(text)}
    counted = {one.index: find_unit(one) for one in columns if one.kind is ValueKind.NUMBER}
    other = {at: unit for at, unit in counted.items() if named and unit not in named}
    return {at for at, unit in other.items() if unit in UNITS and UNITS[unit][0].isupper()}


def convert_to_column(column: Column, amount: TextValue | None, written: str) -> Decimal | None:
    """Return a number in the unit of a column: 450 for 450万元 in a column of 万元; None for another unit.

    Args:
        column: a column of numbers.
        amount: the number; None for zero.
        written: the number as the question has it.
    """
    if amount is None:
        return Decimal(0)
    if column.unit is None:
        return None
    stated, counted = amount.unit if amount.unit != COUNT else "", find_unit(column)
    if stated != counted and stated and (counted or stated in {SHARE, TIMES, "point"}):
        return None
    number = Decimal(amount.number.numerator) / Decimal(amount.number.denominator)
    if stated == SHARE:
        return number * 100
    scale = _SCALED.search(plain_of(column.name))
    if scale is None or not (stated or _SCALE.search(written)):
        return number
    return (number / numbers_in(f"1{scale[2]}")[0]).normalize()
