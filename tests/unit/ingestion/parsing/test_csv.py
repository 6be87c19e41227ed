"""CSV as programs and people write it."""

from __future__ import annotations

import pytest

from sextant.domain.errors import FileUnsafe
from sextant.ingestion.parsing.blocks import Paragraph, Table
from sextant.ingestion.parsing.formats import csv
from sextant.ingestion.parsing.limits import Limits


def rows(text: str, limits: Limits = Limits()) -> list[list[str]]:  # noqa: B008 - frozen
    return [
        list(row)
        for block in csv.parse(text.encode(), limits).blocks
        if isinstance(block, Table)
        for row in block.rows
    ]


def test_the_line_that_names_the_separator_is_no_row() -> None:
    assert rows("\ufeffsep=;\r\nPart;Price\r\nNut;0,12\r\n") == [["Part", "Price"], ["Nut", "0,12"]]


@pytest.mark.parametrize(
    ("text", "found", "open_lines"),
    [
        ('a,b\n1,"x,10\n2,ok\n', [["a", "b"], ["1", '"x,10'], ["2", "ok"]], 1),
        ('a,b\n1,"x\n2,"ok"\n3,z\n', [["a", "b"], ["1", '"x'], ["2", "ok"], ["3", "z"]], 1),
        ('a,b\n1,"x\n2,"y\n3,z\n', [["a", "b"], ["1", '"x'], ["2", '"y'], ["3", "z"]], 2),
        (
            'a,b,c\nBolt,"3 inch, zinc,4\n"x","y,z,5\nNut,M4,6\n',
            [
                ["a", "b", "c"],
                ["Bolt", '"3 inch, zinc', "4"],
                ['"x"', '"y,z', "5"],
                ["Nut", "M4", "6"],
            ],
            2,
        ),
        ('a,b\n1,"x ""y"" \nz"\n2,w\n', [["a", "b"], ["1", 'x "y" \nz'], ["2", "w"]], 0),
        ('a,b\n5" pipe,1\n6" pipe,2\n', [["a", "b"], ['5" pipe', "1"], ['6" pipe', "2"]], 0),
    ],
    ids=["to the end", "before a quoted cell", "twice", "a comma behind it", "closed", "inches"],
)
def test_a_quotation_mark_that_is_never_closed_swallows_no_row(
    text: str, found: list[list[str]], open_lines: int
) -> None:
    assert rows(text) == found
    warnings = csv.parse(text.encode(), Limits()).warnings
    assert [warning.code for warning in warnings] == ["quotes_not_closed"] * bool(open_lines)
    assert not open_lines or f"{open_lines} row" in str(warnings[0])


def test_lines_above_the_names_are_no_rows() -> None:
    blocks = csv.parse(b"Made by tool\n\nName;Price\na;1,5\nb;2,5\n", Limits()).blocks
    assert [type(block) for block in blocks] == [Paragraph, Table]
    assert rows("Made by tool\n\nName;Price\na;1,5\nb;2,5\n")[0] == ["Name", "Price"]


def test_a_line_of_too_many_cells_is_refused_before_it_is_cut() -> None:
    with pytest.raises(FileUnsafe, match="100,000 cells"):
        csv.parse(b"abc," * 3_000_000, Limits())
    wide = b"a," * 150_000
    assert len(rows((wide + b"\n" + wide).decode(), Limits(table_cells=1_000_000))[0]) == 150_000


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('name,address,amount\nAnn,"3 Mill Lane\nFlat 2\nHull",10\nBob,"8 High St\nYork",20\n', "3 Mill Lane\nFlat 2\nHull"),
        ('名称,地址,面积\n甲店,"人民路3号\n二楼",90\n乙店,"中山路8号\n一楼",70\n', "人民路3号\n二楼"),
    ],
)  # fmt: skip
def test_an_address_on_several_lines_stays_in_its_column(text: str, cell: str) -> None:
    assert rows(text)[1][1] == cell
