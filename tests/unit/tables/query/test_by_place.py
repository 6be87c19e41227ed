"""Columns and rows that a question calls by their place, as it must where a table has no header."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.results.findings import compute_findings
from sextant.text.characters import language_of

NAMELESS = make_table(
    [
        ["c1", "c2", "c3"],
        ["Apples", "120", "2024-01-05"],
        ["Pears", "80", "2024-02-01"],
        ["Plums", "45", "2024-03-09"],
    ],
    header_rows=1,
)
NUMBERED = make_table([["Column 2", "Column 1"], ["3", "5"], ["4", "6"]], header_rows=1)
PAID = make_table(
    [
        ["姓名", "部门", "工资"],
        ["王伟", "研发部", "5000"],
        ["李娜", "市场部", "7000"],
        ["张敏", "研发部", "9000"],
    ],
    header_rows=1,
)


def told(question: str, table: DataTable) -> list[tuple[str, str]]:
    found = compute_findings(question, table, language_of(question)).answers
    return [(one.value, one.place) for one in found]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the sum of the second column?", [("245", "c2")]),
        ("What is the average of column 2?", [("81.6667", "c2")]),
        ("Which row has the highest value in the second column?", [("120", "r1c2")]),
        ("How many rows have more than 50 in column 2?", [("2", "")]),
        ("What does the last column say for Plums?", [("2024-03-09", "r3c3")]),
        ("What is in the second row, second column?", [("80", "r2c2")]),
        (
            "Which values are in the first column?",
            [("Apples", "r1c1"), ("Pears", "r2c1"), ("Plums", "r3c1")],
        ),
        ("第二列的总和是多少？", [("245", "c2")]),
        ("第2列最大的是哪一行？", [("120", "r1c2")]),
        ("第二列大于50的有几行？", [("2", "")]),
        ("最后一列最晚的日期是哪天？", [("2024-03-09", "r3c3")]),
        ("第三行第一列是什么？", [("Plums", "r3c1")]),
    ],
)
def test_a_column_is_found_by_its_place(question: str, expected: list[tuple[str, str]]) -> None:
    assert told(question, NAMELESS) == expected


def test_a_column_that_is_not_there_is_no_other_column() -> None:
    assert told("What is the sum of the seventh column?", NAMELESS) == []


def test_a_name_goes_before_a_place() -> None:
    assert told("What is the sum of column 2?", NUMBERED) == [("7", "c1")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("每个部门的最高工资是多少？", [("9000", "r3c3"), ("7000", "r2c3")]),
        ("各部门工资最高的是谁？", [("9000", "r3c3"), ("7000", "r2c3")]),
        ("哪个部门工资最高？", [("9000", "r3c3")]),
    ],
)
def test_the_most_of_each_group_is_not_the_group_with_most(
    question: str, expected: list[tuple[str, str]]
) -> None:
    assert told(question, PAID) == expected
