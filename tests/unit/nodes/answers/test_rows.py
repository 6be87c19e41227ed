"""A quoted row of a table names its columns, wherever the table's head stands."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.passages import describe_row

LEAVE = "| Years | Days |\n| --- | --- |\n| less than 1 | 12 |\n| 1 to 4 | 15 |"


def told(text: str, row: str, context: str = "") -> str:
    item = RetrievedItem(ItemKind.CHUNK, "c", text, 1.0, metadata={"context": context})
    return describe_row(row, item, text.index(row))


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        (LEAVE, "less than 1 | 12", "Years: less than 1; Days: 12"),
        (LEAVE, "1 to 4 | 15", "Years: 1 to 4; Days: 15"),
        (
            "表 1\n\n| 项目 | 界值 |\n| --- | --- |\n| 空腹 | ≥ 7 |",
            "空腹 | ≥ 7",
            "项目：空腹；界值：≥ 7",
        ),
        ("| A | B | C |\n|---|---|---|\n| x |  | z |", "x |  | z", "A: x; C: z"),
        ("| A | B | C |\n|---|---|---|\n| x | y |  |\n| z | w | v |", "x | y", "A: x; B: y"),
        ("| A | B | C | D |\n|---|---|---|---|\n| x | y |  | |", "x | y", "A: x; B: y"),
        ("| | Price |\n|---|---|\n| Heron | 9 |", "Heron | 9", "Heron; Price: 9"),
        ("| Labor Day | First Monday |\n| Christmas | 25 |", "Christmas | 25", "Christmas: 25"),
    ],
)
def test_each_cell_is_told_behind_its_columns_name(text: str, row: str, said: str) -> None:
    assert told(text, row) == said


def test_later_rows_have_their_head_in_the_context() -> None:
    head = "| Part | Stock |\n| --- | --- |"
    assert told("| FF-06 | 40 |\n| CP-1 | 8 |", "CP-1 | 8", head) == "Part: CP-1; Stock: 8"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("| a | b | c |\n| d | e | f |", "d | e | f"),
        (f"{LEAVE}\n\nA sentence after the table.", "A sentence after the table."),
        (f"{LEAVE}\n\nEither | or.", "Either | or."),
        ("| A | B |\n|---|---|\n| x | y | z |", "x | y | z"),
    ],
)
def test_what_is_no_row_below_a_head_stays_as_it_is(text: str, row: str) -> None:
    assert told(text, row) == row
