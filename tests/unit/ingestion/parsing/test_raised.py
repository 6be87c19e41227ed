"""Raised and lowered figures: exponents, indices and notes never melt into the number that they stand on."""

from __future__ import annotations

import pytest

from sextant.ingestion.parsing.blocks import HeadingBlock, Paragraph, Table
from sextant.ingestion.parsing.raised import mark_lowered, mark_raised, note, write_raised
from sextant.tables.cells.arithmetic import total_of
from sextant.tables.cells.table import make_table


def write(*texts: str) -> list[str]:
    return [
        block.text
        for block in write_raised(Paragraph(text) for text in texts)
        if isinstance(block, Paragraph)
    ]


@pytest.mark.parametrize(
    ("marked", "written"),
    [
        (f"10{mark_raised('6')} units", "10^6 units"),
        (f"on 40 m{mark_raised('2')}.", "on 40 m^2."),
        (f"10{mark_raised('−')}{mark_raised('3')}", "10^−3"),
        (f"Ca{mark_raised('2+')}", "Ca^2+"),
        (f"x{mark_raised('n')} and x{mark_raised('n+1')}", "x^n and x^(n+1)"),
        (f"2{mark_raised('8')} bytes, 5{mark_raised('3')}", "2^8 bytes, 5^3"),
        (f"251{mark_raised('1')}, 2{mark_raised('1')} is", "251^1, 2^1 is"),
        (f"10{mark_raised('6')}5", "10^6 5"),
        (f"H{mark_lowered('2')}O, V{mark_lowered('max')}", "H2O, Vmax"),
        (f"1010{mark_lowered('2')}", "1010_2"),
        (
            f"1{mark_raised('st')}, M{mark_raised('me')}, Sextant{mark_raised('TM')}",
            "1st, Mme, SextantTM",
        ),
        (f"word {mark_raised('2')} next", "word 2 next"),
    ],
)
def test_without_notes_a_figure_is_an_exponent_or_an_index(marked: str, written: str) -> None:
    assert write(marked) == [written]


def test_a_one_is_no_power_even_without_a_note() -> None:
    assert write(f"New staff get 25{mark_raised('1')} days.") == ["New staff get 25 days [note 1]."]


def test_a_figure_in_brackets_is_the_label_of_a_note() -> None:
    assert write(f"14 days{mark_raised('1)')}, 20 kg{mark_raised('[2]')}") == [
        "14 days [note 1], 20 kg [note 2]"
    ]


@pytest.mark.parametrize(
    ("marked", "written"),
    [
        (
            f"sold worldwide.{mark_raised('15')} In “rooms”,{mark_raised('3–5')} both",
            "sold worldwide [note 15]. In “rooms” [note 3–5], both",
        ),
        (f"据统计，{mark_raised('15')}该地区增长。", "据统计 [注15]，该地区增长。"),
        (f"x,{mark_raised('2')} y", "x,^2 y"),
        (f"Bonn,{mark_raised('2')}Ulm", "Bonn,^2Ulm"),
        (f"40 lb./in.{mark_raised('2')} of", "40 lb./in.^2 of"),
        (f"Mag.{mark_raised('a')} Berg", "Mag.a Berg"),
        (f"Password:{mark_raised('*')} here", "Password:* here"),
    ],
)
def test_a_figure_behind_the_end_of_a_clause_is_the_mark_of_a_note(
    marked: str, written: str
) -> None:
    assert write(marked) == [written]


def test_the_mark_of_a_note_stays_in_front_of_a_word_that_nothing_counts() -> None:
    assert write(f"Founded in 1998{mark_raised('[1]')} in Bonn.") == [
        "Founded in 1998 [note 1] in Bonn."
    ]


def test_a_formula_keeps_its_exponent_beside_a_note_of_that_figure() -> None:
    formula = f"E = mc{mark_raised('2')} is known{mark_raised('2')}."

    assert write(formula, f"{mark_raised('2')} Einstein")[0] == "E = mc^2 is known [note 2]."


@pytest.mark.parametrize(
    ("marked", "written"),
    [
        (f"the tariff{mark_raised('1')} of 2019", "the tariff [note 1] of 2019"),
        (f"New staff get 25{mark_raised('1')} days.", "New staff get 25 days [note 1]."),
        (f"It ends.{mark_raised('1')} Next", "It ends [note 1]. Next"),
        (f"both{mark_raised('1, 2')} of", "both [note 1, 2] of"),
        (
            f"10{mark_raised('2')}, 3 m{mark_raised('2')} and x{mark_raised('2')}",
            "10^2, 3 m^2 and x^2",
        ),
        (f"25{mark_raised('1')}个工作日内。", "25个工作日内 [注1]。"),
    ],
)
def test_a_figure_of_a_known_note_is_its_mark(marked: str, written: str) -> None:
    notes = [f"{mark_raised('1')} after probation", f"{mark_raised('2')} unless agreed"]

    assert write(marked, *notes) == [written, "[note 1] after probation", "[note 2] unless agreed"]


def test_a_link_to_a_note_needs_no_note_to_be_known() -> None:
    assert write(f"25{note('[3]')} days") == ["25 days [note 3]"]


def test_a_note_of_another_page_is_not_meant() -> None:
    blocks = [
        Paragraph(f"area{mark_raised('1')}", 1),
        Paragraph(f"{mark_raised('1')} after probation", 2),
    ]

    assert write_raised(blocks)[0] == Paragraph("area^1", 1)


def test_headings_and_cells_are_written_out_too() -> None:
    blocks = write_raised(
        [
            HeadingBlock(f"Area in m{mark_raised('2')}", 1),
            Table([["Staff", f"25{mark_raised('a')}"], [f"{mark_raised('a')} part-time", ""]]),
        ]
    )

    assert blocks == [
        HeadingBlock("Area in m^2", 1),
        Table([["Staff", "25 [note a]"], ["[note a] part-time", ""]]),
    ]


def test_a_number_with_a_mark_is_added_up() -> None:
    count = f"40{mark_raised('1')}"
    [table] = write_raised([Table([["Item", "Count"], ["A", "2"], ["B", count]])])
    assert isinstance(table, Table)
    [_, counts] = make_table(table.rows, table.header_rows).columns
    assert total_of(counts, range(2)) == 42
