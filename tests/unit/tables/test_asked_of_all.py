"""Questions that name columns by other words, ask for totals, shares and differences, or join two questions."""

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.results.findings import compute_findings

ITEMS = make_table([["item", "sold"], ["A", "900"], ["B", "1200"], ["C", "300"]], header_rows=1)
SPENDING = make_table(
    [
        ["Department", "Budget (USD)", "Spent (USD)", "Variance"],
        ["Marketing", "120,000", "131,500", "-11,500"],
        ["Research", "480,000", "452,300", "27,700"],
        ["Legal", "60,000", "41,250", "18,750"],
    ],
    header_rows=1,
)
ROUTES = make_table(
    [
        ["Route", "Driver", "Distance (km)", "Deliveries", "Late"],
        ["R1", "Osman", "142", "38", "2"],
        ["R2", "Petra", "96", "45", "0"],
        ["R3", "Petra", "210", "29", "5"],
    ],
    header_rows=1,
)
STOCK = make_table(
    [
        ["品名", "仓库", "库存", "单价（元）"],
        ["螺丝", "一号仓", "12,000", "0.15"],
        ["螺母", "一号仓", "8,000", "0.12"],
        ["轴承", "二号仓", "640", "18.5"],
        ["电机", "二号仓", "", "980"],
    ],
    header_rows=1,
)
SALES = make_table(
    [
        ["销售员", "地区", "销量", "销售额（万元）"],
        ["刘洋", "华东", "320", "96.5"],
        ["马超", "华南", "410", "120.4"],
    ],
    header_rows=1,
)


MONTHS = make_table(
    [["月份", "收入", "支出"], ["1月", "52000", "48000"], ["2月", "47500", "51200"]], header_rows=1
)
QUARTERS = make_table(
    [["Product", "Q1", "Q2"], ["Lamp", "$12,400", "$13,100"], ["Desk", "$45,000", "$41,200"]],
    header_rows=1,
)


def told(question: str, table: DataTable) -> list[tuple[str, str]]:
    language = "en" if question.isascii() else "zh"
    return [(one.value, one.place) for one in compute_findings(question, table, language).answers]


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("How many A were sold?", ITEMS, [("900", "r1c2")]),
        ("How many units of B did we sell?", ITEMS, [("1200", "r2c2")]),
        ("What were the sales of C?", ITEMS, [("300", "r3c2")]),
        ("Who drives R1?", ROUTES, [("Osman", "r1c2")]),
        ("A卖了多少？", ITEMS, [("900", "r1c2")]),
        ("哪个卖得最多？", ITEMS, [("1200", "r2c2")]),
        ("How much did Marketing spend?", SPENDING, [("131,500", "r1c3")]),
        ("What distance does R3 cover?", ROUTES, [("210", "r3c3")]),
        ("Which route had the most deliveries?", ROUTES, [("45", "r2c4")]),
        ("螺丝还有多少？", STOCK, [("12,000", "r1c3")]),
    ],
)
def test_a_column_is_named_by_another_word_of_its_family(
    question: str, table: DataTable, expected: list[tuple[str, str]]
) -> None:
    assert told(question, table) == expected


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("How many were sold in total?", ITEMS, [("2,400", "c2")]),
        ("Total spent across all departments?", SPENDING, [("625,050", "c3")]),
        ("What are the total sales?", ITEMS, [("2,400", "c2")]),
        ("一共卖出多少？", ITEMS, [("2,400", "c2")]),
        ("How many kilometres were driven altogether?", ROUTES, [("448", "c3")]),
        ("How many deliveries did Petra make?", ROUTES, [("74", "c4")]),
        ("一号仓一共存了多少件？", STOCK, [("20,000", "c3")]),
    ],
)
def test_amounts_are_added_up_over_all_that_a_question_speaks_of(
    question: str, table: DataTable, expected: list[tuple[str, str]]
) -> None:
    assert told(question, table) == expected


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("How many pears were sold?", ITEMS),
        ("How many D were sold?", ITEMS),
        ("Who sold A?", ITEMS),
        ("How much does A cost?", ITEMS),
        ("Is B the best selling item?", ITEMS),
        ("卖得比A多的有哪些？", ITEMS),
        ("Who approved the Marketing budget?", SPENDING),
        ("When was the budget of Legal approved?", SPENDING),
        ("How much of the budget is left in Legal?", SPENDING),
        ("What is the number of deliveries per km of R1?", ROUTES),
        ("二号仓的货总值多少钱？", STOCK),
        ("What is the total profit?", ITEMS),
        ("What is the warranty of A?", ITEMS),
        ("Who is the tallest?", ITEMS),
        ("How many nurses work in Legal?", SPENDING),
        ("How much did Human Resources spend?", SPENDING),
        ("二号仓有多少保安？", STOCK),
        ("电机还剩多少？", STOCK),
    ],
)
def test_what_no_column_or_row_bears_is_not_answered_from_another(
    question: str, table: DataTable
) -> None:
    assert told(question, table) == []


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("What share of the total sold is A?", ITEMS, "37.5%"),
        ("What percentage of all spending is Legal?", SPENDING, "6.6%"),
        ("螺丝占总库存的百分之多少？", STOCK, "58.14%"),
        ("What share of routes are driven by Petra?", ROUTES, "66.67%"),
    ],
)
def test_a_share_is_of_all_that_a_column_adds_up_to_or_of_the_rows(
    question: str, table: DataTable, expected: str
) -> None:
    assert [value for value, _ in told(question, table)] == [expected]


