"""A column held against another, row by row: "below their minimum stock", 实际支出超过预算."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.text.characters import language_of
from tests.unit.tables.unasked import unasked

STOCK = make_table(
    [
        ["Part", "Supplier", "Stock", "Minimum stock", "Price (EUR)"],
        ["BM-40", "Brenner", "5", "6", "200"],
        ["TB-18", "Brenner", "12", "10", "40"],
        ["SC-110", "Optik", "n/a", "3", "900"],
        ["FF-06", "Optik", "100", "200", "9"],
        ["LG-02", "Optik", "6", "6", "30"],
    ],
    header_rows=1,
)
BUDGETS = make_table(
    [
        ["Department", "Budget (CNY)", "Actual (CNY)"],
        ["Sales", "100,000", "120,000"],
        ["Research", "300,000", "250,000"],
        ["Personnel", "50,000", "50,000"],
    ],
    header_rows=1,
)
PARTS = make_table(
    [
        ["部件", "库存", "最低库存"],
        ["电机", "5", "6"],
        ["皮带", "12", "10"],
        ["滤网", "100", "200"],
    ],
    header_rows=1,
)
DEPARTMENTS = make_table(
    [["部门", "预算", "实际支出"], ["销售", "100", "120"], ["研发", "300", "250"]], header_rows=1
)
ORDERS = make_table(
    [
        ["Order", "Promised date", "Delivery date"],
        ["O-1", "2025-03-01", "2025-03-05"],
        ["O-2", "2025-03-04", "2025-03-03"],
        ["O-3", "2025-03-04", "2025-03-04"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "table", "rows"),
    [
        ("Which parts are below their minimum stock?", STOCK, ["BM-40", "FF-06"]),
        ("Which parts have a stock above the minimum stock?", STOCK, ["TB-18"]),
        ("Which parts from Optik are below their minimum stock?", STOCK, ["FF-06"]),
        ("Which departments exceeded their budget?", BUDGETS, ["Sales"]),
        (
            "Which departments have an actual of at most the budget?",
            BUDGETS,
            ["Research", "Personnel"],
        ),
        ("Which parts have less stock than their minimum stock?", STOCK, ["BM-40", "FF-06"]),
        ("哪些部件的库存低于最低库存？", PARTS, ["电机", "滤网"]),
        ("哪些部件的库存低于最低库存？", STOCK, ["BM-40", "FF-06"]),
        ("Which parts have more stock than the minimum stock?", PARTS, ["皮带"]),
        ("哪些部件的库存比最低库存还低？", PARTS, ["电机", "滤网"]),
        ("Which departments exceeded their budget?", DEPARTMENTS, ["销售"]),
        ("库存不低于最低库存的部件", PARTS, ["皮带"]),
        ("Which parts are not below their minimum stock?", STOCK, ["TB-18", "LG-02"]),
        ("低于其最低库存的部件有哪些？", PARTS, ["电机", "滤网"]),
        ("实际支出未超过预算的部门", DEPARTMENTS, ["研发"]),
        ("超过预算的部门", DEPARTMENTS, ["销售"]),
        ("Which orders were delivered after the promised date?", ORDERS, ["O-1"]),
        ("Which orders have a delivery date earlier than the promised date?", ORDERS, ["O-2"]),
    ],
)
def test_the_rows_are_told_in_which_one_column_is_so_beside_another(
    question: str, table: DataTable, rows: list[str]
) -> None:
    found = unasked(question, table, language_of(question))
    assert [one.value for one in found if one.listed] == rows


@pytest.mark.parametrize(
    ("question", "table", "text"),
    [
        (
            "How many parts are below their minimum stock?",
            STOCK,
            "2 rows have Stock < Minimum stock",
        ),
        ("有多少种部件库存低于最低库存", PARTS, "符合条件（库存 < 最低库存）的共有 2 行"),
        (
            "Is the stock of TB-18 below the minimum stock?",
            STOCK,
            "no row has Part = TB-18, Stock < Minimum stock",
        ),
    ],
)
def test_they_are_counted_too(question: str, table: DataTable, text: str) -> None:
    assert [one.text for one in unasked(question, table, language_of(question))] == [text]


@pytest.mark.parametrize(
    "question",
    [
        "Which parts have a stock above the stock of BM-40?",  # of another row
        "Which parts have a price above the minimum stock?",  # of another unit
        "Which parts are above their supplier?",
    ],
)
def test_what_cannot_be_compared_so_is_not(question: str) -> None:
    assert unasked(question, STOCK, "en") == []


def test_nothing_else_is_compared_where_what_is_meant_has_no_numbers() -> None:
    rows = [["Part", "Stock", "Minimum stock", "Shelf"], ["BM-40", "five", "6", "2"]]
    assert unasked("Which parts are below minimum stock?", make_table(rows, 1), "en") == []


def test_a_column_of_words_after_such_a_word_is_no_comparison() -> None:
    [found] = unasked("How many parts come under supplier Optik?", STOCK, "en")
    assert found.value == "3"
