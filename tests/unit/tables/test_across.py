"""What columns of one row add up to; whether one is more than another; what is not done yet; who it was."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.results.findings import compute_findings
from sextant.text.characters import language_of


def table(text: str) -> DataTable:
    return make_table([line.split(",") for line in text.split()], header_rows=1)


SALES = table("Product,Q1,Q2,Q3,Q4,Margin Desk,$45,$41,$47,$52,18% Lamp,$12,$13,$9,$15,32%")
EXAMS = table(
    "姓名,语文,数学,英语 王小明,88,92,79 李婷,95,85,91 赵强,72,98,66 陈晨,90,76,88 孙丽,61,59,70 周杰,83,90,缺考"
)
SOLD = table("item,sold A,900 B,1200 C,300")
BOOKS = table("书名,类别,借出次数 围城,小说,86 活着,小说,132 三体,科幻,201")
ORDERS = table(
    "订单号,客户,金额,付款状态 A101,长风公司,12800,已付 A102,明德学校,4500,未付 A103,长风公司,7200,已付 A104,海天酒店,23600,未付"
)
INVOICES = table(
    "Invoice,Customer,Amount,Status I1,Acme,500,paid I2,Birch,900,unpaid I3,Acme,300,unpaid"
)
REPS = table("销售员,销量,销售额（万元）,完成率 刘洋,320,96.5,108% 马超,410,120.4,115%")


@pytest.mark.parametrize(
    ("question", "asked", "value"),
    [
        ("Does C sell less than B?", SOLD, "900"),
        ("B是不是比C卖得多？", SOLD, "900"),
        ("Did Desk sell more in Q1 than in Q2?", SALES, "$4"),
        ("平均每本书借出多少次？", BOOKS, "139.6667"),
    ],
)
def test_the_first_that_is_told_is_what_is_asked(
    question: str, asked: DataTable, value: str
) -> None:
    told = compute_findings(question, asked, language_of(question)).answers
    assert told[0].value == value


@pytest.mark.parametrize(
    ("question", "asked", "values"),
    [
        ("Which invoices have not been paid?", INVOICES, ["I2", "I3"]),
        ("金额最小的订单是哪个，是谁下的？", ORDERS, ["4500", "明德学校"]),
        ("Which invoice has the largest amount, and who is it for?", INVOICES, ["900", "Birch"]),
        ("马超的销量和完成率是多少？", REPS, ["410", "115%"]),
    ],
)
def test_all_that_is_asked_is_told_and_no_more(
    question: str, asked: DataTable, values: list[str]
) -> None:
    told = compute_findings(question, asked, language_of(question)).answers
    assert [one.value for one in told] == values


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("周杰三科总分多少？", EXAMS),  # one cell has no number
        ("王小明两科总分多少？", EXAMS),  # which two?
        ("How much did Desk return in all four quarters?", SALES),
        ("平均每类书借出多少次？", BOOKS),  # a mean of each kind
    ],
)
def test_what_is_not_sure_is_not_told(question: str, asked: DataTable) -> None:
    assert compute_findings(question, asked, language_of(question)).answers == []
