"""Number formats: what a reader of the sheet sees."""

from __future__ import annotations

import datetime as dt

import pytest

from sextant.ingestion.parsing.number_formats import format_value

ACCOUNTS = '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)'
DAY = 45366 + 14 / 24 + 5 / 1440  # 15 March 2024, 14:05


def days(**given: float) -> float:
    """Return a time as a spreadsheet counts it."""
    return dt.timedelta(**given) / dt.timedelta(days=1)


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (15, '0"%"', "15%"),
        (0.15, "0%", "15%"),
        (0.125, "0.0%", "12.5%"),
        (1067, "00000", "01067"),
        (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
        (1234.5, "[$$-en-US]#,##0.00", "$1,234.50"),
        (0.8125, "[$-x-systime]h:mm AM/PM", "7:30 PM"),
        (1234.5, "[$€-2]#,##0.00", "€1,234.50"),
        (-1234.5, ACCOUNTS, "$(1,234.50)"),
        (0, ACCOUNTS, "$-"),
        (12345678901.25, "General", "12345678901.25"),
        (123456789012345, "0", "123456789012345"),
        (1234567.0, "General", "1234567"),
        (0.1 + 0.2, "General", "0.3"),
        (2.5, "0", "3"),
        (-0.001, "0.00", "0.00"),
        (1234567, '#,##0.0,,"M"', "1.2M"),
        (5551234567, "(###) ###-####", "(555) 123-4567"),
        (2.75, "# ?/4", "2.75"),
        (12345, "0.00E+00", "1.23E+04"),
        (1.25, "0.0E+00", "1.3E+00"),
        (9.96, "0.0E+00", "1.0E+01"),
        (0, "0.00E+00", "0.00E+00"),
        (-3, "0;[Red](0)", "(3)"),
        (0, '0;-0;"none"', "none"),
        (150, '[>=100]"big "0;"small "0', "big 150"),
        (50, '[>=100]"big "0;"small "0', "small 50"),
        (5, "#.##", "5"),
        (5, "0.--", "5.--"),
        (1234.5, "#,##0.-", "1,235.-"),
        (23500, '0!.0,"万"', "2.4万"),
        (23500, '0\\.0,"万"', "2.4万"),
        (230000000, '0!.00,,"亿"', "2.30亿"),
        ("x", '0;0;0;"T-"@', "T-x"),
        ("x", '"a";"b";"c";"text"', "text"),
        ("x", "0;-0;0;General", "x"),
        (0, '"yes";"no";@', "yes"),
        (999960, "##0.0E+0", "1.0E+6"),
        ("a_b", "General", "a_b"),
    ],
)
def test_numbers(value: float | str, code: str, shown: str) -> None:
    assert format_value(value, code) == shown


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (days(hours=26, minutes=30), "[h]:mm", "26:30"),
        (days(minutes=75), "[mm]:ss", "75:00"),
        (days(hours=14, minutes=5, seconds=9), "h:mm:ss", "14:05:09"),
        (days(hours=14, minutes=5), "h:mm AM/PM", "2:05 PM"),
        (days(hours=14, minutes=5), '上午/下午h"时"mm"分"', "下午2时05分"),
        (days(minutes=5, seconds=30), "mm:ss.0", "05:30.0"),
        (DAY, "dd/mm/yyyy", "2024-03-15"),
        (DAY, "m/d/yy h:mm", "2024-03-15 14:05"),
        (DAY, "mmm-yy", "2024-03"),
        (DAY, "yyyy", "2024"),
        (DAY, "mmmm", "March"),
        (DAY, "[$-804]aaaa", "Friday"),
        (-42, "0.00;[Red]0.00", "-42.00"),
        (DAY, 'yyyy"年"m"月"d"日"', "2024-03-15"),
        (45366, "yyyy-mm-dd", "2024-03-15"),
        (12, "d/m/yyyy", "1900-01-12"),  # before the leap day that never was
        (12.5, "[h]:mm", "300:00"),
        (days(hours=1, seconds=59.7), "h:mm:ss", "1:01:00"),
        (days(seconds=59.74), "mm:ss.0", "00:59.7"),
        (45366.999999, "yyyy-mm-dd hh:mm:ss", "2024-03-16 00:00:00"),
    ],
)
def test_days_times_and_durations(value: float | str, code: str, shown: str) -> None:
    assert format_value(value, code) == shown


@pytest.mark.parametrize("code", ["0" * 10_000, "#" * 300 + ".0", "[h" * 99, "yyyy", "?/0", '"'])
def test_no_format_and_no_number_is_too_strange(code: str) -> None:
    for value in (1e308, -1e-300, 1e15, float("nan"), 0):
        assert isinstance(format_value(value, code), str)


def test_without_a_format_a_number_has_no_exponent_that_people_do_not_write() -> None:
    assert [format_value(value, "General") for value in (1234567, 1e15, 0.00001, 1e22)] == [
        "1234567",
        "1000000000000000",
        "0.00001",
        "1E+22",
    ]
