"""A question why is answered by a reason."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.testing.hash_embedder import AngleEmbedder
from tests.unit.models.offline.passages import E5, item

OWNERSHIP = "Rust 用所有权代替垃圾回收，每个值有一个所有者。"


@pytest.mark.parametrize("reason", ["", "因为它没有停顿，值一离开作用域就被释放。"])
async def test_a_short_question_why_is_answered_only_where_a_reason_is_given(reason: str) -> None:
    items = [item(f"{OWNERSHIP}{reason}")]
    found = await ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.9)).extract(
        "为什么用 Rust？", items, language="zh"
    )
    assert bool(found.quotations) == bool(reason)


async def test_of_sentences_that_speak_of_it_the_one_with_the_reason_comes_first() -> None:
    items = [
        item(
            "The ordering system goes live in June. The ordering system is late since the bank is."
        )
    ]
    found = await ExtractiveAnswerer().extract(
        "Why is the ordering system late?", items, language="en"
    )
    assert found.quotations[0].sentence == "The ordering system is late since the bank is."


async def test_a_short_question_why_is_answered_by_the_reason_before_what_has_more_words() -> None:
    texts = ("The drive belt tore.", "The belt was too tight because the gauge was wrong.")
    items = [
        RetrievedItem(ItemKind.CHUNK, text, text, 1.0, document_id="incident") for text in texts
    ]
    found = await ExtractiveAnswerer().extract("Why did the belt tear?", items, language="en")
    assert found.quotations[0].sentence == texts[1]
