"""What only looks as if it asked for something computed is not computed: nothing is told before something else is."""

from __future__ import annotations

import pytest

from sextant.tables.cells.arithmetic import matching
from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.query.parsing import parse_query
from sextant.tables.results.findings import compute_findings
from tests.unit.tables.unasked import unasked

STAFF = make_table(
    [
        ["Employee", "Department", "City", "Salary", "Hired"],
        ["Max Huber", "Engineering", "Graz", "52000", "2020-05-01"],
        ["Ann Stone", "Engineering", "New York", "91000", "2021-02-01"],
        ["Eva Adler", "Sales", "Graz", "60000", "2022-03-01"],
        ["Ben Meyer", "Sales", "Brno", "61000", "2019-08-01"],
        ["Tom Kern", "sales", "Brno", "48000", "2018-01-01"],
    ],
    header_rows=1,
)
REVENUE = make_table(
    [
        ["Year", "Region", "Revenue"],
        ["2019", "North", "10"],
        ["2019", "North-East", "40"],
        ["2020", "North", "30"],
        ["2020", "North-East", "35"],
        ["2021", "North", "20"],
        ["2021", "North-East", "5"],
        ["Total:", "", "140"],
    ],
    header_rows=1,
)
RUNS = make_table(
    [
        ["Runner", "Club", "Time (s)", "Score", "Born"],
        ["Ada", "Red", "51.5", "7", "1990-01-01"],
        ["Bea", "Red", "49.0", "6", "1985-01-01"],
        ["Cat", "Blue", "60.2", "9", "2001-01-01"],
    ],
    header_rows=1,
)
WEATHER = make_table(
    [
        ["City", "Date", "Temperature", "Humidity", "Share"],
        ["Oslo", "2024-01-05", "(4)", "80%", "0.4"],
        ["Oslo", "2024-03-05", "5", "70%", "0.6"],
        ["Rome", "2024-03-06", "14", "60%", "0.7"],
    ],
    header_rows=1,
)
TICKETS = make_table(
    [["Ticket", "Priority", "Price"], ["A-1", "High", "$20"], ["A-2", "Low", "$90"]],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "table"),
    [
        pytest.param("What is the salary of Max?", STAFF, id="Max is a name"),
        pytest.param("Which employees are over 30?", STAFF, id="years of age, no salary"),
        pytest.param("Which employees work over 20 h?", STAFF, id="hours, no salary"),
        pytest.param("What is the average salary of engineers?", STAFF, id="some of the rows"),
        pytest.param("What is the highest salary in York?", STAFF, id="part of a value"),
        pytest.param("What was the total revenue of North East?", REVENUE, id="another hyphen"),
        pytest.param("How many employees are in Graz or earn a salary over 90000?", STAFF, id="or"),
        pytest.param("Which have a salary over 90000 or under 50000?", STAFF, id="or of bounds"),
        pytest.param(
            "Which city has the most employees with a salary over 50000?",
            STAFF,
            id="a number of rows, no sum of salaries",
        ),
        pytest.param("What does salary mean?", STAFF, id="mean is a verb"),
        pytest.param("Which employees have a salary above the average?", STAFF, id="a bound"),
        pytest.param("What was the total revenue last year?", REVENUE, id="from today"),
        pytest.param("What is the total salary of level 3?", STAFF, id="a number in no column"),
        pytest.param("What was the total revenue in 2019 and 2021?", REVENUE, id="not 2020"),
        pytest.param("What is the best time?", RUNS, id="the most or the least"),
        pytest.param("What is the latest price?", TICKETS, id="not the highest"),
        pytest.param("Which tickets have a price over 50 EUR?", TICKETS, id="another currency"),
        pytest.param("Which cities have a share over 50%?", WEATHER, id="a column of fractions"),
    ],
)
def test_what_is_asked_otherwise_is_not_computed(question: str, table: DataTable) -> None:
    assert unasked(question, table, "en") == []


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("What was the total revenue in 2020?", REVENUE, ["65"]),
        ("What was the total revenue after 2019?", REVENUE, ["90"]),
        ("What was the total revenue between 2019 and 2020?", REVENUE, ["115"]),
        ("What was the total revenue in 2019 and 2020?", REVENUE, ["115"]),
        ("What was the total revenue between 2019 and 2021?", REVENUE, ["140"]),
        ("What was the total revenue?", REVENUE, ["140"]),
        ("Which year had the highest revenue?", REVENUE, ["65"]),
        ("Which region had the highest revenue in 2019?", REVENUE, ["40"]),
        ("Which department has the highest salary?", STAFF, ["91000"]),
        ("What is the total salary paid by Sales?", STAFF, ["169,000"]),
        ("How many employees in sales have a salary over 50000?", STAFF, ["2"]),
        ("What is the fastest time?", RUNS, ["49.0"]),
        ("Who has the slowest time?", RUNS, ["60.2"]),
        ("Who are the two best paid employees?", STAFF, ["91000", "61000"]),
        ("Which club has the best score?", RUNS, ["9"]),
        ("Which city has the highest temperature?", WEATHER, ["14"]),
        ("Which date had the lowest temperature?", WEATHER, ["(4)"]),
        ("What was the lowest temperature in Oslo in March 2024?", WEATHER, ["5"]),
        ("Which tickets have a price over $50?", TICKETS, ["A-2"]),
        ("How high is the total price?", TICKETS, ["$110"]),
    ],
)
def test_what_is_asked_is_computed_of_the_rows_that_it_speaks_of(
    question: str, table: DataTable, expected: list[str]
) -> None:
    assert [one.value for one in unasked(question, table, "en")] == expected


