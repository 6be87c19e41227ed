"""Whether a number in a question and a column count in the same unit: 100 EUR, 500 MB, 450万元."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from sextant.tables.cells.table import Column
from sextant.tables.cells.values import DURATION, SCALE, ValueKind, numbers_in
from sextant.text.characters import plain_of
from sextant.text.units import COUNT, SHARE, TIMES, UNIT_FORMS, UNITS, TextValue
from sextant.text.values import unit_of_heading

# A column may count by thousands or more, in brackets behind its name: 销售额（万元）.
_SCALED = re.compile(rf"(?<=[(（\[【])([^)）\]】\d]{{0,20}}?)({SCALE})")
_SCALE = re.compile(SCALE)
_CURRENCIES = [(form, unit) for form, unit in UNIT_FORMS if UNITS[unit][0].isupper()]
_CURRENCY = re.compile("|".join(f"({form})" for form, _ in _CURRENCIES))
_LONGEST = 60  # a header cell may be a page of text


def find_unit(column: Column) -> str:
    """Return the unit in which a column counts, by its name or its cells; "" where none is known."""
    named = unit_of_heading(_SCALED.sub(r"\1", plain_of(column.name[:_LONGEST])))
    written = plain_of("".join(column.unit or ()))
    return named or (unit_of_heading(f"({written})") if written else "")


def find_currencies(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield where a text names currencies, and which; 元 by itself may be a part of another word (单元)."""
    for match in _CURRENCY.finditer(text):
        ahead, behind = text[: match.start()][-1:], text[match.end() :][:1]
        is_part = match[0].isascii() and any(
            at.isascii() and at.isalpha() for at in (ahead, behind)
        )
        is_amount = ahead.isdigit() or ahead in {*"万亿千百少几"}
        if (match[0] != "元" or is_amount) and not (match[0][0].isalpha() and is_part):
            yield match.span(), _CURRENCIES[(match.lastindex or 1) - 1][1]


def find_other_currencies(columns: Sequence[Column], text: str) -> set[int]:
    """Return the columns of amounts in a currency other than those that a question names.

    "The average price in euros" says nothing of `Price (CNY)`.
    """
    asked = {unit for _, unit in find_currencies(text)}
    counted = {one.index: find_unit(one) for one in columns if one.kind is ValueKind.NUMBER}
    return {
        at for at, unit in counted.items() if asked and _is_currency(unit) and unit not in asked
    }


def _is_currency(unit: str) -> bool:
    return unit in UNITS and UNITS[unit][0].isupper()


def convert_to_column(column: Column, amount: TextValue | None, written: str) -> Decimal | None:
    """Return a number of a question as the column counts, 450万元 as 450 where it has 万元; None in another unit.

    Args:
        column: of numbers.
        amount: what the question says; None for zero.
        written: how.
    """
    if amount is None:
        return Decimal(0)
    if column.unit is None or DURATION in column.unit[1]:
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
