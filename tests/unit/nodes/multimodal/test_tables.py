import csv
import time
import tracemalloc
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import LimitSettings, MultimodalSettings, Settings
from sextant.nodes.multimodal.parts import read_parts
from sextant.nodes.multimodal.tables import ReadTable, read_table

SETTINGS = Settings(_env_file=None, limits=LimitSettings(table_cells=100))
NAMES, ROWS = ("产品", "销量"), (("苹果", "1,200"), ("香蕉", "900"))

CSV = '产品,销量\n苹果,"1,200"\n香蕉,900\n'
MARKDOWN = "| 产品 | 销量 |\n| --- | ---: |\n| **苹果** | 1,200 |\n| 香蕉 | 900 |\n"
HTML = (
    "<table><tr><th>产品</th><th>销量</th></tr>"
    "<tr><td>苹果</td><td>1,200</td></tr><tr><td>香蕉</td><td>900</td></tr></table>"
)


def read(data: Any, limits: Settings = SETTINGS) -> ReadTable:
    [part] = read_parts([{"type": "table", "table_data": data}], limits.multimodal)
    return read_table(part, limits)


@pytest.mark.parametrize(
    "data",
    [
        CSV,
        CSV.replace(",", "\t").replace("1\t200", "1,200"),
        MARKDOWN,
        HTML,
        [["产品", "销量"], ["苹果", "1,200"], ["香蕉", 900]],
        [{"产品": "苹果", "销量": "1,200"}, {"产品": "香蕉", "销量": 900}],
        {"columns": ["产品", "销量"], "rows": [["苹果", "1,200"], ["香蕉", 900]]},
    ],
    ids=["csv", "tsv", "markdown", "html", "rows", "records", "columns"],
)
def test_a_table_is_the_same_in_every_form(data: Any) -> None:
    table = read(data).table
    assert (table.names, table.rows) == (NAMES, ROWS)


def test_a_cell_of_markdown_may_hold_a_bar_and_marks() -> None:
    table = read("text before\n\n| a | b |\n|:--|--:|\n| `x` \\| y | **1** |\n\nafter | it").table
    assert (table.names, table.rows) == (("a", "b"), (("x | y", "1"),))


def test_tags_that_make_no_table_leave_the_words_of_its_cells() -> None:
    html = "<div><table><tr><td><b>a</b><td>b<tr><td><a href='x'>1 < 2</a><td>3</table>"
    assert read(html).table.rows[-1] == ("1 < 2", "3")


