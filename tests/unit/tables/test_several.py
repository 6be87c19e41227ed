"""Of a question that asks for more than one computation none is told as if it were the whole."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.results.findings import compute_findings
from sextant.text.characters import language_of
from tests.unit.tables.unasked import unasked

PRODUCTS = make_table(
    [
        ["Product", "Region", "Price (EUR)", "Sold"],
        ["A", "North", "10", "5"],
        ["B", "South", "30", "2"],
        ["C", "North", "20", "9"],
    ],
    header_rows=1,
)
CHINESE = make_table(
    [
        ["产品", "地区", "价格", "销量"],
        ["甲品", "华北", "10", "5"],
        ["乙品", "华南", "30", "2"],
        ["丙品", "华北", "20", "9"],
    ],
    header_rows=1,
)
QUARTERS = make_table(
    [["Product", "Q1", "Q2"], ["Desk", "40", "46"], ["Lamp", "10", "11"]], header_rows=1
)


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("What are the highest and the lowest price?", PRODUCTS),
        ("What is the average price and how many were sold?", PRODUCTS),
        ("How many products are there and what is the average price?", PRODUCTS),
        ("How many products are in North and how many in South?", PRODUCTS),
        ("How many cost more than 15, and how many less than 15?", PRODUCTS),
        ("Which product is the cheapest and which sold most?", PRODUCTS),
        ("Which product is the cheapest and the least sold?", PRODUCTS),
        ("Which is the largest, and what is its price?", PRODUCTS),
        ("最高和最低价格是多少？", CHINESE),
        ("平均价格是多少，哪个最贵？", CHINESE),
        ("华北总销量是多少，华南呢？", CHINESE),
        ("华北和华南的总销量分别是多少？", CHINESE),
        ("What is the total of Desk over all quarters?", QUARTERS),
        ("What is the sum of Q1 and Q2 for Desk?", QUARTERS),
        ("What is the sum of the second column?", QUARTERS),
        ("What is the average of row 1?", QUARTERS),
    ],
)
def test_none_is_told_of_several(question: str, table: DataTable) -> None:
    language = language_of(question)
    assert unasked(question, table, language) == []
    assert compute_findings(question, table, language).answers == []


@pytest.mark.parametrize(
    ("question", "table", "values"),
    [
        ("Which product is the cheapest, and what region is it from?", PRODUCTS, ["10", "North"]),
        ("Which products are in North, and what do they cost?", PRODUCTS, ["A", "10", "C", "20"]),
        ("For products in North, what is the average price?", PRODUCTS, ["15"]),
        ("How much of the cheapest product was sold?", PRODUCTS, ["10", "5"]),
        ("最贵的是哪个，销量是多少？", CHINESE, ["30", "2"]),
        ("最贵的产品的销量是多少？", CHINESE, ["30", "2"]),
        ("哪个产品最贵，在哪个地区？", CHINESE, ["30", "华南"]),
    ],
)
def test_what_is_asked_of_one_row_is_told_of_it(
    question: str, table: DataTable, values: list[str]
) -> None:
    found = compute_findings(question, table, language_of(question)).answers
    assert [one.value for one in found] == values


def test_each_of_two_sentences_is_told() -> None:
    found = compute_findings("Which has the highest price? Which sold most?", PRODUCTS, "en")
    assert [one.value for one in found.answers] == ["30", "9"]
