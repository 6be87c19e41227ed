"""Hours and minutes are added up as such, unless they are times of the day."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from tests.unit.tables.unasked import unasked


def table(*rows: str) -> DataTable:
    return make_table([row.split("|") for row in rows], header_rows=1)


JOBS = table("Job|Time|Price", "Mill|26:30|10", "Turn|4:15|5", "Drill|0:45|9")
PAUSES = table("Worker|Time", "Ann|7:30", "Bob|8:15", "Cy|6:00")
HOURS = table("Employee|Hours", "Ann|7:30", "Bob|8:15", "Cy|")
SHIFTS = table("员工|工时", "甲|7:30:10", "乙|8:15:55")
SHOPS = table("Shop|Opening hours", "A|7:30", "B|8:15")
STOPS = table("Stop|Departure", "A|07:30", "B|08:15")


@pytest.mark.parametrize(
    ("question", "asked", "language", "expected"),
    [
        ("What is the total time?", JOBS, "en", ["31:30"]),
        ("What is the total time?", PAUSES, "en", ["21:45"]),
        ("What is the average time?", JOBS, "en", ["10:30"]),
        ("What are the total hours?", HOURS, "en", ["15:45"]),
        ("工时合计多少？", SHIFTS, "zh", ["15:46:05"]),
        ("How much longer did Turn take than Drill?", JOBS, "en", ["3:30", "4:15", "0:45"]),
    ],
)
def test_durations_are_computed_in_sixtieths(
    question: str, asked: DataTable, language: str, expected: list[str]
) -> None:
    assert [one.value for one in unasked(question, asked, language)] == expected


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the total departure?", STOPS),
        ("What are the total opening hours?", SHOPS),
        ("Which job has a time over 4?", JOBS),
    ],
)
def test_times_of_the_day_and_bounds_in_other_units_are_left_alone(
    question: str, asked: DataTable
) -> None:
    assert unasked(question, asked, "en") == []