LONG = 300_000
HOSTILE = {
    "lines": "|" + "\n" * LONG + "x",
    "blanks": "|\n--" + " " * LONG + "x",
    "brackets": "|a|\n|--|\n|" + "[" * LONG,
    "links": "|a|\n|--|\n|" + "![a](" * (LONG // 5),
    "marks": "|a|\n|--|\n|" + "*a_ " * (LONG // 4),
    "bars": "|" * LONG + "\n" + "|--" * (LONG // 3),
    "tables": "<table><tr><td>" * (LONG // 15),
    "blocks": "<table>" + "<div>" * (LONG // 5),
    "cells": "<table>" + "<td>" * (LONG // 4),
    "angles": "<table>" + "<a" * (LONG // 2),
    "columns": 'a\t"' * (LONG // 3),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_table_made_to_keep_the_server_busy_costs_little_cpu(data: str) -> None:
    """A process of the server may lose a moment to it, not an hour.

    They took minutes of a whole parser, and of white space that a pattern tried in three ways. On a busy machine
    what takes a second or two costs several times as much.
    """
    began = time.thread_time()
    with suppress(OptionInvalid):
        read(data, Settings(_env_file=None))
    assert time.thread_time() - began < 60


def test_rows_of_many_names_are_not_filled_up_before_they_are_counted() -> None:
    """50,000 objects of one name each are 2.5 billion cells."""
    tracemalloc.start()
    with pytest.raises(OptionInvalid, match="more than"):
        read([{f"name {n}": n} for n in range(50_000)], Settings(_env_file=None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, [[[[]]]]])
def test_a_cell_is_no_list_or_object(cell: Any) -> None:
    with pytest.raises(OptionInvalid, match="list or an object"):
        read([["a", "b"], [1, cell]])


def test_ragged_rows_are_filled_up_and_told_of() -> None:
    found = read("a,b,c\nx,1\ny,2,3\nz,4,5,6")
    assert found.table.names == ("a", "b", "c", "")
    assert found.table.rows == (("x", "1", "", ""), ("y", "2", "3", ""), ("z", "4", "5", "6"))
    assert "T1: rows of different length" in str(found.warnings[0])


def test_merged_cells_say_the_same_in_each_place_and_are_marked_as_repeated() -> None:
    html = (
        "<table><tr><th colspan=2>2024</th><th rowspan=2>人</th></tr><tr><th>上</th><th>下</th></tr>"
        "<tr><td rowspan=2>7</td><td>8</td><td>甲</td></tr><tr><td>9</td><td>乙</td></tr></table>"
    )
    table = read(html).table
    assert table.names == ("2024 上", "2024 下", "人")
    assert table.rows == (("7", "8", "甲"), ("7", "9", "乙"))
    assert table.repeated == {(1, 0)}


@pytest.mark.parametrize("data", ["1,2\n3,4", [[1, 2], [3, 4]]])
def test_a_table_without_header_has_columns_called_by_their_numbers(data: Any) -> None:
    table = read(data).table
    assert (table.names, table.rows) == (("c1", "c2"), (("1", "2"), ("3", "4")))


def test_years_may_name_columns() -> None:
    table = read("地区,2023,2024\n华东,100,120\n华北,80,90").table
    assert table.names == ("地区", "2023", "2024")
    assert len(table.rows) == 2


@pytest.mark.parametrize(
    "data",
    [
        "\n".join(["a"] * 101),
        [["a"] * 101],
        [["a"] * 50, *([["b"]] * 3)],
        "<table>" + "<tr><td>1<td>2</tr>" * 51 + "</table>",
        "<table><tr><td colspan=101>x<td>y</tr></table>",
        "| a |\n| - |\n" + "| b |\n" * 101,
        [{f"c{number}": number} for number in range(11)],
    ],
    ids=["csv", "rows", "ragged", "html", "colspan", "markdown", "records"],
)
def test_one_cell_too_many_is_refused_by_name(data: Any) -> None:
    with pytest.raises(OptionInvalid, match="more than 100 cells") as caught:
        read(data)
    assert caught.value.field == "multimodal_content[0].table_data"


def test_the_limit_of_cells_itself_is_allowed_by_default_at_100k() -> None:
    default = Settings(_env_file=None)
    rows = [["x", 1]] * 50_000
    assert len(read(rows, default).table.rows) in {49_999, 50_000}  # the first may be its header
    with pytest.raises(OptionInvalid, match="100,000 cells"):
        read([*rows, ["y"]], default)


@pytest.mark.parametrize(
    "data",
    [
        None,
        "",
        "  \n ",
        [],
        42,
        [[]],
        [["", None]],
        ["a,b", "1,2"],
        [["a"], 5],
        "<table></table>",
        "<html><p>no table</p></html>",
        {"rows": [[1]]},
        {"columns": 3, "rows": [[1]]},
        {"columns": ["a"], "rows": 7},
        [{"a": 1}, ["b"]],
    ],
)
def test_what_holds_no_table_is_refused_by_name(data: Any) -> None:
    with pytest.raises(OptionInvalid) as caught:
        read(data)
    assert str(caught.value.field).startswith("multimodal_content[0].table_data")


def test_a_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    small = Settings(_env_file=None, multimodal=MultimodalSettings(table_chars=20))
    with pytest.raises(OptionInvalid, match="more than 20 characters"):
        read("a,b\n" * 6, small)


# What no cell holds after white space in it is made one blank; no delimiter but the comma.
CELL = st.text("ab1,\"'中文.-% ", min_size=1, max_size=6).map(lambda t: " ".join(t.split()) or "x")


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(
            st.lists(CELL, min_size=width, max_size=width), min_size=2, max_size=6
        )
    )
)
def test_rows_survive_the_way_through_csv(rows: list[list[str]]) -> None:
    written = StringIO()
    csv.writer(written).writerows(rows)
    text, listed = read(written.getvalue()).table, read(rows).table
    assert [text.names, *text.rows] == [listed.names, *listed.rows]


@given(st.text(max_size=200) | st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=4))
def test_anything_is_read_or_refused(data: Any) -> None:
    try:
        table = read(data).table
    except OptionInvalid:
        return
    assert {len(row) for row in table.rows} == {table.width}
