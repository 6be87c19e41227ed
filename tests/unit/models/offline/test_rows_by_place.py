"""A follow-up may call a row of the table that answered by its place."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.rows_by_place import asked_place

PLANS = "| Plan | Price |\n| --- | --- |\n| Starter | 19 |\n| Team | 79 |\n| Enterprise | 390 |"


async def quoted(question: str, *items: RetrievedItem) -> list[str]:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, items, language=language)
    return [quotation.sentence for quotation in found.quotations]


def passage(text: str, context: str = "") -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, text[:20], text, 1.0, metadata={"context": context})


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("and the second one? (Starter, plan, price)", ["Team | 79"]),
        ("What about the 3rd? (Starter, plan, price)", ["Enterprise | 390"]),
        ("And the last one? (Starter, price)", ["Enterprise | 390"]),
        ("那第二个呢？ (Starter, 套餐)", ["Team | 79"]),
        ("and the fifth one? (Starter, price)", []),
    ],
)
async def test_the_row_at_that_place_answers(question: str, rows: list[str]) -> None:
    assert await quoted(question, passage(PLANS)) == rows


async def test_rows_without_the_beginning_of_their_table_have_no_place() -> None:
    rest = passage("| Team | 79 |\n| Enterprise | 390 |", "| Plan | Price |\n| --- | --- |")
    assert await quoted("and the second one? (Team, plan, price)", rest) == []


async def test_the_last_row_is_not_known_where_the_table_goes_on_elsewhere() -> None:
    rest = passage("| Campus | 9 |", "| Plan | Price |\n| --- | --- |")
    assert await quoted("And the last one? (Starter, plan, price)", passage(PLANS), rest) == []


@pytest.mark.parametrize(
    "question",
    ["and the second one?", "The second plan? (Starter)", "第二个套餐呢？ (价格)", "Why? (second)"],
)
def test_other_questions_ask_for_more_than_a_place(question: str) -> None:
    assert asked_place(question) is None
