"""Of a table, the row that is asked for is quoted, and not those beside it."""

from __future__ import annotations

import pytest

from domain.retrieval import ItemKind, RetrievedItem
from models.extractive import ExtractiveAnswerer
from testing.meanings import Meanings

LIMITS = """| City | Limit (EUR) |
| --- | --- |
| Vienna | 140 |
| Tokyo | 180 |
| Other cities | 110 |"""
CEILINGS = """| 城市 | 住宿上限（元） |
| --- | --- |
| 北京 | 650 |
| 苏州 | 450 |
| 其他城市 | 400 |"""


async def quoted(question: str, table: str, language: str) -> set[str]:
    item = RetrievedItem(ItemKind.CHUNK, "table", table, 1.0)
    meanings = Meanings("intfloat/multilingual-e5-small", {}, otherwise=0.91)
    found = await ExtractiveAnswerer(meanings).extract(question, [item], language=language)
    return {quotation.sentence for quotation in found.quotations}


@pytest.mark.parametrize(
    ("question", "table", "language", "row"),
    [
        ("What is the hotel limit in Tokyo?", LIMITS, "en", "Tokyo | 180"),
        ("苏州的住宿上限是多少？", CEILINGS, "zh", "苏州 | 450"),
    ],
)
async def test_the_rows_beside_the_one_asked_for_are_not_quoted(
    question: str, table: str, language: str, row: str
) -> None:
    assert await quoted(question, table, language) == {row}


async def test_two_rows_are_quoted_where_two_are_asked_for() -> None:
    found = await quoted("What are the hotel limits in Tokyo and Vienna?", LIMITS, "en")
    assert found == {"Tokyo | 180", "Vienna | 140"}


@pytest.mark.parametrize(
    ("question", "table", "language", "row"),
    [
        ("What is the hotel limit in the city of Paris?", LIMITS, "en", "Other cities | 110"),
        ("广州的住宿上限是多少？", CEILINGS, "zh", "其他城市 | 400"),
    ],
)
async def test_what_no_row_speaks_of_is_answered_by_the_row_for_all_others(
    question: str, table: str, language: str, row: str
) -> None:
    assert await quoted(question, table, language) == {row}


async def test_the_row_for_others_answers_nothing_about_a_row_that_is_there() -> None:
    assert "Other cities | 110" not in await quoted("Hotel limit in Vienna?", LIMITS, "en")


@pytest.mark.parametrize(
    ("question", "table", "language", "row"),
    [
        ("And in Tokyo? (Vienna, hotel, limit)", LIMITS, "en", "Tokyo | 180"),
        ("那苏州呢？ (北京, 住宿上限)", CEILINGS, "zh", "苏州 | 450"),
    ],
)
async def test_a_follow_up_asks_for_its_own_row_and_not_for_the_one_asked_before(
    question: str, table: str, language: str, row: str
) -> None:
    assert await quoted(question, table, language) == {row}
