"""A question of what is not so is not answered with what is."""

from __future__ import annotations

import pytest

from sextant.models.offline.extractive import ExtractiveAnswerer
from tests.unit.models.offline.passages import item

STORED = "The following chemicals are stored outside: acetone and ethanol."
NOT_STORED = "The acids are not stored outside."
ZH_STORED = "下列化学品可以存放在室外：丙酮和乙醇。"
ZH_NOT_STORED = "酸类不得存放在室外。"


async def quote(question: str, *texts: str, language: str = "en") -> list[str]:
    found = await ExtractiveAnswerer().extract(
        question, [item(text) for text in texts], language=language
    )
    return [one.sentence for one in found.quotations]


@pytest.mark.parametrize(
    ("question", "answer", "opposite"),
    [
        ("Which chemicals are not stored outside?", NOT_STORED, STORED),
        ("Which chemicals are stored outside?", STORED, NOT_STORED),
        (
            "Which items are not allowed in the lab?",
            "Lighters are prohibited in the lab.",
            "All items of clothing are allowed in the lab.",
        ),
        (
            "When is a visa not needed?",
            "A visa is not needed for a stay of a week.",
            "A visa is needed for a stay of a year.",
        ),
        (
            "Which doors open without a badge?",
            "The rear gate opens without a badge.",
            "The front doors open with a badge.",
        ),
    ],
)
async def test_the_opposite_of_what_is_asked_is_not_quoted(
    question: str, answer: str, opposite: str
) -> None:
    assert await quote(question, f"{opposite} {answer}") == [answer]


@pytest.mark.parametrize(
    ("question", "answer", "opposite"),
    [
        ("哪些化学品不得存放在室外？", ZH_NOT_STORED, ZH_STORED),
        ("哪些化学品不能存放在室外？", ZH_NOT_STORED, ZH_STORED),
        ("哪些化学品不可存放在室外？", ZH_NOT_STORED, ZH_STORED),
        ("哪些化学品可以存放在室外？", ZH_STORED, ZH_NOT_STORED),
        ("哪些化學品不得存放在室外？", ZH_NOT_STORED, ZH_STORED),
        ("什么情况算工伤？", "抢险时受伤，算工伤。", "醉酒时受伤，不得算工伤。"),
        (
            "实验室不能携带哪些物品？",
            "实验室严禁携带打火机。",
            "实验室可以携带的物品有手机和电脑。",
        ),
    ],
)
async def test_the_opposite_is_not_quoted_in_chinese(
    question: str, answer: str, opposite: str
) -> None:
    assert await quote(question, f"{opposite}{answer}", language="zh") == [answer]


async def test_the_opposite_is_quoted_where_nothing_else_tells() -> None:
    other = "The forklift is not allowed in the hall."

    assert await quote("Which chemicals are not stored outside?", STORED) == [STORED]
    assert await quote("Which chemicals are not stored outside?", f"{STORED} {other}") == [STORED]
    assert await quote("哪些化学品不得存放在室外？", ZH_STORED, language="zh") == [ZH_STORED]


async def test_the_answer_may_stand_in_another_passage() -> None:
    assert await quote("Which chemicals are not stored outside?", STORED, NOT_STORED) == [
        NOT_STORED
    ]


async def test_a_denial_of_something_else_in_another_passage_does_not_count() -> None:
    allowed, other = (
        "Dogs and other pets are allowed in the hotel.",
        "Smoking is not allowed on the terrace.",
    )

    assert (await quote("Which pets are not allowed in the hotel?", allowed, other))[0] == allowed


async def test_what_either_answer_settles_is_left_as_it_is() -> None:
    lit = "The hall is lit at night."
    unlit = "The hall is not lit at noon."

    for question in ("Is the hall lit?", "Is the hall not lit?"):
        assert set(await quote(question, f"{lit} {unlit}")) == {lit, unlit}
    assert await quote("酸类能不能存放在室外？", ZH_NOT_STORED, language="zh") == [ZH_NOT_STORED]


async def test_a_denial_is_no_answer_for_repeating_its_subject() -> None:
    kept = "年假应在当年内使用完毕，特殊情况可顺延至次年三月底。"
    other = "事假一般不超过三天，特殊情况除外。"

    found = await quote("没休完的年假可以留到什么时候？", f"{other}{kept}", language="zh")

    assert found[0] == kept