@pytest.mark.parametrize(
    "question",
    ["What share of the total variance is Legal?", "What share of the price is Marketing?"],
)
def test_no_share_is_told_of_what_may_be_below_zero_or_is_not_there(question: str) -> None:
    assert told(question, SPENDING) == []


def test_a_share_says_of_how_much_it_is() -> None:
    [found] = compute_findings("What share of the total sold is A?", ITEMS, "en").answers
    assert found.text == "sold of rows with item = A is 900 of 2,400, 37.5%"


def test_two_columns_of_one_row_are_compared() -> None:
    found = told("How much less did Legal spend than its budget?", SPENDING)
    assert found == [("18,750", "c3"), ("41,250", "r3c3"), ("60,000", "r3c2")]


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("Which sold more, A or C?", ITEMS, [("900", "r1c2")]),
        ("螺母和轴承哪个更便宜？", STOCK, [("0.12", "r2c4")]),
        ("Who made more deliveries, Osman or Petra?", ROUTES, [("74", "c4")]),
    ],
)
def test_of_two_that_are_named_the_larger_or_smaller_is_told(
    question: str, table: DataTable, expected: list[tuple[str, str]]
) -> None:
    assert told(question, table) == expected


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        (
            "Which department has the smallest budget, and how much did it spend?",
            SPENDING,
            [("60,000", "r3c2"), ("41,250", "r3c3")],
        ),
        (
            "How much did the department with the smallest budget spend?",
            SPENDING,
            [("60,000", "r3c2"), ("41,250", "r3c3")],
        ),
        ("单价最高的是哪种，放在哪个仓库？", STOCK, [("980", "r4c4"), ("二号仓", "r4c2")]),
    ],
)
def test_what_is_asked_besides_is_told_of_the_same_row(
    question: str, table: DataTable, expected: list[tuple[str, str]]
) -> None:
    assert told(question, table) == expected


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("How many departments have a negative variance?", SPENDING, ["1"]),
        ("How many routes are shorter than 100 km?", ROUTES, ["1"]),
        ("How many routes are longer than 100 km?", ROUTES, ["2"]),
        ("How many routes does Petra drive?", ROUTES, ["2"]),
    ],
)
def test_signs_and_comparatives_are_bounds(
    question: str, table: DataTable, expected: list[str]
) -> None:
    assert [value for value, _ in told(question, table)] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("2月收入多少？", [("47500", "r2c2")]),
        ("哪个月支出最多？", [("51200", "r2c3")]),
        ("月均收入是多少？", [("49,750", "c2")]),
        ("支出超过收入的是哪几个月？", [("2月", "r2c1")]),
    ],
)
def test_months_are_names_and_no_amounts(question: str, expected: list[tuple[str, str]]) -> None:
    assert told(question, MONTHS) == expected


def test_a_column_that_is_called_by_its_time_tells_only_what_the_caption_says() -> None:
    def of_lamp(question: str, caption: str) -> list[str]:
        return [one.value for one in compute_findings(question, QUARTERS, "en", caption).answers]

    assert of_lamp("What was the profit of Lamp in Q2?", "Sales by quarter") == []
    assert of_lamp("What were the sales of Lamp in Q2?", "Sales by quarter") == ["$13,100"]
    assert of_lamp("Which product sold best in Q2?", "Sales by quarter") == ["$41,200"]


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("What is the sum of the distance and the deliveries?", ROUTES),
        ("What is the average of the budget and what was spent?", SPENDING),
    ],
)
def test_a_sum_of_two_columns_is_not_that_of_one(question: str, table: DataTable) -> None:
    assert told(question, table) == []


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("Which 品名 has the highest 单价?", STOCK, [("980", "r4c4")]),
        ("Route 的平均 Distance 是多少？", ROUTES, [("149.3333", "c3")]),
    ],
)
def test_both_languages_may_stand_in_one_question(
    question: str, table: DataTable, expected: list[tuple[str, str]]
) -> None:
    assert told(question, table) == expected


def test_a_number_that_the_caption_has_keeps_no_row_out() -> None:
    def ask(about: str) -> list[str]:
        found = compute_findings("Which item sold most in sales-2024?", ITEMS, "en", about)
        return [one.value for one in found.answers]

    assert ask("sales-2024.csv") == ["1200"]
    assert ask("sales-2023.csv") == []
