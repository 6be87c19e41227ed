"""A number and its noun agree."""

from __future__ import annotations

import pytest

from sextant.tables.cells.table import make_table
from sextant.tables.results.findings import compute_findings
from sextant.text.characters import count_noun


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (1, "row", "1 row"),
        (0, "row", "0 rows"),
        (2, "passage", "2 passages"),
        (3, "entity", "3 entities"),
        (1, "entity", "1 entity"),
    ],
)
def test_a_number_is_told_with_its_noun(number: int, noun: str, said: str) -> None:
    assert count_noun(number, noun) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many rows have Team Red?", "1 row has"),
        ("How many rows have Team Blue?", "2 rows have"),
        ("What is the total Salary of Team Red?", "(1 row)"),
        ("What is the total Salary of Team Blue?", "(2 rows)"),
    ],
)
def test_a_finding_of_one_row_says_so(question: str, said: str) -> None:
    rows = [
        ["Name", "Team", "Salary"],
        ["Ann", "Red", "5"],
        ["Bob", "Blue", "4"],
        ["Dan", "Blue", "6"],
    ]
    [found] = compute_findings(question, make_table(rows, header_rows=1), "en").answers
    assert said in found.text
