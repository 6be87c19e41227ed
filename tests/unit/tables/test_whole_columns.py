"""Groups counted, values listed, rows held apart or denied: what is asked of all rows of a table."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from tests.unit.tables.unasked import unasked

STOCK = make_table(
    [
        ["Part", "Supplier", "Warehouse", "Stock", "Minimum stock", "Price (EUR)", "Counted"],
        ["BX-1", "Norbolt", "Oslo", "12", "20", "18.50", "2025-01-15"],
        ["BX-1", "Norbolt", "Bergen", "30", "10", "18.50", "2025-02-03"],
        ["CD-2", "Keller", "Oslo", "7", "10", "64.90", "2025-02-03"],
        ["CD-7", "Keller", "Bergen", "180", "100", "2.40", "2025-03-11"],
        ["EF-5", "Lumina", "Oslo", "5", "5", "210.00", "2025-04-09"],
        ["Total", "", "", "234", "145", "", ""],
    ],
    header_rows=1,
)
MODELS = make_table(
    [
        ["型号", "类别", "重量（kg）", "价格（元）", "颜色", "上市日期"],
        ["云帆A1", "卧式", "5.2", "899", "白色", "2025-01-10"],
        ["云帆A3", "卧式", "6.8", "1299", "黑色", "2025-03-02"],
        ["云帆S2", "立式", "2.9", "1599", "白色", "2025-03-20"],
        ["云帆R3", "机器人", "4.0", "3299", "银色", "2025-05-06"],
    ],
    header_rows=1,
)


def told(question: str, table: DataTable, language: str) -> list[tuple[str, str]]:
    return [(one.value, one.place) for one in unasked(question, table, language)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many parts does each supplier deliver?", [("1", "c2"), ("2", "c2"), ("1", "c2")]),
        ("How many rows are there per warehouse?", [("3", "c3"), ("2", "c3")]),
        (
            "Which suppliers do we have?",
            [("3", "c2"), ("Norbolt", "r1c2"), ("Keller", "r3c2"), ("Lumina", "r5c2")],
        ),
        ("What warehouses are there?", [("2", "c3"), ("Oslo", "r1c3"), ("Bergen", "r2c3")]),
        (
            "Which parts are not from Keller?",
            [("3", ""), ("BX-1", "r1c1"), ("BX-1", "r2c1"), ("EF-5", "r5c1")],
        ),
        # BX-1 lies in Bergen as well as in Oslo.
        ("Which parts are not in Oslo?", [("CD-7", "r4c1")]),
        (
            "What is the price difference between CD-2 and EF-5?",
            [("145.10", "c6"), ("64.90", "r3c6"), ("210.00", "r5c6")],
        ),
        (
            "Which parts cost from 10 to 100 EUR?",
            [("3", ""), ("BX-1", "r1c1"), ("BX-1", "r2c1"), ("CD-2", "r3c1")],
        ),
        ("Which parts were counted before February?", [("BX-1", "r1c1")]),
    ],
)
def test_all_values_counts_and_differences_are_told_with_their_places(
    question: str, expected: list[tuple[str, str]]
) -> None:
    assert told(question, STOCK, "en") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("每个类别有几种型号？", [("2", "c2"), ("1", "c2"), ("1", "c2")]),
        ("有哪些类别？", [("3", "c2"), ("卧式", "r1c2"), ("立式", "r3c2"), ("机器人", "r4c2")]),
        (
            "型号分为哪几种类别？",
            [("3", "c2"), ("卧式", "r1c2"), ("立式", "r3c2"), ("机器人", "r4c2")],
        ),
        ("哪些型号不是白色的？", [("2", ""), ("云帆A3", "r2c1"), ("云帆R3", "r4c1")]),
        ("除了白色和黑色以外还有哪些型号？", [("云帆R3", "r4c1")]),
        ("云帆A3比云帆A1贵多少？", [("400", "c4"), ("899", "r1c4"), ("1299", "r2c4")]),
        ("云帆S2和云帆R3的重量相差多少？", [("1.1", "c3"), ("2.9", "r3c3"), ("4.0", "r4c3")]),
        ("价格1000到1600元的型号有哪些？", [("2", ""), ("云帆A3", "r2c1"), ("云帆S2", "r3c1")]),
        ("哪些型号在三月上市？", [("2", ""), ("云帆A3", "r2c1"), ("云帆S2", "r3c1")]),
        ("三月以后上市的型号有哪些？", [("云帆R3", "r4c1")]),
        ("哪两款最便宜？", [("899", "r1c4"), ("1299", "r2c4")]),
    ],
)
def test_the_same_is_computed_of_chinese_questions(
    question: str, expected: list[tuple[str, str]]
) -> None:
    assert told(question, MODELS, "zh") == expected


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("Which suppliers do we have to notify?", STOCK),
        ("Which parts are not recyclable?", STOCK),
        ("How many parts may each driver carry?", STOCK),
        ("What is the difference between Norbolt and Keller?", STOCK),
        ("List the prices of all suppliers.", STOCK),
        # Whose price, in which warehouse?
        ("How much more does BX-1 cost than CD-2?", STOCK),
        ("Which parts are not from Keller, Bergen?", STOCK),
        ("Which parts have stock over twice their minimum stock?", STOCK),
        ("Which parts are at least 10 below their minimum stock?", STOCK),
        ("How many percent more does CD-7 cost than EF-5?", STOCK),
        ("有哪些类别需要加价？", MODELS),
        ("云帆A3和云帆A1有什么区别？", MODELS),
        ("云帆A3比云帆A1吸力强多少？", MODELS),
        ("哪些型号不能水洗？", MODELS),
    ],
)
def test_what_only_looks_like_it_is_left_alone(question: str, table: DataTable) -> None:
    assert told(question, table, "en") == []
