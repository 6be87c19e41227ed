"""A row that stands for a range is found by a number that lies in it."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import make_table
from sextant.tables.query.bands import rows_of_band
from sextant.tables.query.parsing import parse_query

APPROVAL = make_table(
    [
        ["金额", "审批人"],
        ["5,000 元以下", "组长"],
        ["5,000 元至 30,000 元", "经理"],
        ["30,000 元以上", "总监"],
    ],
    1,
)
PARCELS = make_table(
    [["Weight", "Price"], ["up to 2 kg", "5 EUR"], ["2-10 kg", "9 EUR"], ["over 10 kg", "19 EUR"]],
    1,
)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("超过30000元谁审批？", [2]),
        ("20000元的费用由谁审批？", [1]),
        ("3万5千元谁审批？", []),
        ("4000元谁审批？", [0]),
        ("不足5000元谁审批？", [0]),
        ("5000元谁审批？", [0, 1]),
        ("一笔10万元的费用由谁审批？", [2]),
        ("谁审批？", []),
        ("5000元和20000元分别由谁审批？", []),
    ],
)
def test_an_amount_is_in_its_range(question: str, rows: list[int]) -> None:
    assert rows_of_band(APPROVAL, question) == rows


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What does a parcel of 7 kg cost?", [1]),
        ("What does a parcel of 1.5 kg cost?", [0]),
        ("What does a parcel over 10 kg cost?", [2]),
        ("What does a parcel of 2 kg cost?", [0, 1]),
        ("What did parcels cost in 2024?", []),
        ("What does a parcel to zone 3 cost?", []),
        ("What does a parcel of 30 EUR weigh?", []),
    ],
)
def test_a_weight_is_in_its_range(question: str, rows: list[int]) -> None:
    assert rows_of_band(PARCELS, question) == rows


LEAVE = make_table(
    [
        ["Group", "Years of service", "Days of leave"],
        ["Office staff", "0–4", "26"],
        ["Office staff", "5 or more", "29"],
        ["Drivers", "0–4", "28"],
        ["Drivers", "5 or more", "31"],
        ["Apprentices", "any", "30"],
    ],
    1,
)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many days of leave do drivers get after 7 years?", [1, 3]),
        ("How many days of leave do drivers with more than five years of service get?", [1, 3]),
        ("What does a driver with two years of service get?", [0, 2]),
        ("Who gets more than 5 days?", []),
        ("Who gets more than 27?", []),
        ("What do drivers get after two hundred years?", []),
    ],
)
def test_the_unit_of_a_range_may_be_in_the_name_of_its_column(
    question: str, rows: list[int]
) -> None:
    assert rows_of_band(LEAVE, question) == rows


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What discount does a company with six members get?", [1]),
        ("What discount do 12 members get?", [2]),
        ("What discount is there in 12 months?", []),
    ],
)
def test_what_a_range_counts_may_be_in_the_name_of_its_column(
    question: str, rows: list[int]
) -> None:
    cells = [
        ["Members of one company", "Discount"],
        ["1–3", "-"],
        ["4–9", "8 %"],
        ["10 or more", "15 %"],
    ]
    assert rows_of_band(make_table(cells, 1), question) == rows


def test_a_number_in_a_range_is_no_bound_on_another_column() -> None:
    question = "How many days of leave do drivers with more than 5 years of service get?"
    assert parse_query(question, LEAVE) is None
    bounded = parse_query("Who gets more than 27 days of leave?", LEAVE)
    assert bounded is not None
    assert [condition.column for condition in bounded.where] == [2]


def test_plain_numbers_and_dates_are_no_ranges() -> None:
    table = make_table([["Part", "Count"], ["BM-40", "2025-03-18"], ["TB-18", "2025-03-20"]], 1)
    assert rows_of_band(table, "When was part 18 counted?") == []
