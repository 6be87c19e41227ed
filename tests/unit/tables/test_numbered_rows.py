"""How many there are of what a column numbers: its rows, where its numbers only name them."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import DataTable, make_table
from tests.unit.tables.unasked import unasked


def table(*rows: str) -> DataTable:
    return make_table([row.split("|") for row in rows], header_rows=1)


FLATS = table("Flat|Rent", "1|900", "2|850", "3|1100")
TWO_FLATS = table("Flat|Rent", "1|900", "2|850")
HOUSES = table("House|Flat|Rent", "A|1|900", "A|2|850", "B|3|1100")
AGAIN = table("House|Flat|Rent", "A|1|900", "A|2|850", "B|1|1100")
LEVELS = table("House|Level|Flat|Rent", "A|1|1|900", "A|1|2|850", "A|2|1|1100", "B|1|1|700")
TURNED = table("Flat|House|Rent", "1|A|900", "1|B|850", "2|A|1100", "2|B|700")
SIZES = table("House|Rooms|Rent", "A|1|900", "A|2|850", "B|1|1100")
SEATS = table("Booth|Seats", "1|4", "2|4", "3|6")
WINS = table("Team|Wins", "Reds|1", "Blues|2", "Greens|3")
OFFERS = table("Seats|Price", "4|40", "4|50", "6|60")
SALES = table("Region|Units sold", "North|1", "North|2", "South|3")
ROOMS = table("房间|租金", "1|900", "2|850", "3|1100")
UNITS = table("楼栋|房间|租金", "甲|1|900", "甲|2|850", "乙|1|1100")
FLOORS = table("楼栋|房间|租金", "甲|1|900", "甲|2|850", "乙|3|1100")
BOOTHS = table("包厢|座位", "1|4", "2|4", "3|6")


@pytest.mark.parametrize(
    ("question", "asked", "language", "expected"),
    [
        ("How many flats are there?", FLATS, "en", "3"),
        ("How many flats do we have in total?", FLATS, "en", "3"),
        ("How many flats have a rent above 880?", FLATS, "en", "2"),
        ("How many flats are there?", TWO_FLATS, "en", "2"),
        ("How many flats are there?", HOUSES, "en", "3"),
        ("How many flats are in house A?", HOUSES, "en", "2"),
        ("How many flats are there?", AGAIN, "en", "3"),
        ("How many flats are in house A?", AGAIN, "en", "2"),
        ("How many flats are there?", LEVELS, "en", "4"),
        ("How many flats are there?", TURNED, "en", "4"),
        ("一共有多少个房间？", UNITS, "zh", "3"),
        ("一共有多少个房间？", ROOMS, "zh", "3"),
        ("房间有多少个？", ROOMS, "zh", "3"),
        ("有多少个房间？", FLOORS, "zh", "3"),
        ("租金超过880的房间有几个？", FLOORS, "zh", "2"),
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


def test_numbers_that_may_name_rows_are_neither_counted_nor_summed() -> None:
    flats = table("Flat|Rent", "101|900", "102|850", "201|1100")
    assert unasked("How many flats are there?", flats, "en") == []
