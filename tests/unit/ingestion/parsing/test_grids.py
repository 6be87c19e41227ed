"""Sheets: the tables that a reader sees in them."""

from __future__ import annotations

import io
import re
import zipfile

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

from sextant.ingestion.parsing.blocks import Block, Paragraph, Table, TextKind
from sextant.ingestion.parsing.formats import csv, xlsx
from sextant.ingestion.parsing.grids import fill_merges
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.structure import build_structure
from sextant.tables.cells.stored import TablePart, tables_of

_: None = None
Cells = list[list[object]]


def sheet(rows: Cells, *merged: str) -> list[Block]:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    return list(xlsx.parse(buffer.getvalue(), Limits()).blocks)[1:]


def shape(blocks: list[Block]) -> list[tuple[int, int] | str]:
    """Return each table by its rows and its header's, each paragraph by its text."""
    return [
        (len(block.rows), block.header_rows) if isinstance(block, Table) else getattr(block, "text")  # noqa: B009
        for block in blocks
    ]


NOTE = "Note: all prices are net and hold until the end of the year"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["Name", "Pay"], ["Ann", 1], [], ["Bob", 2], ["Cid", 9], [], ["Total", 12]], [(5, 1)]),
        ([["Name", "City"], [], ["Ann", "Oslo"], ["Bob", "Rome"]], [(3, 1)]),
        ([["Name", _, "Age", _, "Pay"], ["Ann", _, 3, _, 5], ["Bob", _, 4, _, 7]], [(3, 1)]),
        ([["Name", "Age"], ["Ann", 3], ["Bob", 4], [], ["Part", "Price"], ["Nut", 5]], [(3, 1), (2, 1)]),
        ([["Staff"], ["Name", "Age"], ["Ann", 3], ["Bob", 4], [NOTE]], ["Staff", (3, 1), NOTE]),
        ([["Name", "Age", _, "Part", "Price"], ["Ann", 3, _, "Nut", 5], ["Bob", 4, _, "Saw", 6]], [(3, 1), (3, 1)]),
        ([["Name", "Age", _, "Part", "Sold on"], ["Ann", 3, _, "Nut", "x"], ["Bob", 4]], [(3, 1), (2, 1)]),
        ([["Area", "Sales"], ["CHF", "2025", _, "Cost", "Tax"], ["N", 1, _, 2, 3], ["S", 4, _, 5, 6], ["Sum", 5]], [(5, 0)]),
        ([["A", "B"], [1, 2], [3, 4, _, "C", "D"], [5, 6, _, 7, 8], [9, 1, _, 2, 3]], [(5, 1), (3, 1)]),
        ([["Made on", "2025-01-02"], [], ["Area", "Units", "Price"], ["N", 1, 2], ["S", 3, 4]], ["Made on 2025-01-02", (3, 1)]),
        ([["Name", "Age", _, "Weekly"], ["Ann", 3], ["Bob", 4]], [(3, 1), "Weekly"]),
        ([["In CHF", _, _, _, 2025], [_, "Sales", "Cost", "Tax", "Net"], ["N", 1, 2, 3, 4], ["In CHF", _, _, _, 2024],
          [_, "Sales", "Cost", "Tax", "Net"], ["N", 4, 5, 6, 7]],
         [(3, 2), (3, 2)]),
        ([["Owner", "Dana"], ["State", "Draft"], [], ["Item", "Price"], ["a", 1], ["b", 2]], [(2, 1), (3, 1)]),
        ([["Area", "Plan", "Real"], ["N", 1, 2], ["S", 3, 4], [], ["Area", 2024, 2025], ["N", 5, 6], ["S", 7, 8]], [(3, 1), (3, 1)]),
        ([["Area", 2024], ["N", 1], ["S", 3], [], ["Area", "Head"], ["N", "Ann"], ["S", "Bob"]], [(3, 1), (3, 1)]),
        ([["Area", "Plan", "Real"], ["N", 1, 2], [], ["S", 3, 4], ["W", 5, 9]], [(4, 1)]),
        ([["Sales", 2024], ["Area", "Jan", "Feb", "Mar"], ["N", 1, 2, 3], ["S", 3, 4, 5]], ["Sales 2024", (3, 1)]),
        ([["Owner:", "Ann"], ["Role:", "Nurse"]], [(2, 0)]),
        ([["Item", "Amount", "Amount"], ["a", 1, 2], ["b", 3, 4]], [(3, 1)]),
        ([["Report", "Sales"], ["By", "Ann"], ["Area", "A", "B", "C"], ["N", 1, 2, 3], ["S", 4, 5, 6], ["W", 7, 8, 9]],
         ["Report Sales", "By Ann", (4, 1)]),
    ],
)  # fmt: skip
def test_a_table_ends_where_another_begins(rows: Cells, expected: list[object]) -> None:
    assert shape(sheet(rows)) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Region,2023,2024\nNorth,120,150\nSouth,90,80", "Region,2023,2024"),
        ("Item,1,2,3\nA,10,20,30\nB,11,21,31", "Item,1,2,3"),
        ("Rate,5%,10%,15%\nA,1,4,9\nB,2,3,7", "Rate,5%,10%,15%"),
        (",2023,,2024,\nArea,Plan,Real,Plan,Real\nN,1,2,3,4", "Area,2023 Plan,2023 Real,2024 Plan,2024 Real"),
        ("0,Name,Age\n1,Ann,32\n2,Bob,25", "0,Name,Age"),
        ("0,Ann,Lee\n1,Bob,Fox", None),
        ("Ann,2019,2021\nBob,2020,2022", None),
        ("A,1,2,3\nB,2,3,4", None),
    ],
)  # fmt: skip
def test_years_and_series_name_columns_where_the_rows_below_have_others(
    text: str, names: str | None
) -> None:
    [table] = csv.parse(text.encode(), Limits()).blocks
    lines = build_structure([table]).text.split("\n")
    assert ("---" in lines[1]) == (names is not None)
    if names:
        assert lines[0] == f"| {names.replace(',', ' | ')} |"


