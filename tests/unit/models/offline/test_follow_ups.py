"""A follow-up asks by what it says itself, not by what it borrowed."""

from __future__ import annotations

import pytest

from sextant.models.offline.extractive import ExtractiveAnswerer
from tests.unit.models.offline.passages import item


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
    assert found.quotations[0].sentence == answer


async def test_a_follow_up_that_points_back_is_answered_by_what_it_points_to() -> None:
    text = "The pump has a warranty of two years. The valve lasts long."
    found = await ExtractiveAnswerer().extract(
        "And how long does it last? (warranty, pump)", [item(text)], language="en"
    )
    assert found.quotations[0].sentence == "The pump has a warranty of two years."
