"""PDF tables by the places of their words, where rules are missing or only some are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO

import pypdfium2 as pdfium
import pytest

from sextant.ingestion.parsing.blocks import Paragraph, Table
from sextant.ingestion.parsing.formats.pdf import parse
from sextant.ingestion.parsing.limits import Limits
from tests.pdf_writer import Drawn, PdfText, Rule, draw_ruled_table, write_pdf

_STATES = [["State", "2003", "2004"], ["Maine", "13,278", "13,077"], ["Ohio", "116,935", "119,029"]]


def place(
    rows: Sequence[Sequence[str]], *, top: float = 700, pitch: float = 14, column: float = 90
) -> list[Drawn]:
    """Return words in columns; blank cells are left out."""
    return [
        PdfText(70 + column * at, top - pitch * row, cell, 10)
        for row, cells in enumerate(rows)
        for at, cell in enumerate(cells)
        if cell
    ]


def read(page: Sequence[Drawn]) -> tuple[list[list[list[str]]], list[str]]:
    """Return the rows of the tables, and the paragraphs."""
    blocks = parse(write_pdf([page]), Limits()).blocks
    tables = [[list(row) for row in one.rows] for one in blocks if isinstance(one, Table)]
    return tables, [one.text for one in blocks if isinstance(one, Paragraph)]


def test_columns_of_figures_are_a_table_and_the_text_around_it_is_none() -> None:
    page = [
        PdfText(70, 730, "Table 14. Graduates of public schools by state and year."),
        *place(_STATES),
        PdfText(70, 640, "The figures of 2004 are estimates of the office."),
    ]

    assert read(page) == (
        [_STATES],
        [
            "Table 14. Graduates of public schools by state and year.",
            "The figures of 2004 are estimates of the office.",
        ],
    )


def _at(rows: Sequence[Sequence[str]], lefts: Sequence[Sequence[float]]) -> list[Drawn]:
    """Return the cells of rows at their left edges."""
    return [
        PdfText(left, 700 - 15 * at, cell, 11)
        for at, (row, places) in enumerate(zip(rows, lefts, strict=True))
        for left, cell in zip(places, row, strict=True)
    ]


def test_a_table_may_be_drawn_column_by_column() -> None:
    page = place(_STATES)

    assert read([*page[0::3], *page[1::3], *page[2::3]])[0] == [_STATES]


def test_between_rules_columns_of_words_are_a_table() -> None:
    rows = [["Measure", "Owner"], ["Noise", "Ann Poe"], ["Dust", "Bob Fry"]]
    rules: list[Drawn] = [Rule(70, y, 240, y) for y in (712, 695, 666)]

    assert read([*rules, *place(rows)])[0] == [rows]


def test_a_name_over_several_columns_stands_in_each_of_them() -> None:
    rows = [["", "", ""], ["State", "2003", "2004"], *_STATES[1:]]
    over: list[Drawn] = [PdfText(190, 700, "Graduates", 10), Rule(160, 697, 285, 697)]

    [table] = read([*over, *place(rows)])[0]

    assert table[:2] == [["", "Graduates", "Graduates"], ["State", "2003", "2004"]]


def test_the_lines_of_a_cell_that_is_full_are_one_cell() -> None:
    rows = [
        ["Kind of school", "2003", "2004"],
        ["Private schools that", "", ""],
        ["grant degrees", "1,278", "1,077"],
        ["Other", "935", "29"],
    ]

    [table] = read(place(rows, column=110))[0]

    assert table[1:] == [
        ["Private schools that grant degrees", "1,278", "1,077"],
        ["Other", "935", "29"],
    ]


def test_a_line_that_has_room_left_is_a_row_of_its_own() -> None:
    rows = [
        ["Kind of school", "2003", "2004"],
        ["By owner", "", ""],
        ["Public, all of them", "1,278", "1,077"],
        ["Private", "935", "29"],
    ]

    [table] = read(place(rows, column=110))[0]

    assert table == rows


def test_rows_without_rules_below_a_ruled_head_have_its_columns() -> None:
    head = draw_ruled_table(70, 716, [["State", "2003", "2004"]], width=90)
    frame = [Rule(x, 640, x, 716) for x in (70, 340)]
    levels = [Rule(70, 716 - 20 - 14 * row, 340, 716 - 20 - 14 * row) for row in range(1, 5)]
    body = place([["Maine", "0", "13,077"], ["Ohio", "935", "0"], ["Iowa", "77", "12"]], top=685)

    assert [*read([*head, *frame, *levels, *body])[0][0]][:4] == [
        ["State", "2003", "2004"],
        ["Maine", "0", "13,077"],
        ["Ohio", "935", "0"],
        ["Iowa", "77", "12"],
    ]


def test_rows_of_words_in_one_ruled_row_are_parted_where_all_its_cells_have_as_many_lines() -> None:
    rows = [
        ["Data", "Model", "Contents"],
        ["Harbour", "Large", "Pages of old journals"],
        ["Meadow", "Small", "Forms filled in by hand"],
        ["Quarry", "Small", "Maps of the north"],
    ]
    uprights = [Rule(x, 646, x, 712) for x in (66, 156, 246, 380)]
    levels = [Rule(66, y, 380, y) for y in (712, 694, 646)]

    assert read([*uprights, *levels, *place(rows)])[0] == [rows]


def test_a_line_alone_below_a_full_row_tells_more_of_that_row() -> None:
    rows = [
        ["No.", "Posted", "What", "Amount"],
        ["A1", "05/28/19", "Transport", "616.00"],
        ["", "", "Train to York", ""],
        ["A2", "06/13/19", "Transport", "553.30"],
        ["", "", "Flight to Rome", ""],
        ["A3", "06/14/19", "Supplies of all houses", "20.10"],
    ]

    [table] = read(place(rows, column=120))[0]

    assert table[1:] == [
        ["A1", "05/28/19", "Transport Train to York", "616.00"],
        ["A2", "06/13/19", "Transport Flight to Rome", "553.30"],
        ["A3", "06/14/19", "Supplies of all houses", "20.10"],
    ]


def test_names_of_groups_over_names_of_columns_are_the_head() -> None:
    rows = [["", "", ""], ["", "to air", "to water"], ["Lead", "200", "-"], ["Zinc", "100", "50"]]
    over: list[Drawn] = [PdfText(190, 700, "Threshold", 10), Rule(160, 697, 285, 697)]

    blocks = parse(write_pdf([[*over, *place(rows)]]), Limits()).blocks

    assert [one.header_rows for one in blocks if isinstance(one, Table)] == [2]


def test_a_currency_sign_set_apart_belongs_to_its_number() -> None:
    rows = [("Net sales", "1,200"), ("Taxes", "95"), ("Rent", "310")]
    page = [PdfText(180, 700, "2003", 10)]
    for at, (name, number) in enumerate(rows, start=1):
        cells = ((70, name), (150, "$"), (180, number))
        page += [PdfText(x, 700 - 14 * at, text, 10) for x, text in cells]

    assert read(page)[0] == [[["", "2003"], *([name, f"$ {number}"] for name, number in rows)]]


@pytest.mark.parametrize(
    "rows",
    [
        [["Name:", "Ann Poe"], ["Number:", "4711"], ["Since:", "2019"]],
        [["1.", "Open the valve V-7"], ["2.", "Wait for 30 seconds"], ["3.", "Close it at 2 bar"]],
    ],
)
def test_fields_and_lists_are_no_tables(rows: list[list[str]]) -> None:
    assert read(place(rows))[0] == []


def test_a_chart_in_a_grid_is_no_table() -> None:
    grid = draw_ruled_table(100, 700, [[""] * 6 for _ in range(6)], width=50)
    labels = [PdfText(104 + 50 * at, 686, str(2000 + at), 9) for at in range(2)]
    axis = [PdfText(104, 606, "0.5", 9), PdfText(204, 646, "0.7", 9)]

    assert read([*grid, *labels, *axis])[0] == []


def test_every_cell_knows_its_words_on_the_page() -> None:
    [table] = [
        one for one in parse(write_pdf([place(_STATES)]), Limits()).blocks if isinstance(one, Table)
    ]

    assert [word.text for word in table.words] == [cell for row in _STATES for cell in row]


@pytest.mark.parametrize(
    ("angle", "turned"),
    [
        (90, lambda x, y: (595 - y, x)),
        (180, lambda x, y: (595 - x, 842 - y)),
        (270, lambda x, y: (y, 842 - x)),
    ],
)
def test_a_page_that_is_shown_turned_is_read_as_it_is_shown(
    angle: int, turned: Callable[[float, float], tuple[float, float]]
) -> None:
    words = [
        PdfText(*turned(70 + 90 * at, 500 - 14 * row), cell, 10, angle=angle)
        for row, cells in enumerate(_STATES)
        for at, cell in enumerate(cells)
    ]
    document = pdfium.PdfDocument(write_pdf([words]))
    document[0].set_rotation(angle)
    file = BytesIO()
    document.save(file)

    [table] = [one for one in parse(file.getvalue(), Limits()).blocks if isinstance(one, Table)]

    width, height = (595, 842) if angle == 180 else (842, 595)
    assert [list(row) for row in table.rows] == _STATES
    assert table.words[-1].x0 == pytest.approx(250 / width, abs=0.01)
    assert table.words[-1].y0 < 1 - 472 / height < table.words[-1].y1


def test_names_that_are_drawn_column_by_column_above_their_table_are_its_head() -> None:
    names = [["Dose", "(g)"], ["Slope", "(V)"], ["Rate", "(mm)"]]
    rows = [["0", "0.0335", "2.8163"], ["2", "0.0596", "1.5054"], ["4", "0.2350", "0.5000"]]
    head = [
        PdfText(70 + 90 * column, 722 - 12 * line, text, 10)
        for column, texts in enumerate(names)
        for line, text in enumerate(texts)
    ]

    tables, around = read(
        [PdfText(70, 750, "Doses of the inhibitor", 10), *head, *place(rows, top=688)]
    )

    assert tables == [[["Dose (g)", "Slope (V)", "Rate (mm)"], *rows]]
    assert around == ["Doses of the inhibitor"]


def test_a_rule_below_each_row_makes_no_head_of_the_first() -> None:
    rows = [["Compute", "1.87"], ["Storage", "2.22"], ["Traffic", "0.01"], ["Total", "4.10"]]
    rules = [Rule(60, 695 - 14 * row, 240, 695 - 14 * row) for row in range(len(rows))]

    blocks = parse(write_pdf([[*place(rows), *rules]]), Limits()).blocks

    assert [one.header_rows for one in blocks if isinstance(one, Table)] == [0]


def test_narrow_columns_whose_words_make_one_line_are_parted() -> None:
    rows = [
        ["Item", "Qty", "Price"],
        ["Bolt", "5", "1.00"],
        ["Nut", "6", "2.00"],
        ["Saw", "7", "3.00"],
    ]

    assert read(place(rows, column=30))[0] == [rows]


def test_a_gap_in_a_single_row_makes_a_column_of_a_figure_and_not_of_words() -> None:
    rows = [
        ["Wine", "", "Price"],
        ["Red", "", "8 EUR"],
        ["White", "", "9 EUR"],
        ["Mild", "", "7 EUR"],
    ]
    dry, year = (
        [*rows[:2], ["White", "dry", "9 EUR"], rows[3]],
        [*rows[:2], ["White", "2016", "9 EUR"], rows[3]],
    )

    assert read(place(year, column=60))[0] == [year]
    assert {len(row) for row in read(place(dry, column=60))[0][0]} == {2}


def test_two_rows_below_their_names_are_a_table() -> None:
    rows = [["Name", "Pay"], ["Ann", "10"], ["Bob", "20"]]

    assert read(place(rows, column=38))[0] == [rows]


def test_cells_drawn_line_by_line_are_put_together() -> None:
    page = [
        *place([["Part", "Purpose", "Price"]], column=120),
        *place([["Pump", "Moves water from the", "1,200 EUR"]], top=680, column=120),
        *place([["", "river to the basin"]], top=668, column=120),
        *place([["Filter", "Holds back sand and", "310 EUR"]], top=648, column=120),
        *place([["", "leaves of all kinds"]], top=636, column=120),
        *place([["Valve", "Closes the inlet", "95 EUR"]], top=616, column=120),
    ]

    assert read(page)[0] == [
        [
            ["Part", "Purpose", "Price"],
            ["Pump", "Moves water from the river to the basin", "1,200 EUR"],
            ["Filter", "Holds back sand and leaves of all kinds", "310 EUR"],
            ["Valve", "Closes the inlet", "95 EUR"],
        ]
    ]


def test_text_that_runs_on_beside_the_figures_of_a_chart_is_no_table() -> None:
    text = [
        "The flow of a river is least in the late summer and rises",
        "with the rains of autumn, as the stations of the survey",
        "show for each of the years; the figure gives the mean of",
        "all of them, and its axis counts the cubic metres.",
    ]
    left = [PdfText(40, 700 - 13 * at, line, 9) for at, line in enumerate(text)]
    axis = [PdfText(330, 700 - 13 * at, str(60 - 10 * at), 9) for at in range(4)]

    tables, paragraphs = read([*left, *axis])
    assert not tables
    assert paragraphs[0] == " ".join(text)


def test_lists_whose_numbers_stand_apart_are_read_column_by_column() -> None:
    entry = ["Larch P, Ames Q, Moss R. Drying of the oak", "In: Boats of Seaford, vol. 1998:33-41."]

    def column(x: float, first: int) -> list[Drawn]:
        items = list[Drawn]()
        for at in range(4):
            y = 700 - 26 * at
            items.append(PdfText(x, y, f"{first + at}.", 9))
            items += [PdfText(x + 24, y - 13 * line, entry[line], 9) for line in range(2)]
        return items

    tables, paragraphs = read([*column(40, 4), *column(310, 22)])
    assert not tables
    places = [" ".join(paragraphs).find(f"{number}. Larch") for number in (4, 5, 22, 25)]
    assert -1 < places[0] < places[1] < places[2] < places[3]
