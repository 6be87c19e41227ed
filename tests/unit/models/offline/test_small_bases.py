"""What people ask of one or two short documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sextant.models.offline.extractive import Extraction, ExtractiveAnswerer
from tests.embedders import AngleEmbedder
from tests.unit.models.offline.passages import E5, item


async def extract(question: str, text: str, title: str = "", cosine: float = 0.9) -> Extraction:
    language = "en" if question.isascii() else "zh"
    passage = replace(item(text), metadata={"title": title, "document_title": title})
    answerer = ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=cosine))
    return await answerer.extract(question, [passage], language=language)


def sentences(found: Extraction) -> Sequence[str]:
    return [one.sentence for one in found.quotations]


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        ("What does the permit cost?", "Permit", "The permit costs 52 EUR."),
        ("许可证的费用是多少？", "许可证", "许可证的费用为 52 欧元。"),
        ("How long is the warranty?", "Pumps", "The guarantee on pumps is two years."),
        ("Who is the CEO?", "Team", "Since 2022 the managing director is Ines Brandl."),
        ("什么时候发工资？", "薪酬", "工资于每月十日发放。"),
    ],
)
async def test_the_only_sentence_answers_in_its_own_words(
    question: str, title: str, text: str
) -> None:
    assert sentences(await extract(question, text, title)) == [text]


@pytest.mark.parametrize(
    "question", ["What does the visa for Japan cost?", "Who won the match against Peru?"]
)
async def test_what_the_only_sentence_does_not_speak_of_is_declined(question: str) -> None:
    found = await extract(question, "The permit costs 52 EUR.", "Permit", cosine=0.8)
    assert not found.quotations
    assert found.nearest is not None
