"""How questions name the columns and values of a table: in other words, in part, by a single ideograph."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.results.findings import compute_findings
from sextant.text.characters import language_of
from tests.unit.tables.unasked import unasked

STAFF = make_table(
    [
        ["姓名", "性别", "等级", "部门", "年龄"],
        ["王伟", "男", "甲", "研发", "34"],
        ["李娜", "女", "乙", "市场", "29"],
        ["张敏", "女", "甲", "研发", "41"],
        ["刘洋", "男", "丙", "市场", "52"],
    ],
    header_rows=1,
)
SALES = make_table(
    [
        [
            "Region",
            "First half Units",
            "First half Revenue",
            "Second half Units",
            "Second half Revenue",
        ],
        ["North", "120", "24000", "140", "28000"],
        ["South", "80", "46500", "95", "19800"],
    ],
    header_rows=1,
)
SHOPS = make_table(
    [
        ["Shop", "City", "Price"],
        ["S-1", "Shanghai", "10"],
        ["S-2", "Beijing", "30"],
        ["S-3", "Shanghai", "20"],
    ],
    header_rows=1,
)
PRICES = make_table([["部件", "单价（元）"], ["电机", "90"], ["皮带", "30"]], header_rows=1)


def told(question: str, table: DataTable) -> list[str]:
    return [one.value for one in unasked(question, table, language_of(question))]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("等级为甲的员工有几位？", ["2"]),
        ("甲级员工有多少人？", ["2"]),
        ("女员工有多少人？", ["2"]),
        ("男员工的平均年龄是多少？", ["43"]),
        ("性别为女的员工中年龄最大的是谁？", ["41"]),
        ("最年轻的女员工是谁？", ["29"]),
        ("哪些员工是甲级？", ["2", "王伟", "张敏"]),
        ("研发部门有哪些人？", ["2", "王伟", "张敏"]),
        ("列出市场部的女员工", ["李娜"]),
    ],
)
def test_a_value_of_one_ideograph_is_named_where_it_is_a_word(
    question: str, values: list[str]
) -> None:
    assert told(question, STAFF) == values


@pytest.mark.parametrize("question", ["大学生的平均年龄是多少？", "乙方的平均年龄是多少？"])
def test_nor_is_it_a_part_of_another_word(question: str) -> None:
    """These ask of something else, and its rows are not those of 乙 or of 大."""
    sizes = make_table(
        [["名称", "尺寸", "年龄"], ["甲壳", "大", "31"], ["盒", "小", "45"]], header_rows=1
    )
    assert all("尺寸" not in one.text for one in unasked(question, sizes, "zh"))
    assert all("等级" not in one.text for one in unasked(question, STAFF, "zh"))


@pytest.mark.parametrize(
    ("question", "table", "values"),
    [
        ("Which region had the highest revenue in the second half?", SALES, ["28000"]),
        ("What was the total revenue in the first half?", SALES, ["70,500"]),
        ("What was the total revenue?", SALES, []),
        ("平均价格是多少？", PRICES, ["60"]),
        ("What is the average price?", PRICES, ["60"]),
        ("Which parts cost more than 50?", PRICES, ["电机"]),
        ("上海的平均价格是多少？", SHOPS, ["15"]),
    ],
)
def test_columns_and_values_are_known_in_other_words(
    question: str, table: DataTable, values: list[str]
) -> None:
    assert told(question, table) == values


def test_what_asks_for_one_row_of_many_is_left_to_the_search() -> None:
    assert told("王伟的年龄是多少？", STAFF) == []


TASKS = make_table(
    [
        ["Task", "Owner", "Due date"],
        ["Budget", "Zhou", "2026-10-16"],
        ["Tests", "Sun", "2026-10-19"],
        ["Notes", "He", "2026-10-28"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which tasks are due before 20 October?", ["2", "Budget", "Tests"]),
        ("Which tasks are due after October 18th?", ["2", "Tests", "Notes"]),
        ("哪些任务在10月20日之前截止？", ["2", "Budget", "Tests"]),
    ],
)
def test_a_date_without_a_year_is_of_the_only_one_that_a_column_has(
    question: str, values: list[str]
) -> None:
    assert told(question, TASKS) == values


def test_where_dates_are_of_several_years_one_without_a_year_is_none() -> None:
    later = make_table([TASKS.names, *TASKS.rows, ("Party", "He", "2027-01-03")], header_rows=1)
    assert told("Which tasks are due before 20 October?", later) == []


STORES = make_table(
    [["产品", "库存", "备注"], ["键盘", "320", "无"], ["耳机", "0", "停产"], ["音箱", "26", "无"]],
    header_rows=1,
)


def test_nothing_of_a_column_of_numbers_is_zero() -> None:
    assert told("哪些产品没有库存？", STORES) == ["耳机"]
    assert told("有几种产品没有库存？", STORES) == ["1"]


def test_an_empty_cell_may_be_zero_or_unknown() -> None:
    rows = [STORES.names, *STORES.rows, ("鼠标", "", ""), *[("线", "5", "")] * 5]
    assert told("哪些产品没有库存？", make_table(rows, header_rows=1)) == []


TRAINS = make_table(
    [
        ["Train", "From", "To", "Departure"],
        ["RJ 60", "Vienna", "Graz", "06:58"],
        ["RJ 62", "Vienna", "Graz", "08:58"],
        ["IC 311", "Graz", "Linz", "07:45"],
    ],
    header_rows=1,
)


def test_a_value_of_two_columns_bounds_neither() -> None:
    assert told("Which trains go to Graz?", TRAINS) == []
    assert told("Which trains go to Linz?", TRAINS) == ["IC 311"]


def test_what_asks_for_one_thing_is_no_list() -> None:
    assert told("What time does RJ 62 arrive in Linz?", TRAINS) == []


CODES = make_table(
    [
        ["Part", "Country", "Department", "Stock"],
        ["BM-40", "NO", "IT", "12"],
        ["BM-41", "US", "HR", "40"],
        ["HX-1", "US", "IT", "0"],
        ["HX-2", "AT", "Sales", "7"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What is the total stock of IT?", ["12"]),
        ("What is the total stock of the IT department?", ["12"]),
        ("How many parts come from the US?", ["2"]),
        ("Tell us: how many parts are not from the US?", ["2"]),
        ("Which parts are not from NO?", ["3", "BM-41", "HX-1", "HX-2"]),
        # The words that are written alike are words.
        ("What is the total stock, as you see it?", ["59"]),
        ("Which parts have NO stock?", ["HX-1"]),
    ],
)
def test_what_is_called_by_two_capitals_is_no_word_that_says_nothing(
    question: str, values: list[str]
) -> None:
    assert told(question, CODES) == values


# The same table in simplified and in traditional characters.
IN_CHINA = make_table(
    [
        ["姓名", "部门", "城市", "工资（元）", "入职日期"],
        ["张三", "研发", "台北", "12000", "2020-03-01"],
        ["李四", "研发", "高雄", "9000", "2021-06-15"],
        ["王五", "市场", "台北", "15000", "2021-12-31"],
    ],
    header_rows=1,
)
IN_TAIWAN = make_table(
    [
        ["姓名", "部門", "城市", "工資（元）", "入職日期"],
        ["張三", "研發", "臺北", "12000", "2020-03-01"],
        ["李四", "研發", "高雄", "9000", "2021-06-15"],
        ["王五", "市場", "臺北", "15000", "2021-12-31"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize("table", [IN_CHINA, IN_TAIWAN])
@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("研發的平均工資是多少？", ["10,500"]),
        ("研发的平均工资是多少？", ["10,500"]),
        ("市場部有多少人？", ["1"]),
        ("市场部有多少人？", ["1"]),
        ("工資超過1萬的有幾個人？", ["2"]),
        ("2021年入職的有幾個人？", ["2"]),
        ("張三比李四工資高多少？", ["3,000", "12000", "9000"]),
        ("What is the average salary in Taipei?", ["13,500"]),
    ],
)
def test_a_table_is_asked_in_simplified_and_traditional_characters(
    question: str, values: list[str], table: DataTable
) -> None:
    assert told(question, table) == values


@pytest.mark.parametrize("page", ["最低库存" * 10_000, "(" * 100_000, "stock " * 10_000])
def test_a_page_of_text_in_a_header_cell_is_no_work(page: str) -> None:
    """Every part of it was looked for in the question: 33 s for 1,000 ideographs, 450 s for 2,000."""
    table = make_table([["Part", "Price", page], ["BM-40", "12", "3"], ["HX-1", "40", "4"]], 1)
    assert told("What is the average price?", table) == ["26"]


NUMBERED = make_table(
    [["Order", "Customer", "Amount", "State"], ["1", "A", "10", "open"], ["2", "B", "30", "done"],
     ["3", "A", "20", "open"]], header_rows=1,
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What percentage of orders are open?", ["66.67%"]),
        ("Which orders are open?", ["1", "3"]),
        ("How many orders have an amount over 15?", ["2"]),
        ("How many orders per customer?", ["2", "1"]),
    ],
)
def test_numbers_that_count_the_rows_are_names_and_no_amounts(
    question: str, values: list[str]
) -> None:
    found = compute_findings(question, NUMBERED, "en").answers
    assert [one.value for one in found] == values


@pytest.mark.parametrize(
    ("question", "title", "values"),
    [
        ("How many orders are there?", "orders.csv", ["3"]),
        ("How many orders are there?", "shop.xlsx > Open orders", ["3"]),
        ("How many refunds are there?", "orders.csv", []),
    ],
)
def test_a_title_says_what_numbered_rows_are(question: str, title: str, values: list[str]) -> None:
    rows = [["No", "Customer", "Amount"], ["7", "A", "10"], ["9", "B", "30"], ["12", "A", "20"]]
    found = compute_findings(question, make_table(rows, header_rows=1), "en", title).answers
    assert [one.value for one in found] == values


def test_a_title_does_not_say_what_rows_without_a_number_are() -> None:
    table = make_table([["Department", "Headcount"], ["Sales", "10"], ["IT", "3"]], header_rows=1)
    assert not compute_findings(
        "How many employees are there?", table, "en", "employees.csv"
    ).answers


TRIALS = make_table(
    [
        ["姓名", "部门", "是否转正", "月薪（元）"],
        ["陈默", "研发部", "是", "21000"],
        ["赵丽", "市场部", "否", "12500"],
        ["孙浩", "研发部", "是", "17800"],
    ],
    header_rows=1,
)
SPENDING = make_table(
    [
        ["Date", "Employee", "Vendor", "Amount (EUR)", "Paid"],
        ["2024-05-02", "Petra", "Rail", "184.50", "yes"],
        ["2024-05-03", "Omar", "Café", "236.20", "yes"],
        ["2024-05-09", "Petra", "Inn", "112.00", "no"],
    ],
    header_rows=1,
)
STOCK = make_table(
    [["Item", "Qty", "Min stock"], ["Gasket", "140", "50"], ["Filter", "75", "60"]],
    header_rows=1,
)
GROUPED = make_table(
    [["产品", "类别", "销量"], ["杯", "日用", "320"], ["灯", "家电", "150"], ["伞", "日用", "60"]],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "table", "values"),
    [
        ("哪些人还没转正？", TRIALS, ["赵丽"]),
        ("转正的员工平均月薪是多少？", TRIALS, ["19,400"]),
        ("How much did Petra pay?", SPENDING, []),
        ("Who spent the most?", SPENDING, ["296.50"]),
        ("Which item has the most stock?", STOCK, []),
        ("每类的总销量", GROUPED, ["380", "150"]),
    ],
)
def test_a_part_of_a_name_stands_for_what_it_says(
    question: str, table: DataTable, values: list[str]
) -> None:
    found = compute_findings(question, table, language_of(question))
    assert [one.value for one in found.answers] == values


def test_how_many_asks_for_a_number_even_in_words_and_not_for_yes_or_no() -> None:
    rows = [["Ash", "12 (4 reserved)", "yes"], ["Birch", "about 30", "no"], ["Cedar", "20", "yes"]]
    rooms = make_table([["Room", "Seats", "Paid"], *rows], 1)
    found = compute_findings("How many seats does Birch have?", rooms, "en").answers
    assert [one.value for one in found] == ["about 30"]
    assert not compute_findings("How much did Ash pay?", rooms, "en").answers


BUDGET = make_table(
    [
        ["编号", "部门", "预算（元）", "实际（元）"],
        ["1", "研发部", "120000", "131500"],
        ["2", "市场部", "80000", "76200"],
        ["3", "行政部", "45000", "47300"],
    ],
    header_rows=1,
)


@pytest.mark.parametrize(
    ("question", "value", "about"),
    [
        ("哪个部门的实际支出最高？", "131500", "研发部"),
        ("实际一共花了多少？", "255,000", ""),
        ("预算最高的是哪一个？", "120000", "研发部"),  # not 1, which numbers the row
    ],
)
def test_words_for_spending_name_no_other_column_and_numbers_of_rows_no_row(
    question: str, value: str, about: str
) -> None:
    found = compute_findings(question, BUDGET, "zh").answers
    assert [(one.value, one.about) for one in found] == [(value, about)]


ORDERS = make_table(
    [
        ["订单号", "客户", "金额（元）"],
        ["20001", "甲", "100"],
        ["20002", "乙", "300"],
        ["20003", "甲", "200"],
    ],
    header_rows=1,
)


def test_a_number_that_does_not_count_the_rows_names_them() -> None:
    found = compute_findings("哪个订单金额最高？", ORDERS, "zh").answers
    assert [(one.value, one.about) for one in found] == [("300", "20002")]
