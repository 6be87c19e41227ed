"""A table of a document is put together from its passages, or left alone where a row may be missing."""

from __future__ import annotations

import pytest

from sextant.tables.cells.stored import TablePart, tables_of
from sextant.tables.cells.table import make_table
from tests.unit.tables.unasked import unasked

HEAD = "| Plan | Price (EUR) |\n| --- | --- |"


def part(ordinal: int, start: int, text: str, context: str = "") -> TablePart:
    return TablePart(f"p{ordinal}", ordinal, start, text, context)


FIRST = part(0, 10, f"{HEAD}\n| Basic | 20 |\n| Team | 90 |")
LATER = part(1, 90, "| Business | 240 |", HEAD)


def test_later_rows_join_the_head_they_carry_as_context() -> None:
    (table,) = tables_of([FIRST, LATER])
    assert table.table.names == ("Plan", "Price (EUR)")
    assert table.table.rows == (("Basic", "20"), ("Team", "90"), ("Business", "240"))
    assert [line.text for line in table.rows] == [
        "| Basic | 20 |",
        "| Team | 90 |",
        "| Business | 240 |",
    ]
    assert (table.rows[2].start, table.rows[2].end) == (90, 108)
    assert table.head.text == "| Plan | Price (EUR) |"


def test_a_caption_above_the_head_is_no_row() -> None:
    captioned = part(0, 0, f"Table 2: plans\n{FIRST.text}")
    later = part(1, 90, LATER.text, f"Table 2: plans\n{HEAD}")
    (table,) = tables_of([captioned, later])
    assert len(table.table.rows) == 3


def test_a_header_of_two_rows_names_each_column_by_both() -> None:
    (table,) = tables_of(
        [part(0, 0, "| Plan | Price |\n|  | EUR |\n| --- | --- |\n| Basic | 20 |")]
    )
    assert table.table.names == ("Plan", "Price EUR")


def test_tables_that_follow_each_other_stay_apart() -> None:
    other = part(2, 200, "| City | Stores |\n| --- | --- |\n| Graz | 3 |")
    assert [len(table.table.rows) for table in tables_of([FIRST, LATER, other])] == [3, 1]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([part(0, 0, "| Basic | 20 |\n| Team | 90 |")], id="no head"),
        pytest.param([LATER], id="the first part is missing"),
        pytest.param([FIRST, part(1, 90, "| Business | 240", HEAD)], id="a row cut in two"),
        pytest.param([FIRST, part(1, 90, "| Business |", HEAD)], id="a row of other cells"),
        pytest.param([part(0, 0, HEAD)], id="no rows"),
    ],
)
def test_what_may_lack_a_row_is_left_out(parts: list[TablePart]) -> None:
    assert tables_of(parts) == []


def test_a_bar_within_a_cell_parts_nothing() -> None:
    (table,) = tables_of([part(0, 0, f"{HEAD}\n| A\\|B | 20 |")])
    assert table.table.rows == (("A|B", "20"),)


