"""What a chat model says of a question becomes a query only where the table has all that it names."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.nodes.table_query import RowCondition, TableRequest, to_query
from sextant.tables.cells.table import make_table
from sextant.tables.results.written import Writer

STAFF = make_table(
    [
        ["Name", "Team", "Salary (EUR)", "Hired"],
        ["Ann", "Red", "5,000", "2020-05-01"],
        ["Bob", "Blue", "4,000", "2018-01-15"],
        ["Dan", "red", "6,100", "2019-07-07"],
    ],
    header_rows=1,
)


def request(**values: Any) -> TableRequest:
    return TableRequest(answerable=True, **values)


def on(column: str, comparison: str, value: str) -> RowCondition:
    return RowCondition(column=column, comparison=comparison, value=value)


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        (request(aggregate="sum", select=["salary (eur)"]), ["15,100"]),
        (request(aggregate="mean", select=["Salary (EUR)"], where=[on("Team", "=", "RED")]), ["5,550"]),
        (request(aggregate="count", where=[on("Salary (EUR)", ">=", "5000")]), ["2"]),
        (request(aggregate="count", where=[on("Hired", "<", "2020-01-01")]), ["2"]),
        (request(aggregate="sum", select=["Salary (EUR)"], group_by="Team"), ["11,100", "4,000"]),
        (request(select=["Team"], order_by="Salary (EUR)", descending=True, limit=1), ["6,100", "red"]),
        (request(select=["Salary (EUR)"], where=[on("Name", "=", "Bob")]), ["4,000"]),
        (request(aggregate="share", where=[on("Team", "!=", "Blue")]), ["66.67%"]),
    ],
)  # fmt: skip
def test_a_query_that_fits_the_table_is_run(asked: TableRequest, values: list[str]) -> None:
    query = to_query(asked, STAFF)
    assert query is not None
    assert [one.value for one in Writer(STAFF, query, "en").findings()] == values


@pytest.mark.parametrize(
    "asked",
    [
        TableRequest(answerable=False, aggregate="sum", select=["Salary (EUR)"]),
        request(aggregate="sum", select=["Bonus"]),
        request(aggregate="sum", select=["Team"]),
        request(aggregate="median", select=["Salary (EUR)"]),
        request(aggregate="count", where=[on("Team", "=", "Green")]),
        request(aggregate="count", where=[on("Team", ">", "Red")]),
        request(aggregate="count", where=[on("Salary (EUR)", ">", "a lot")]),
        request(aggregate="count", where=[on("Salary (EUR)", ">", "5000 USD")]),
        request(aggregate="count", where=[on("Salary (EUR)", "about", "5000")]),
        request(aggregate="count", where=[on("Hired", ">", "last year")]),
        request(order_by="Team"),
        request(),
    ],
)
def test_a_query_that_does_not_fit_is_none(asked: TableRequest) -> None:
    assert to_query(asked, STAFF) is None