def test_a_merged_number_is_told_once_and_read_in_every_row() -> None:
    rows: Cells = [["Dept", "Name", "Budget"], ["A", "Ann", 500], [_, "Bob", _], ["B", "Cid", 100]]
    text = build_structure(sheet(rows, "A2:A3", "C2:C3")).text
    assert text.endswith("| A | Bob | 500 〃 |\n| B | Cid | 100 |")
    [stored] = tables_of([TablePart("p", 0, 0, text, "")])
    assert stored.table.rows[1] == ("A", "Bob", "500")
    assert stored.table.repeated == {(1, 2)}


def test_what_stands_for_signs_in_xml_is_read_as_those_signs() -> None:
    [table] = sheet([["Key", "Note"], ["a", "one_x000D_\ntwo"], ["b", "_x005F_x000D_"]])
    assert isinstance(table, Table)
    assert "| a | one two |\n| b | _x000D_ |" in build_structure([table]).text


def test_comments_are_read_with_their_cells() -> None:
    book = openpyxl.Workbook()
    for row in (["Item", "Price"], ["Lamp", 5]):
        book.active.append(row)
    book.active["B2"].comment = Comment("Until 1 May._x000A_Then 6.", "Ann")
    book.active["A2"].comment = Comment("Bob:\nSold out?", "Bob")
    buffer = io.BytesIO()
    book.save(buffer)
    blocks = xlsx.parse(buffer.getvalue(), Limits()).blocks
    assert blocks[-1] == Paragraph(
        "A2: Bob: Sold out?\nB2: Ann: Until 1 May. Then 6.", kind=TextKind.NOTE
    )


def test_remarks_above_and_below_a_table_are_none_of_its_rows() -> None:
    rows: Cells = [
        ["Purchases of 2024"],
        ["Author: Wang", "Date: 2024-6-1"],
        ["Item", "Pieces", "Price"],
        ["Pen", 10, 2],
        ["Pad", 5, 20],
        ["Note: with tax"],
    ]
    found = shape(sheet(rows, "A1:C1", "A6:C6"))
    assert found == ["Purchases of 2024", "Author: Wang Date: 2024-6-1", (3, 1), "Note: with tax"]


@pytest.mark.parametrize(
    ("groups", "names", "header"),
    [
        (["In CHF", _, "H1", _, "H2"], [_, "Sales", "Cost", "Sales", "Cost"], "In CHF | H1 Sales | H1 Cost | H2 Sales | H2 Cost"),
        ([_, _, "H1", _, "H2", _], ["Area", "Sales", "Cost", "Sales", "Cost", "Sum"], "Area | H1 Sales | H1 Cost | H2 Sales | H2 Cost | Sum"),
    ],
)  # fmt: skip
def test_the_name_of_a_group_stands_anywhere_above_the_columns_that_every_group_has(
    groups: list[object], names: list[object], header: str
) -> None:
    [table] = sheet([groups, names, ["North", *range(1, len(names))]])
    assert build_structure([table]).text.split("\n")[0] == f"| {header} |"


