"""Lines of hard-wrapped text, put together again."""

from __future__ import annotations

import pytest

from sextant.ingestion.parsing.lines import join_lines, starts_item


@pytest.mark.parametrize(
    "line", ["1. Apples", "1.苹果", "12) pears", "（3）梨", "3、梨", "• pears", "- pears", "① 梨"]
)
def test_a_mark_of_a_list_begins_an_item(line: str) -> None:
    assert starts_item(line)


@pytest.mark.parametrize(
    "line", ["99.95 % per month.", "4.2会改为三分钟", "3.5 mm of play", "12 km on"]
)
def test_a_line_that_goes_on_with_a_number_begins_none(line: str) -> None:
    assert not starts_item(line)


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["the docu-", "mentation"], "the documentation"),
        (["the state-of-the-", "art centre"], "the state-of-the-art centre"),
        (["a self-", "test"], "a self-test"),
        (["model MC-", "200"], "model MC-200"),
    ],
)
def test_a_compound_keeps_its_hyphens(lines: list[str], joined: str) -> None:
    assert join_lines(lines) == joined
