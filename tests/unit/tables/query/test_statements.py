"""Changes, means, sums and shares of items in tables whose columns, or rows, are years."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.results.findings import compute_findings
from sextant.text.characters import language_of

ACCOUNTS = make_table(
    [
        ["", "", "", ""],
        ["", "Year ended June 30,", "", ""],
        ["(in thousands)", "2021", "2020", "2019"],
        ["Sales", "$1,200", "$1,000", "$800"],
        ["Cost of goods sold", "700", "650", "600"],
        ["Allowance (1)", "(16)", "(14)", "(10)"],
        ["Margin", "41.7%", "35.0%", "25.0%"],
        ["Assets:", "", "", ""],
        ["Other", "5", "6", "4"],
        ["Liabilities:", "", "", ""],
        ["Other", "7", "8", "9"],
        ["Goodwill", "—", "30", "20"],
    ],
    header_rows=1,
)
BY_YEAR = make_table(
    [["Year", "Visitors", "Income (EUR)"], ["2020", "400", "90"], ["2021", "500", "120"]], 1
)
CHINESE = make_table(
    [["项目", "2021年", "2020年"], ["营业收入", "1,200", "1,000"], ["净利润", "300", "200"]], 1
)
GROWN = make_table(
    [["Item", "2021", "2020", "Change (%)"], ["Cash", "50", "40", "25"], ["Debt", "9", "9", "0"]], 1
)


def told(question: str, table: DataTable) -> list[str]:
    found = compute_findings(question, table, language_of(question)).answers
    return [one.value for one in found]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the change in sales from 2020 to 2021?", "$200"),
        ("What was the change in cost of goods sold in 2021 from 2019?", "100"),
        ("What is the percentage change in sales between 2019 and 2021?", "50%"),
        ("What is the increase / (decrease) in sales from 2019 to 2020?", "$200"),
        ("What is the average sales for 2020 and 2021?", "$1,100"),
        ("What is the average cost of goods sold?", "650"),
        ("What is the average sales from 2019 to 2021?", "$1,000"),
        ("What is the sum of sales in 2019 and 2021?", "$2,000"),
        ("What is the ratio of cost of goods sold to sales in 2020?", "0.65"),
        ("What percentage of sales is cost of goods sold in 2019?", "75%"),
        ("What was the change in margin between 2019 and 2020?", "10.0%"),
    ],
)
def test_cells_are_found_by_what_row_and_column_say_together(question: str, value: str) -> None:
    assert told(question, ACCOUNTS) == [value]


@pytest.mark.parametrize(
    ("question", "table", "value"),
    [
        ("What is the change in visitors from 2020 to 2021?", BY_YEAR, "100"),
        ("营业收入2021年比2020年增长了多少？", CHINESE, "200"),
        ("净利润的增长率2021年相比2020年是多少？", CHINESE, "50%"),
        ("2020年和2021年净利润的平均值是多少？", CHINESE, "250"),
        ("2021年净利润和营业收入的比率是多少？", CHINESE, "0.25"),
    ],
)
def test_years_may_be_rows_and_questions_chinese(
    question: str, table: DataTable, value: str
) -> None:
    assert told(question, table) == [value]


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("What is the change in other from 2020 to 2021?", id="two rows"),
        pytest.param("What is the change in net sales from 2020 to 2021?", id="another item"),
        pytest.param("What is the change in sales from 2018 to 2021?", id="no such year"),
        pytest.param("What is the change in sales from 2021 to 2020?", id="back in time"),
        pytest.param("What is the change in sales in 2021?", id="since when"),
        pytest.param("What is the average allowance for 2020 and 2021?", id="deductions"),
        pytest.param(
            "What is the percentage change in margin from 2020 to 2021?", id="of percents"
        ),
        pytest.param("What is the change in goodwill from 2020 to 2021?", id="a dash"),
        pytest.param("What were the total expenses in 2021?", id="no such item"),
        pytest.param("How many years did sales exceed $900?", id="a count of years"),
    ],
)
def test_what_is_not_sure_is_not_computed(question: str) -> None:
    assert told(question, ACCOUNTS) == []


def test_a_column_of_changes_is_not_what_a_change_since_an_unknown_year_is_read_from() -> None:
    assert told("What was the change in cash?", GROWN) == []


def test_the_sentence_says_of_what_it_is() -> None:
    [found] = compute_findings(
        "What is the change in sales from 2020 to 2021?", ACCOUNTS, "en"
    ).answers
    assert found.text == ("Sales: the change is $200: 2020 $1,000, 2021 $1,200")


REGIONS = make_table(
    [
        ["", "Asia", "", "Europe", ""],
        ["", "2020", "2019", "2020", "2019"],
        ["Sales", "100", "90", "310", "280"],
        ["Costs", "60", "55", "190", "170"],
    ],
    header_rows=1,
)


def test_the_name_of_a_group_is_that_of_all_its_columns() -> None:
    asked = "What is the change in sales in Europe from 2019 to 2020?"
    [found] = compute_findings(asked, REGIONS, "en").answers
    assert found.text == "Sales: the change is 30: Europe 2019 280, Europe 2020 310"
    assert not compute_findings(asked.replace(" in Europe", ""), REGIONS, "en").answers