PLANS = make_table(
    [
        ["Plan", "Price (EUR)", "Storage (GB)"],
        ["Basic", "20", "10"],
        ["Team", "90", "50"],
        ["Big", "240", "90"],
    ],
    header_rows=1,
)
PRICES = make_table(
    [
        ["Article", "Price (CNY)", "Price (EUR)", "Storage (GB)"],
        ["A", "800", "100", "5"],
        ["B", "960", "120", "90"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which articles cost over 110 EUR?", ["B"]),
        ("Which articles have a price over 110 euros?", ["B"]),
        ("Which articles have a price over €110?", ["B"]),
        ("Which articles have a price over 850 CNY?", ["B"]),
        ("价格超过850元的 article 有哪些？", ["B"]),
        ("Which articles have a price over 110 USD?", []),
        ("Which articles have more than 50 GB of storage?", ["B"]),
        ("Which articles have more than 50 MB of storage?", []),
    ],
)
def test_a_bound_is_on_the_column_of_its_unit(question: str, expected: list[str]) -> None:
    assert [one.value for one in unasked(question, PRICES, "en")] == expected


STORES = make_table(
    [
        ["门店", "城市", "销售额（万元）", "开业"],
        ["一店", "上海", "450", "2020-05-01"],
        ["二店", "杭州", "460.5", "2019-01-01"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which plans cost more than 50 EUR?", ["2", "Team", "Big"]),
        ("How many plans have less than 60 GB of storage?", ["2"]),
        ("What is the cheapest plan?", ["20"]),
        ("What is the most expensive plan?", ["240"]),
        ("What is the average storage?", ["50"]),
        ("What is the price of Team?", []),
        ("What is the largest plan?", []),
        ("What are the two cheapest plans?", ["20", "90"]),
        ("top 2 plans by storage", ["90", "50"]),
        ("What is the second highest price?", ["90"]),
        ("What is the ninth highest price?", []),
        ("Which two plans are the best known?", []),
        ("Who wrote the plan?", []),
    ],
)
def test_english_questions_about_a_table_that_was_found(question: str, expected: list[str]) -> None:
    assert [one.value for one in unasked(question, PLANS, "en")] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("销售额超过455万元的门店有哪些？", ["二店"]),
        ("销售额超过455的门店有哪些？", ["二店"]),
        ("销售额四百五十五万元以上的门店有哪些？", ["二店"]),
        ("销售额不足四百六十万的门店有哪些？", ["一店"]),
        ("销售额超过4550000元的门店有哪些？", ["二店"]),
        ("一共有多少家门店？", ["2"]),
        ("销售额前两名的门店是哪些？", ["460.5", "450"]),
        ("销售额最低的两家门店", ["450", "460.5"]),
        ("销售额第二高的门店是哪家？", ["450"]),
        ("最先开业的是哪家门店？", ["2019-01-01"]),
        ("上海的门店在哪里？", []),
    ],
)
def test_chinese_questions_about_a_table_that_was_found(question: str, expected: list[str]) -> None:
    assert [one.value for one in unasked(question, STORES, "zh")] == expected


HIRED = make_table(
    [
        ["Name", "Team", "Hired"],
        ["Ann", "Red", "2022-05-01"],
        ["Bob", "Red", "2023-12-31"],
        ["Cleo", "Blue", "2024-06-02"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was hired after 2023?", ["Cleo"]),
        ("Who was hired since 2023?", ["2", "Bob", "Cleo"]),
        ("Which people were hired before 2023-12-31?", ["Ann"]),
        ("How many were hired in 2024?", ["1"]),
        ("Who were the last two hired?", ["2024-06-02", "2023-12-31"]),
        ("Who was hired after 1 June 2024?", ["Cleo"]),
        ("Who was hired in May 2022?", ["Ann"]),
        ("Who of team Red was hired between 2023 and 2024?", ["Bob"]),
        ("Who was hired after 2030?", ["0"]),
        ("Who was hired first?", ["2022-05-01"]),
        ("Who was hired after the 31st?", []),
    ],
)
def test_dates_bound_the_rows(question: str, expected: list[str]) -> None:
    assert [one.value for one in unasked(question, HIRED, "en")] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("2023年以后入职的员工有哪些？", ["乙"]),
        ("2023年入职的员工有几位？", ["1"]),
        ("2022年5月之前入职的员工有哪些？", ["0"]),
        ("2022年到2023年入职的员工有几位？", ["2"]),
    ],
)
def test_dates_bound_the_rows_in_chinese(question: str, expected: list[str]) -> None:
    table = make_table(
        [
            ["员工", "入职日期"],
            ["甲", "2022-05-01"],
            ["丙", "2023年12月31日"],
            ["乙", "2024-06-02"],
        ],
        header_rows=1,
    )
    assert [one.value for one in unasked(question, table, "zh")] == expected


def test_a_column_is_named_by_its_plural_too() -> None:
    pay = make_table([["Name", "Salary"], ["Ann", "5"], ["Bob", "9"], ["Cleo", "7"]], header_rows=1)
    found = unasked("What are the top 2 salaries?", pay, "en")
    assert [one.value for one in found] == ["9", "7"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the total price?", ["30"]),
        ("What is the highest price?", ["20"]),
        ("How many plans cost more than 5 EUR?", ["2"]),
    ],
)
@pytest.mark.parametrize("label", ["Total", "Grand total", "合计", "小计", "Average"])
def test_a_row_that_sums_up_the_others_is_none_of_them(
    question: str, expected: list[str], label: str
) -> None:
    table = make_table(
        [["Plan", "Price (EUR)"], ["A", "10"], ["B", "20"], [label, "30"]], header_rows=1
    )
    assert [one.value for one in unasked(question, table, "en")] == expected
