"""Tables as financial filings set them: signs in columns of their own, blank rows between the header's rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sextant.ingestion.parsing.blocks import Table
from sextant.ingestion.parsing.formats import html
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.tables import SpannedCell, table_blocks


def read(rows: Sequence[Sequence[str]], *wide: SpannedCell, marked: int = 0) -> Table:
    """Return the table of rows, with cells that are wider than a column in the place of what stands there."""
    taken = {(cell.row, cell.column + more) for cell in wide for more in range(cell.columns)}
    cells = [
        SpannedCell(row, column, text)
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
        if (row, column) not in taken
    ]
    *_, table = table_blocks([*cells, *wide], CellBudget(Limits()), marked)
    assert isinstance(table, Table)
    return table


def test_currency_signs_and_closing_marks_stand_with_their_figures() -> None:
    rows = [
        ["", "", "", "", "Change", ""],
        ["Sales", "US$", "17,556", "", "14", "%"],
        ["Gains", "", "(22", ")", "(3", ")%"],
        ["Tax", "", "—", "", "5", "%"],
    ]
    table = read(rows, SpannedCell(0, 1, "2022", columns=2))
    assert table.header_rows == 1
    assert table.rows == [
        ["", "2022", "Change"],
        ["Sales", "US$17,556", "14%"],
        ["Gains", "(22)", "(3)%"],
        ["Tax", "—", "5%"],
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["Currency", "Amount"], ["$", "90"], ["€", "80"]],
        [["Shop", "Price"], ["$", "cheap"], ["€", "dear"]],
    ],
    ids=["a column with a name", "words beside signs"],
)
def test_a_column_of_signs_that_means_something_by_itself_stays(rows: list[list[str]]) -> None:
    assert read(rows).rows == rows


def test_blank_rows_part_no_header_and_the_rows_that_a_file_marks_may_go_on() -> None:
    rows = [["Item", "", ""], ["", "", ""], ["", "2022", "2021"], ["Rent", "90", "80"]]
    table = read(rows, SpannedCell(0, 1, "Three months", columns=2), marked=2)
    assert table.header_rows == 2
    assert table.rows[1:] == [["", "2022", "2021"], ["Rent", "90", "80"]]


def test_spacers_and_the_rest_of_a_name_set_across_two_columns_are_no_columns() -> None:
    rows = [
        ["", "", "2022", "", "2021"],
        ["Rent", "", "90", "", "80"],
        ["Fuel", "", "40", "", "30"],
    ]
    wide = [SpannedCell(1, 0, "Rent", columns=2), SpannedCell(2, 0, "Fuel", columns=2)]
    assert read(rows, *wide).rows == [
        ["", "2022", "2021"],
        ["Rent", "90", "80"],
        ["Fuel", "40", "30"],
    ]


def test_no_figure_gives_way_to_a_sign_that_spans_the_spacer_before_it() -> None:
    rows = [
        ["", "2022", "", "", "2021"],
        ["Gains", "(22", ")", "", "35"],
        ["Tax", "(7", ")", "", "41"],
    ]
    assert read(rows, SpannedCell(2, 2, ")", columns=2)).rows == [
        ["", "2022", "2021"],
        ["Gains", "(22)", "35"],
        ["Tax", "(7)", "41"],
    ]


def test_a_name_above_columns_of_signs_alone_keeps_its_place() -> None:
    rows = [
        ["", "2022", "note", "", "2021"],
        ["Gains", "(22", ")", "$", "35"],
        ["Tax", "(7", ")", "$", "41"],
    ]
    table = read(rows, SpannedCell(0, 2, "note", columns=2))
    assert table.rows[0] == ["", "2022", "note", "note", "2021"]


def test_signs_beside_signs_are_lost_on_neither_side() -> None:
    rows = [["Gains", "$", "(", "22"], ["Tax", "$", "", "41"], ["Fees", "", "(", "9"]]
    assert read(rows).rows == [["Gains", "$", "(22"], ["Tax", "$", "41"], ["Fees", "", "(9"]]


def test_a_marked_row_that_names_one_column_is_no_title() -> None:
    rows = [["", "2023"], ["Sales", "5"], ["Cost", "3"]]
    table = read(rows, marked=1)
    assert (table.rows, table.header_rows) == (rows, 1)


def test_a_list_beside_a_column_of_icons_has_no_header() -> None:
    rows = ["Ann on walking", "Bo on rowing", "Cy on skiing"]
    page = "".join(f"<tr><td></td><td>{row}</td></tr>" for row in rows)
    read_page = html.parse(f"<p>Latest comments:</p><table>{page}</table>".encode(), Limits())
    (table,) = (block for block in read_page.blocks if isinstance(block, Table))
    assert (table.rows, table.header_rows) == ([[row] for row in rows], 0)
