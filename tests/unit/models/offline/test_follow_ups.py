"""A follow-up asks by what it says itself, not by what it borrowed."""

from __future__ import annotations

import pytest

from sextant.models.offline.extractive import ExtractiveAnswerer
from tests.unit.models.offline.passages import item


async def test_a_follow_up_is_not_answered_by_what_was_asked_before_it() -> None:
    leave = item("Employees have 28 days of paid leave a year. Leave is planned in spring.")
    found = await ExtractiveAnswerer().extract(
        "What about sick leave? (days, employees)", [leave], language="en"
    )
    assert not found.quotations


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "那天津呢？ (石家庄, 分公司)",
            "天津分公司增长最快。石家庄分公司下滑，主要原因是两名客户经理离职。",
            "天津分公司增长最快。",
        ),
        (
            "And for the motor? (warranty, pump, years)",
            "The pump has a warranty of two years. The motor is covered for five.",
            "The motor is covered for five.",
        ),
    ],
    ids=["zh", "en"],
)
async def test_a_follow_up_is_answered_by_what_it_names_instead(
    question: str, text: str, answer: str
) -> None:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, [item(text)], language=language)
    assert [quote.sentence for quote in found.quotations] == [answer]


async def test_a_follow_up_that_points_back_is_answered_by_what_it_points_to() -> None:
    text = "The pump has a warranty of two years. The valve lasts long."
    found = await ExtractiveAnswerer().extract(
        "And how long does it last? (warranty, pump)", [item(text)], language="en"
    )
    assert found.quotations[0].sentence == "The pump has a warranty of two years."
