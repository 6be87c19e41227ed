from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.tables.cells.values import ValueKind, numbers_in, read_value
from sextant.text.number_words import chinese_number


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("42", "42", ("", "")),
        ("-3.50", "-3.50", ("", "")),
        ("40 EUR [note 2]", "40", ("", "EUR")),
        ("1,200[注1, 3]", "1200", ("", "")),
        ("12¹", "12", ("", "")),
        ("40² EUR", "40", ("", "EUR")),
        ("−7", "-7", ("", "")),
        ("1,234,567.8", "1234567.8", ("", "")),
        ("１，２３４", "1234", ("", "")),
        ("1 234", "1234", ("", "")),
        ("12.5%", "12.5", ("", "%")),
        ("12.5％", "12.5", ("", "%")),
        ("$1,200", "1200", ("$", "")),
        ("-$5", "-5", ("$", "")),
        ("￥3.20", "3.20", ("¥", "")),
        ("(1,200)", "-1200", ("", "")),
        ("(3)%", "-3", ("", "%")),
        ("120件", "120", ("", "件")),
        ("35 kg", "35", ("", "kg")),
        ("36.6℃", "36.6", ("", "°C")),
        ("1.2万", "12000", ("", "")),
        ("3亿元", "300000000", ("", "元")),
        ("2.5 million", "2500000", ("", "")),
        ("1e3", "1000", ("", "")),
    ],
)
def test_numbers_are_read_with_separators_scale_and_unit(
    text: str, number: str, unit: tuple[str, str]
) -> None:
    value = read_value(text)
    assert (value.kind, value.number, value.unit) == (ValueKind.NUMBER, Decimal(number), unit)


@pytest.mark.parametrize(
    "text",
    [
        "10⁶",
        "A12",
        "007",
        "1,5",
        "1.234,56",
        "1,23,456",
        "n/a",
        "—",
        "3 or 4",
        "(5",
        "1e999",
        "9" * 65,
        "二十",
    ],
)
def test_what_is_no_number_for_certain_stays_words(text: str) -> None:
    assert read_value(text).kind is ValueKind.TEXT


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-03-09", date(2024, 3, 9)),
        ("2024/3/9", date(2024, 3, 9)),
        ("2024年3月9日", date(2024, 3, 9)),
        ("2024年3月", date(2024, 3, 1)),
        ("2024-03-09T10:00:00Z", date(2024, 3, 9)),
    ],
)
def test_dates_are_read(text: str, day: date) -> None:
    assert (read_value(text).kind, read_value(text).date) == (ValueKind.DATE, day)


def test_a_day_that_is_not_in_the_calendar_is_no_date() -> None:
    assert read_value("2024-02-31").kind is ValueKind.TEXT


@pytest.mark.parametrize("text", ["", "  ", "\u3000"])
def test_an_empty_cell_is_empty(text: str) -> None:
    assert read_value(text).kind is ValueKind.EMPTY


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=4
    )
)
def test_every_decimal_with_thousands_separators_is_read_back_exactly(number: Decimal) -> None:
    assert read_value(f"{number:,f}").number == number


@given(st.text(max_size=80))
def test_any_text_is_read_as_something(text: str) -> None:
    assert read_value(text).text == text
    numbers_in(text)


def test_the_numbers_of_a_sentence_are_found_with_their_scale() -> None:
    stated = numbers_in("2023年销量为1,200件，增长 12.5%，金额 1.2万元，亏损-3 到 2020-2024。")
    assert stated == [Decimal(n) for n in ("2023", "1200", "12.5", "12000", "-3", "2020", "2024")]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("三", 3), ("十", 10), ("十五", 15), ("二十", 20), ("三十五", 35), ("一百零五", 105), ("一百五", 150),
        ("两千", 2000), ("一万", 10_000), ("一万五", 15_000), ("一万零五", 10_005), ("十五万", 150_000),
        ("一百二十万", 1_200_000), ("两亿三千万", 230_000_000), ("三亿", 300_000_000), ("万", 10_000),
    ],
)  # fmt: skip
def test_chinese_numerals_are_read(written: str, number: int) -> None:
    assert chinese_number(written) == number
