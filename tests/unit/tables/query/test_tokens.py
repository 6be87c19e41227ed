"""How a question over a table is cut into tokens, and several computations that it asks for at once."""

from __future__ import annotations

from datetime import date

import pytest

from sextant.tables.query.parsing import asks_computation
from sextant.tables.query.tokens import COLUMNS, Question, find_all, match_at
from sextant.text.characters import plain_of


def cut(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in Question(plain_of(text)).tokens()]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the most expensive", [("filler", "the"), ("max", "most expensive")]),
        ("over 5k", [(">", "over"), ("NUMBER", "5k")]),
        ("at least 20%", [(">=", "at least"), ("NUMBER", "20%")]),
        ("under 1", [("<", "under"), ("NUMBER", "1")]),
        ("not pears", [("not", "not"), ("WORD", "pears")]),
        ("前三名", [("before_behind", "前"), ("NUMBER", "三"), ("measure", "名")]),
        ("超过1百亿", [(">", "超过"), ("NUMBER", "1百亿")]),
        ("中位数", [("refused", "中位"), ("suffix", "数")]),
    ],
)
def test_words_numbers_and_what_no_list_has_are_told_apart(
    text: str, tokens: list[tuple[str, str]]
) -> None:
    assert cut(text) == tokens


def test_a_name_of_the_table_goes_before_words_and_numbers() -> None:
    asked = Question("average minimum stock")
    asked.link("COLUMN", 8, 21, 3)
    assert [(one.kind, one.column) for one in asked.tokens()] == [("mean", -1), ("COLUMN", 3)]


@pytest.mark.parametrize(
    ("text", "year", "days"),
    [
        ("may 2023", None, (date(2023, 5, 1), date(2023, 5, 31))),
        ("12月", 2024, (date(2024, 12, 1), date(2024, 12, 31))),
        ("十二月份", 2024, (date(2024, 12, 1), date(2024, 12, 31))),
        ("2024年", None, (date(2024, 1, 1), date(2024, 12, 31))),
        ("20 october", 2026, (date(2026, 10, 20), date(2026, 10, 20))),
    ],
)
def test_a_date_has_a_first_and_a_last_day(
    text: str, year: int | None, days: tuple[date, date]
) -> None:
    [token] = Question(text, year).tokens()
    assert (token.kind, token.days) == ("DATE", days)


def test_a_month_of_no_year_is_no_date() -> None:
    assert "DATE" not in {one.kind for one in Question("before march").tokens()}


def test_a_pattern_passes_over_what_may_stand_between_and_nothing_else() -> None:
    tokens = Question("not from pears or over 5 or 6").tokens()
    assert match_at(tokens, 0, "not WORD") == [0, 2]
    assert match_at(tokens, 0, "not WORD", skipped=()) == []
    assert match_at(tokens, 0, "not NUMBER") == []
    assert list(find_all(tokens, "or? NUMBER")) == [[5], [6, 7]]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("total price", {"amount", "price", "rate"}),
        ("prices", {"price", "rate"}),
        ("customer no", {"code", "person"}),
        ("nobody", set[str]()),
        ("负责人", {"person"}),
        ("人口", {"amount"}),
    ],
)
def test_the_name_of_a_column_says_what_its_numbers_are(name: str, kinds: set[str]) -> None:
    assert COLUMNS.collect_kinds(name) == kinds


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("刨去那一种药，总销量到底有多少？", True),
        ("哪些药的价格超过20元？", True),
        ("马其顿的总统是谁？", False),
        ("这两种药有什么差别？", False),
        ("What happened over the years?", False),
    ],
)
def test_a_part_of_a_word_asks_for_no_computation(question: str, asks: bool) -> None:
    assert asks_computation(question) is asks
