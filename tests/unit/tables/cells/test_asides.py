"""Which rows of a table are no records: its names again, and what sums up other rows."""

import pytest

from sextant.tables.cells.table import make_table
from sextant.tables.results.findings import compute_findings


def asides(text: str) -> frozenset[int]:
    """Return the rows, from 0, that are no records, of a table in lines of cells between bars."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().split("\n")]
    return make_table(rows, header_rows=1).asides


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("Item|Q1\nPaper|10\nInk|5\nTotal|15", {2}),
        ("No.|Project|Hours\n1|Alpha|10\n2|Beta|30\n|TOTAL HOURS|40", {2}),
        ("Item|Q1|Q2\nPaper|10|20\nInk|5|15\n|15|35", {2}),
        ("Item|Q1|Q2\nPaper|10|20\nInk|5|15\nAverage|7.5|17.5\nMax|10|20", {2, 3}),
        ("姓名|语文|总分\n小明|90|170\n小红|85|180\n平均分|87.5|175", {2}),
        ("Posten|Betrag\nMiete|1.200,00 €\nStrom|80,50 €\nSumme|1.280,50 €", {2}),
        (
            "月份|收入|支出\n1月|100|80\n2月|120|90\n一季度|220|170\n3月|90|60\n4月|95|65\n上半年|405|295",
            {2, 5},
        ),
        (
            "Account|2023|2024\nRevenue|500|600\nCost of goods|(200)|(250)\nGross profit|300|350",
            {2},
        ),
        (
            "Group|Line|Cost\nIT|Servers|$400\nIT|Licences|$100\nIT|Subtotal|$500\n"
            "HR|Training|$50\nHR|Subtotal|$50\nGrand total||$550",
            {2, 4, 5},
        ),
    ],
)
def test_a_row_sums_up_others_by_its_words_and_its_numbers(table: str, expected: set[int]) -> None:
    assert asides(table) == expected


@pytest.mark.parametrize(
    "table",
    [
        "Brand|Sold\nTotal Energies|50\nShell|30\nAral|20",
        "Name|Points\nA|10\nB|20\nC|30",  # a chance
        "Name|Points|Goals\nA|10|1\nB|20|2\nC|30|3",
        "Shop|Sales\nEast|1234.5\nWest|0\nNorth|1234.5",
        "Player|Goals\nEva|44\nMax|44",
        "n\n1\n1\n2",
    ],
)
def test_what_only_looks_like_a_sum_is_a_record(table: str) -> None:
    assert asides(table) == frozenset()


def test_names_said_again_are_no_record_and_leave_numbers_numbers() -> None:
    rows = [["客户", "订单数"], ["华新", "12"], ["客户", "订单数"], ["明达", "20"], ["远洋", "5"]]
    table = make_table(rows, header_rows=1)
    [found] = compute_findings("订单数合计多少？", table, "zh").answers
    assert found.text == "“订单数”合计为 37（3 行）"


def test_nothing_is_added_up_where_another_table_begins() -> None:
    rows = [["Source", "EUR"], ["Rent", "700"], ["Sales", "300"], ["Kind", "EUR"], ["Heat", "50"]]
    table = make_table(rows, header_rows=1)
    assert compute_findings("What is the total EUR?", table, "en").answers == []


def test_a_cell_that_says_there_is_nothing_is_no_word() -> None:
    rows = [["Name", "Bonus"], ["Eva", "100"], ["Tom", ""], ["Uwe", "50"], ["Ida", "n/a"]]
    table = make_table(rows, header_rows=1)
    [found] = compute_findings("What is the average bonus?", table, "en").answers
    assert found.text == "the average Bonus is 75 (2 rows; 1 more has no value to compute with)"


def test_numbers_are_of_the_units_that_a_column_beside_them_says() -> None:
    rows = [["Item", "Amount", "Currency"], ["A", "100", "EUR"], ["B", "200", "USD"]]
    table = make_table([*rows, ["C", "50", "EUR"]], header_rows=1)
    assert compute_findings("What is the total amount?", table, "en").answers == []
    [found] = compute_findings("What is the total amount in EUR?", table, "en").answers
    assert found.value == "150 EUR"


def test_numbers_that_only_name_rows_are_counted_and_not_added() -> None:
    table = make_table([["Customer No", "Revenue"], ["1001", "5"], ["1002", "7"]], header_rows=1)
    [found] = compute_findings("How many customers are there?", table, "en").answers
    assert found.value == "2"


def test_nothing_is_computed_of_a_value_that_may_stand_for_blank_cells() -> None:
    rows = [["Dept", "Name", "Pay"], ["Sales", "Ann", "10"], ["", "Bob", "20"], ["IT", "Cid", "30"]]
    table = make_table(rows, header_rows=1)
    assert compute_findings("What is the total pay in Sales?", table, "en").answers == []
    [found] = compute_findings("What is the total pay?", table, "en").answers
    assert found.value == "60"


def test_the_total_below_a_long_table_is_found() -> None:
    rows = [[f"SO-{n:05d}", f"{n % 997}.50"] for n in range(20_000)]
    total = str(sum(n % 997 for n in range(20_000)) + 10_000)
    assert make_table([["Order", "Amount"], *rows, ["all", total]], 1).asides == {20_000}
