"""A currency that a question names is that of the column it is answered from."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sextant.tables.cells.table import make_table
from sextant.tables.query.parsing import parse_query

PARTS = make_table(
    [
        ["Part", "Price (CNY)", "Price (EUR)"],
        ["Belt", "800", "100"],
        ["Motor", "8,000", "1,000"],
        ["Fuse", "16", "2"],
    ],
    1,
)
RENTS = make_table([["城市", "租金（元）"], ["上海", "900"], ["北京", "800"]], 1)


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("What is the average price in euros?", 2),
        ("What is the average price in yuan?", 1),
        ("What is the highest price in EUR?", 2),
        ("价格的平均值是多少欧元？", 2),
        ("价格的平均值是多少人民币？", 1),
    ],
)
def test_a_column_in_another_currency_is_not_meant(question: str, column: int) -> None:
    query = parse_query(question, PARTS)
    assert query is not None
    assert query.column == column


@pytest.mark.parametrize(
    "question",
    [
        "平均租金是多少美元？",
        "哪个城市的租金最高，多少美元？",
        "What is the average rent in dollars?",
        "What is the total rent in dollars?",
    ],
)
def test_nothing_is_computed_in_a_currency_that_no_column_has(question: str) -> None:
    assert parse_query(question, RENTS) is None


def test_a_bound_with_a_decimal_comma_is_one_number() -> None:
    query = parse_query("Which parts have a Price (EUR) of more than 2,50 EUR?", PARTS)
    assert query is not None
    assert [one.number for one in query.where] == [Decimal("2.50")]