SHOPS = make_table(
    [
        ["门店", "城市", "销售额", "开业日期"],
        ["一店", "上海", "30", "2020-03-01"],
        ["二店", "上海", "50", "2021-05-01"],
        ["三店", "杭州", "60", "2022-03-01"],
        ["华东合计：", "", "140", ""],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("销售额合计是多少？", ["140"]),
        ("哪个城市的销售额最高？", ["80"]),
        ("最早开业的门店是哪家？", ["2020-03-01"]),
        ("每家门店的平均销售额是多少？", ["46.6667"]),
        ("有多少家门店不在上海？", ["1"]),
        ("3月开业的门店销售额合计是多少？", []),
        ("今年销售额合计是多少？", []),
        ("前三年的销售额", []),
        ("目前2家门店的销售额", []),
        ("城市是上海或销售额超过40的门店有几家？", []),
    ],
)
def test_chinese_questions_are_computed_of_the_rows_that_they_speak_of(
    question: str, expected: list[str]
) -> None:
    assert [one.value for one in unasked(question, SHOPS, "zh")] == expected


def test_a_year_in_the_name_of_the_document_is_of_all_its_rows() -> None:
    table = make_table([["Plan", "Sales"], ["A", "10"], ["B", "20"]], header_rows=1)
    asked = "What were the total sales in 2023?"
    assert [one.value for one in unasked(asked, table, "en", "sales-2023.csv")] == ["30"]
    assert unasked(asked, table, "en", "sales-2022.csv") == []


def test_what_stands_in_every_row_keeps_none_out() -> None:
    table = make_table([["Name", "Sales"], ["Store 1", "10"], ["Store 2", "20"]], header_rows=1)
    told = unasked("What are the total sales of all stores?", table, "en")
    assert [one.value for one in told] == ["30"]


def test_a_table_that_comes_with_the_question_is_not_computed_of_rows_beside_those_asked_for() -> (
    None
):
    told = compute_findings("What is the average salary of engineers?", STAFF, "en")
    assert told.answers == []


@pytest.mark.parametrize("name", ["", "(EUR)"])
def test_a_column_without_a_name_is_not_what_any_question_asks_for(name: str) -> None:
    rows = make_table([["Item", name], ["Lamp", "10"], ["Desk", "30"]], header_rows=1)
    assert unasked("What is the average age?", rows, "en") == []


FIELDS = make_table(
    [["Field", "Type", "Required"], ["amount", "integer", "yes"], ["currency", "string", "yes"], ["note", "string", "no"]],
    header_rows=1,
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("Which fields are required?", ["head", "r1c1", "r2c1"]),
        ("Which fields are not required?", ["r3c1"]),
        ("How many fields are required?", ["head"]),
    ],
)
def test_a_column_that_says_yes_or_no_is_named_by_what_is_so(
    question: str, places: list[str]
) -> None:
    found = unasked(question, FIELDS, "en")
    assert [one.place if one.place.startswith("r") else "head" for one in found] == places


TICKS = [["Plan", "SSO", "Audit log"], ["Basic", "", ""], ["Pro", "✓", ""], ["Team", "✓", "✓"]]


