"""Lines of a table without rules are quoted one by one; its head stands over them and answers nothing itself."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.passages import unruled_tables

TABLE = "Wine list\n\nName Price EUR Bottles\nPort P3 12.50 40\nPort P4 14.00 25\nPort P5 19.90 8"


async def test_the_line_that_is_asked_for_is_quoted_without_its_head() -> None:
    passage = RetrievedItem(ItemKind.CHUNK, "c", TABLE, 1.0, document_id="d")
    question = "What is the price of Port P4?"
    found = await ExtractiveAnswerer().extract(question, [passage], language="en")
    assert [quotation.sentence for quotation in found.quotations] == ["Port P4 14.00 25"]


def test_the_head_stands_over_all_lines_of_numbers() -> None:
    (head,) = unruled_tables(f"{TABLE}\nPrices are net.")
    assert TABLE[head.start : head.end] == "Wine list\n\nName Price EUR Bottles"
    assert head.stands_over(TABLE.index("Port P5"))
    assert head.until == len(TABLE)


@pytest.mark.parametrize(
    "text",
    [
        "The prices hold for all.\nPort P3 12.50\nPort P4 14.00",
        "Wines\nPort P3 12.50\nAll are dry",
        "| Name | Price |\n| --- | --- |\n| Port | 12 |\n| Rum | 14 |",
        "a 1 " * 5000,
    ],
)
def test_sentences_and_ruled_tables_have_no_such_head(text: str) -> None:
    assert not unruled_tables(text)