def test_merged_cells_and_links_are_found_under_any_prefix_of_their_namespace() -> None:
    book = openpyxl.Workbook()
    for row in (["Area", "Item"], ["North", "Nut"], [_, "Saw"]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.active["B2"].hyperlink = "https://parts.example/nut"
    saved, prefixed = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(prefixed, "w") as new:
        for name in old.namelist():
            xml = old.read(name)
            if name.endswith("sheet1.xml"):
                xml = re.sub(rb"<(/?)(?=\w)", rb"<\1x:", xml).replace(b" xmlns=", b" xmlns:x=")
            new.writestr(name, xml)
    [found] = xlsx.parse(prefixed.getvalue(), Limits()).blocks[1:]
    assert isinstance(found, Table)
    assert found.rows[1:] == [["North", "Nut (https://parts.example/nut)"], ["North", "Saw"]]


def test_a_row_of_units_belongs_to_the_names() -> None:
    [table] = sheet([["Probe", "Length", "Mass"], [_, "mm", "kg"], ["P1", 12, 3], ["P2", 20, 4]])
    assert isinstance(table, Table)
    assert build_structure([table]).text.startswith("| Probe | Length mm | Mass kg |\n| --- |")


def test_words_above_numbers_are_names_only_once() -> None:
    assert shape(sheet([["Probe", "Length"], ["P1", "long"], ["P2", 20], ["P3", 4]])) == [(4, 1)]


def test_a_cell_across_all_columns_names_a_group_and_is_no_row() -> None:
    rows: Cells = [
        ["Product", "Price"],
        ["Fruit"],
        ["Apple", 2],
        ["Pear", 3],
        ["Roots"],
        ["Leek", 4],
    ]
    [table] = sheet(rows, "A2:B2", "A5:B5")
    text = build_structure([table]).text
    [stored] = tables_of([TablePart("p", 0, 0, text, "")])
    assert stored.table.rows[0] == ("Fruit", "")
    assert stored.table.asides == {0, 3}


def test_a_cell_above_another_of_the_same_columns_names_no_group() -> None:
    rows = {1: ["A", "1", "EUR"], 2: ["", "Remarks"], 3: ["B", "Closed in May"]}
    fill_merges(rows, [(2, 3, 3, 3), (2, 2, 3, 2)], CellBudget(Limits()))
    assert rows[2] == ["", "Remarks", ""]


def test_a_blank_row_inside_merged_cells_is_no_row() -> None:
    rows: Cells = [["House", "Flat", "Owner"], ["A", 1, "Ann"], [_], [_, 2], ["B", 3, "Cy"]]
    [table] = sheet(rows, "A2:A4", "C2:C4")
    assert isinstance(table, Table)
    assert table.rows == [
        ["House", "Flat", "Owner"],
        ["A", "1", "Ann"],
        ["A", "2", "Ann"],
        ["B", "3", "Cy"],
    ]
    assert table.repeated == {(2, 0), (2, 2)}


def test_a_header_merged_over_two_rows_is_one_row() -> None:
    rows: Cells = [["House", "Owner"], [_], ["A", "Ann"], ["B", "Cy"]]
    [table] = sheet(rows, "A1:A2", "B1:B2")
    assert isinstance(table, Table)
    assert table.rows == [["House", "Owner"], ["A", "Ann"], ["B", "Cy"]]


def test_charts_of_a_sheet_and_sheets_of_one_chart_are_read() -> None:
    book = openpyxl.Workbook()
    for row in (["Year", "Ducks"], ["North", 120], ["South", 135]):
        book.active.append(row)
    picture = book.create_chartsheet("Picture")
    for place, corner in ((book.active, "E20"), (book.active, "E2"), (picture, "")):
        chart = BarChart()
        chart.title = f"Ducks of {place.title} {corner}".strip()
        chart.add_data(
            Reference(book.worksheets[0], min_col=2, min_row=1, max_row=3), titles_from_data=True
        )
        chart.set_categories(Reference(book.worksheets[0], min_col=1, min_row=2, max_row=3))
        place.add_chart(*([chart, corner] if corner else [chart]))
    buffer = io.BytesIO()
    book.save(buffer)

    parsed = xlsx.parse(with_cached_points(buffer.getvalue()), Limits())

    texts = [getattr(block, "text", "") for block in parsed.blocks]
    assert texts == [
        *("Sheet", "", "Ducks of Sheet E2", "", "Ducks of Sheet E20", ""),
        *("Picture", "Ducks of Picture", ""),
    ]
    tables = [block for block in parsed.blocks if isinstance(block, Table)]
    assert [list(row) for row in tables[-1].rows][1:] == [["North", "120"], ["South", "135"]]


def with_cached_points(content: bytes) -> bytes:
    """Return a workbook of openpyxl with the points in its charts, as Excel saves them."""

    def cache(kind: str, values: tuple[str, ...]) -> str:
        points = "".join(f'<pt idx="{at}"><v>{value}</v></pt>' for at, value in enumerate(values))
        return f'</f><{kind}><ptCount val="{len(values)}"/>{points}</{kind}>'

    caches = iter(
        [
            cache("strCache", ("Ducks",)),
            cache("numCache", ("North", "South")),
            cache("numCache", ("120", "135")),
        ]
        * 3
    )
    source, target = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for name in source.namelist():
            part = source.read(name).decode("utf-8", "surrogateescape")
            if name.startswith("xl/charts/chart"):
                part = re.sub("</f>", lambda _: next(caches), part)
            made.writestr(name, part.encode("utf-8", "surrogateescape"))
    return target.getvalue()