@pytest.mark.parametrize("tick", ["✓", "x", "✔️", "yes"])
@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("Which plans have SSO?", ["head", "r2c1", "r3c1"]),
        ("Which plans have no SSO?", ["r1c1"]),
        ("How many plans have SSO?", ["head"]),
    ],
)
def test_in_a_column_of_ticks_an_empty_cell_says_no(
    tick: str, question: str, places: list[str]
) -> None:
    table = make_table([[cell.replace("✓", tick) for cell in row] for row in TICKS], header_rows=1)
    found = unasked(question, table, "en")
    assert [one.place if one.place.startswith("r") else "head" for one in found] == places
    if places == ["head"]:
        assert found[0].text.startswith("2 ")


@pytest.mark.parametrize(
    ("cells", "question", "rows"),
    [
        (TICKS, "Which plans have no audit log?", [0, 1]),
        (TICKS, "Which plans are without an audit log?", [0, 1]),
        (
            [["Part", "Colour"], ["A", "red"], ["B", ""], ["C", "blue"]],
            "Which parts are not red?",
            [2],
        ),
    ],
)
def test_only_in_a_column_of_ticks_is_an_empty_cell_what_is_not_so(
    cells: list[list[str]], question: str, rows: list[int]
) -> None:
    table = make_table(cells, header_rows=1)
    asked = parse_query(question, table)
    assert asked is not None
    assert matching(table, asked.where) == rows


BRANCHES = make_table(
    [["Branch", "Head", "City", "Staff"], ["B-1", "Ann", "Graz", "12"], ["B-2", "Ben", "Graz", "30"], ["B-3", "Cleo", "Brno", "9"]],
    header_rows=1,
)  # fmt: skip


def test_how_many_there_are_of_several_rows_is_what_they_add_up_to() -> None:
    [graz] = unasked("How many staff are in Graz?", BRANCHES, "en")
    assert "42" in graz.text


PAID = make_table(
    [
        ["Date", "Shop", "Amount"],
        ["2026-01-05", "A", "10"],
        ["2026-01-06", "A", "20"],
        ["2026-02-07", "B", "5"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    "question",
    [
        "What is the total amount per month?",
        "What is the sum of the amounts each day?",
        "每月金额合计多少？",
    ],
)
def test_sums_by_month_or_day_of_a_column_of_dates_are_not_computed(question: str) -> None:
    assert compute_findings(question, PAID, "en").answers == []
    assert unasked(question, PAID, "en") == []


def test_a_header_cell_that_is_a_line_of_code_is_no_column_that_is_asked_for() -> None:
    code = """curl -d '{"query": "付款节点", "limit": 5, "filters": {"topic": "付款"}}'"""
    table = make_table([["请求", code], ["查找", "a"], ["回答", "b"]], header_rows=1)
    assert unasked("有哪些节点？", table, "zh") == []


def test_a_bound_before_the_name_of_a_column_of_ranges_is_on_no_other_column() -> None:
    leave = make_table(
        [
            ["Group", "Years of service", "Days of leave"],
            ["Office staff", "0–4", "26"],
            ["Office staff", "5 or more", "29"],
            ["Drivers", "5 or more", "31"],
            ["Apprentices", "any", "30"],
        ],
        header_rows=1,
    )
    asked = "How many days of leave do drivers with more than 5 years of service get?"
    assert parse_query(asked, leave) is None
    bounded = parse_query("Who gets more than 27 days of leave?", leave)
    assert bounded is not None
    assert [condition.column for condition in bounded.where] == [2]


FURNITURE = make_table(
    [
        ["product", "size", "price EUR", "stock"],
        ["Oak table", "small", "320", "4"],
        ["Pine table", "large", "260", "3"],
        ["Oak chair", "one size", "95", "40"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    "question",
    [
        "What is the cheapest table?",
        "Which table is the most expensive?",
        "What is the average price of a table?",
    ],
)
def test_a_word_that_some_rows_have_keeps_the_others_out(question: str) -> None:
    assert not unasked(question, FURNITURE, "en")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the cheapest product in the list?", "95"),
        ("What is the highest price in the list of products?", "320"),
    ],
)
def test_a_word_that_no_row_has_keeps_none_out(question: str, value: str) -> None:
    [found] = unasked(question, FURNITURE, "en")
    assert value in found.text
