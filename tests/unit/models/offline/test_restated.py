"""Documents that say the same with other values: both are quoted, the later edition first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.restated import restates
from sextant.models.offline.sentence_ranking import rank_sentences
from sextant.text.characters import language_of

Document = tuple[str, str]
"""The name of a file, and what it says."""


def items_of(*documents: Document) -> list[RetrievedItem]:
    return [
        RetrievedItem(
            ItemKind.CHUNK, name, text, 1.0, document_id=name, metadata={"filename": name}
        )
        for name, text in documents
    ]


async def quoted(question: str, *documents: Document) -> list[str]:
    found = await ExtractiveAnswerer().extract(
        question, items_of(*documents), language=language_of(question)
    )
    return [one.sentence for one in found.quotations]


_EDITIONS = [
    (
        "How long are application logs kept?",
        ("retention-v2.pdf", "Application logs are kept for 90 days."),
        ("retention-v3.pdf", "Application logs are kept for 30 days."),
    ),
    (
        "What is the hotel limit in Lisbon?",
        ("travel-2024.md", "| City | Hotel limit |\n| --- | --- |\n| Lisbon | 140 EUR |"),
        ("travel-2025.md", "| City | Hotel limit |\n| --- | --- |\n| Lisbon | 165 EUR |"),
    ),
    (
        "培训津贴每月多少钱？",
        ("福利制度（第一版）.docx", "培训津贴为每月300元。"),
        ("福利制度（第二版）.docx", "培训津贴为每月500元。"),
    ),
    (
        "新版本哪天发布？",
        ("周会纪要-2026-03-02.md", "新版本定于3月20日发布。"),
        ("周会纪要-2026-03-09.md", "新版本定于4月8日发布。"),
    ),
]


@pytest.mark.parametrize("earlier_is_found_first", [True, False])
@pytest.mark.parametrize(("question", "earlier", "later"), _EDITIONS)
async def test_of_two_editions_the_later_is_quoted_before_the_earlier(
    question: str, earlier: Document, later: Document, *, earlier_is_found_first: bool
) -> None:
    found = (earlier, later) if earlier_is_found_first else (later, earlier)
    last_lines = [text.rpartition("\n")[2].strip("| ") for _, text in (later, earlier)]
    assert await quoted(question, *found) == last_lines


async def test_an_edition_that_the_question_names_stays_first() -> None:
    _, earlier, later = _EDITIONS[0]
    found = await quoted("How long are application logs kept in version 2?", earlier, later)
    assert found[0] == earlier[1]


async def test_what_is_said_twice_is_quoted_once() -> None:
    said = "Application logs are kept for 30 days."
    found = await quoted("How long are application logs kept?", ("a.md", said), ("b.md", said))
    assert found == [said]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "How many days apart are the terms of gold and silver partners?",
            "- Gold partners: terms of 60 days\n- Silver partners: terms of 45 days",
        ),
        (
            "金卡会员和银卡会员的积分有效期差几个月？",
            "- 金卡会员：积分有效期36个月\n- 银卡会员：积分有效期24个月",
        ),
    ],
)
async def test_both_sides_of_a_comparison_are_quoted_however_alike_they_are(
    question: str, text: str
) -> None:
    assert len(await quoted(question, ("terms.md", text))) == 2


@given(values=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)))
def test_only_other_values_make_another_statement_of_the_same_words(
    values: tuple[int, int],
) -> None:
    said = [f"Invoices of suppliers are kept for {value} months." for value in values]
    ranked = rank_sentences("invoices", items_of(*(("a.md", said[0]), ("b.md", said[1]))), "en")
    assert restates(ranked[0], ranked[1]) is (values[0] != values[1])
