"""A question may use another everyday word than the document does."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.text.other_words import synonym_patterns

ABOUT = """Larkfield makes meters for water works. Since 2022 the managing director is Ines Brandl.
The guarantee on probes is two years."""
SITES = "| Site | Staff |\n| --- | --- |\n| Linz | 84 |\n| Brno | 31 |"


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Who is the CEO?", ABOUT, "Since 2022 the managing director is Ines Brandl."),
        ("How long is the warranty?", ABOUT, "The guarantee on probes is two years."),
        ("How many people work in Brno?", SITES, "Brno | 31"),
        (
            "Where is the NW-400 made?",
            "It has a lid. The NW-400 is manufactured in Utrecht.",
            "The NW-400 is manufactured in Utrecht.",
        ),
        ("NX-90 在哪里生产？", "NX-90 产于苏州。NX-90 有外壳。", "NX-90 产于苏州。"),
        (
            "Who supplies the beams?",
            "The beams are long. The supplier of the beams is Kobe Works.",
            "The supplier of the beams is Kobe Works.",
        ),
        (
            "How heavy is the meter?",
            "The meter is blue. The meter weighs 1.8 kg.",
            "The meter weighs 1.8 kg.",
        ),
        ("谁是首席执行官？", "公司在林茨。现任总经理是沈嘉。", "现任总经理是沈嘉。"),
    ],
)
async def test_a_question_in_other_words_finds_the_sentence_that_answers(
    question: str, text: str, answer: str
) -> None:
    item = RetrievedItem(ItemKind.CHUNK, "one", text, 1.0)
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, [item], language=language)
    assert found.quotations[0].sentence == answer


def test_a_word_may_have_two_meanings() -> None:
    founded = synonym_patterns("When was it founded?")["founded"]
    assert founded.search("公司成立于2009年")
    assert founded.search("公司创始人为高翔")
    assert not synonym_patterns("公司哪一年成立的？")["成立"].search("创始人为高翔")


def test_a_word_without_others_in_its_own_language_is_not_told_by_every_text() -> None:
    otherwise = synonym_patterns("密码是什么？")["密码"]
    assert otherwise.search("the password is kept")
    assert not otherwise.search("工资于每月十五日发放")
    assert not synonym_patterns("Which city?")["city"].search("the town")


def test_words_are_told_whole_and_in_either_language() -> None:
    otherwise = synonym_patterns("Which addresses and prices has the priceless city?")
    assert set(otherwise) == {"price", "city"}
    assert otherwise["price"].search("单价")
    assert not otherwise["price"].search("price")
    assert set(synonym_patterns("密码和地址")) == {"密码", "地址"}
    assert synonym_patterns("地址在哪里？")["地址"].search("the address")
