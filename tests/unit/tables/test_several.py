"""A question that asks for two computations is answered by both, or by none."""

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


@pytest.mark.parametrize(
    ("question", "table", "values"),
    [
        ("What are the highest and the lowest price?", PRODUCTS, ["30", "10"]),
        ("What is the highest price and the lowest price?", PRODUCTS, ["30", "10"]),
        ("What are the minimum, maximum and average price?", PRODUCTS, ["10", "30", "20"]),
        ("What is the total and the mean sold in North?", PRODUCTS, ["14", "7"]),
        ("最高和最低价格是多少？", CHINESE, ["30", "10"]),
        ("华北的总销量和平均销量", CHINESE, ["14", "7"]),
        ("价格最高和最低的产品", CHINESE, ["30", "10"]),
    ],
)
def test_each_of_several_computations_is_told(
    question: str, table: DataTable, values: list[str]
) -> None:
    language = language_of(question)
    assert [one.value for one in unasked(question, table, language)] == values
    assert [one.value for one in compute_findings(question, table, language).answers] == values


@pytest.mark.parametrize(
    "question",
    [
        "What are the highest and the lowest median price?",
        "What are the highest price and the median price?",
    ],
)
def test_none_is_told_where_one_is_not_understood(question: str) -> None:
    assert unasked(question, PRODUCTS, "en") == []
