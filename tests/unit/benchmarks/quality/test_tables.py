"""What the table of computed numbers says of the outcomes behind it."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.quality.tables import (
    Outcome,
    TableQuestion,
    line,
    read_number,
    read_table_questions,
)
from sextant.tables.cells.table import make_table
from sextant.tables.results.written import ComputedFinding

TABLE = make_table([["", "2019"], ["Sales", "10"]], 1)


def outcome(answer: str, number: str | None) -> Outcome:
    question = TableQuestion("build", "?", TABLE, "", Decimal(answer), "")
    told = "" if number is None else f"it is {number}"
    return Outcome(question, None if number is None else Decimal(number), told)


@pytest.mark.parametrize(
    ("text", "value", "scale", "number"),
    [
        ("the change is -12.6", "-12.6", "million", "-12.6"),
        ("the share is 22.5%", "22.5%", "percent", "22.5"),
        ("the share is 22.5%", "22.5%", "", "0.225"),
    ],
)
def test_a_number_is_compared_in_the_scale_of_the_known_answer(
    text: str, value: str, scale: str, number: str
) -> None:
    assert read_number(ComputedFinding(text, "c1", value), scale) == Decimal(number)


def test_words_are_no_number() -> None:
    assert read_number(ComputedFinding("the largest is North", "r1c1", "North"), "") is None


def test_a_row_counts_wrong_numbers_among_those_presented() -> None:
    outcomes = [outcome("6.333", "6.3333"), outcome("-2", "2"), outcome("1", None)]
    assert line("build", outcomes) == "| build | 3 | 66.7 % (2) | 50.0 % | 50.0 % (1) | 33.3 % |"


def test_only_questions_for_arithmetic_and_counts_are_read(tmp_path: Path) -> None:
    asked = {"question": "How much?", "scale": ""}
    document = {
        "table": {"uid": "a", "table": [["", "2019"], ["Sales", "10"]]},
        "paragraphs": [{"text": "In millions."}],
        "questions": [
            asked | {"answer_type": "arithmetic", "answer": -1.5},
            asked | {"answer_type": "count", "answer": "1,200"},
            asked | {"answer_type": "span", "answer": ["10"]},
        ],
    }
    path = tmp_path / "dev.json.gz"
    path.write_bytes(gzip.compress(json.dumps([document]).encode()))
    read = list(read_table_questions(path))
    assert [one.answer for one in read] == [Decimal("-1.5"), Decimal(1200)]
    assert {one.caption for one in read} == {"In millions."}
