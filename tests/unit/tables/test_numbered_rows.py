"""How many there are of what a column numbers: its rows, where its numbers only name them."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from sextant.text.characters import language_of
from tests.unit.tables.unasked import unasked


def table(*rows: str) -> DataTable:
    return make_table([row.split("|") for row in rows], header_rows=1)


FLATS = table("Flat|Rent", "1|900", "2|850", "3|1100")
TWO_FLATS = table("Flat|Rent", "1|900", "2|850")
HOUSES = table("House|Flat|Rent", "A|1|900", "A|2|850", "B|3|1100")
AGAIN = table("House|Flat|Rent", "A|1|900", "A|2|850", "B|1|1100")
SIZES = table("House|Rooms|Rent", "A|1|900", "A|2|850", "B|1|1100")
SEATS = table("Booth|Seats", "1|4", "2|4", "3|6")
WINS = table("Team|Wins", "Reds|1", "Blues|2", "Greens|3")
OFFERS = table("Seats|Price", "4|40", "4|50", "6|60")
SALES = table("Region|Units sold", "North|1", "North|2", "South|3")
ROOMS = table("房间|租金", "1|900", "2|850", "3|1100")
UNITS = table("楼栋|房间|租金", "甲|1|900", "甲|2|850", "乙|1|1100")
BOOTHS = table("包厢|座位", "1|4", "2|4", "3|6")


@pytest.mark.parametrize(
    ("question", "asked", "language", "expected"),
    [
        ("How many flats are there?", FLATS, "en", "3"),
        ("How many flats do we have in total?", FLATS, "en", "3"),
        ("How many flats have a rent above 880?", FLATS, "en", "2"),
        ("How many flats are there?", TWO_FLATS, "en", "2"),
        ("一共有多少个房间？", ROOMS, "zh", "3"),
        ("房间有多少个？", ROOMS, "zh", "3"),
    ],
)
def test_numbers_that_name_rows_are_counted(
    question: str, asked: DataTable, language: str, expected: str
) -> None:
    assert [one.value for one in unasked(question, asked, language)] == [expected]


@pytest.mark.parametrize(
    ("question", "asked", "language", "expected"),
    [
        ("How many seats are there?", SEATS, "en", "14"),
        ("How many seats are there?", OFFERS, "en", "14"),
        ("How many rooms are there?", SIZES, "en", "4"),
        ("How many wins are there in total?", WINS, "en", "6"),
        ("How many units were sold?", SALES, "en", "6"),
        ("一共有多少个座位？", BOOTHS, "zh", "14"),
    ],
)
def test_amounts_still_add_up(
    question: str, asked: DataTable, language: str, expected: str
) -> None:
    assert [one.value for one in unasked(question, asked, language)] == [expected]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How many flats are there?", table("Flat|Rent", "101|900", "102|850", "201|1100")),
        ("How many flats are there?", HOUSES),
        ("How many flats are in house A?", AGAIN),
        ("一共有多少个房间？", UNITS),
    ],
)
def test_numbers_that_may_name_rows_are_neither_counted_nor_summed(
    question: str, asked: DataTable
) -> None:
    assert unasked(question, asked, language_of(question)) == []
