"""Rows of tables as facts: names are related, values are said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.graph.extraction.chunk_evidence import table_facts

HEADER = "| 药品 | 类别 | 剂量 | 厂家 |\n| --- | --- | --- | --- |"
ROWS = "| 二甲双胍 | 双胍类 | 500 mg | 华北制药 |\n| 格列美脲 |  | 2 mg | 赛诺菲 |"


def said(text: str, context: str = "") -> list[tuple[str, list[tuple[str, str]], str]]:
    return [
        (row.subject.text, [(heading, cell.text) for heading, cell in row.related], row.description)
        for row in table_facts(text, context)
    ]


EXPECTED = [
    ("二甲双胍", [("类别", "双胍类"), ("厂家", "华北制药")], "剂量: 500 mg"),
    ("格列美脲", [("厂家", "赛诺菲")], "剂量: 2 mg"),
]


def test_a_row_says_things_of_its_first_cell() -> None:
    assert said(f"{HEADER}\n{ROWS}") == EXPECTED


def test_later_rows_have_their_headings_in_the_context() -> None:
    assert said(ROWS, HEADER) == EXPECTED


def test_places_are_those_of_the_cells() -> None:
    text = f"{HEADER}\n{ROWS}"
    for row in table_facts(text):
        for cell in (row.subject, *(cell for _, cell in row.related)):
            assert text[cell.start :].startswith(cell.text)


@pytest.mark.parametrize("heading", ["序号", "No.", "#", "ID", ""])
def test_where_the_first_column_numbers_the_rows_they_are_about_the_second(heading: str) -> None:
    text = f"| {heading} | 设备 | 负责人 |\n| --- | --- | --- |\n| 1 | 循环水泵 | 张三丰 |\n| 2 | 3 | 李四光 |"
    number = f"{heading}: 1" if heading else ""
    assert said(text) == [("循环水泵", [("负责人", "张三丰")], number)]


def test_units_are_said_and_related_to_nothing() -> None:
    text = "| Part | Maker | Currency |\n| --- | --- | --- |\n| Bolt | Halden | EUR |"
    assert said(text) == [("Bolt", [("Maker", "Halden")], "Currency: EUR")]


def test_a_number_that_says_something_by_itself_is_no_numbering() -> None:
    assert said("| Year | Winner | City |\n| --- | --- | --- |\n| 1998 | France | Paris |") == []


def test_columns_without_a_heading_say_nothing_and_the_others_do() -> None:
    text = (
        "| Station |  | Head |  |\n| --- | --- | --- | --- |\n| Alpha Base | x | Maria Gomez | y |"
    )
    assert said(text) == [("Alpha Base", [("Head", "Maria Gomez")], "")]


def test_a_name_that_is_one_cell_across_two_columns_is_related_once() -> None:
    text = "| Sailor | Role | Ship | Port |\n| --- | --- | --- | --- |\n| Bob Carr | Ashore | Ashore | Cork |"
    assert said(text) == [("Bob Carr", [("Role", "Ashore"), ("Port", "Cork")], "")]


def test_equal_values_beside_each_other_are_said_of_both_columns() -> None:
    text = "| Region | May | June |\n| --- | --- | --- |\n| North | 500 | 500 |"
    assert said(text) == [("North", [], "May: 500; June: 500")]


def test_what_is_not_plainly_a_table_of_things_says_nothing() -> None:
    assert said(ROWS) == []
    assert said("| a | a |\n| --- | --- |\n| Berlin | Bonn |") == []
    assert said("| Year | City |\n| --- | --- |\n| 1990 | Bonn |\n| Berlin |") == []
    assert said("Plain text | with a bar") == []


@given(st.text(alphabet="|-\\ \nab一1", max_size=80), st.text(alphabet="|- \nab", max_size=40))
def test_any_text_may_be_read(text: str, context: str) -> None:
    for row in table_facts(text, context):
        assert text[row.subject.start :].startswith(row.subject.text)
