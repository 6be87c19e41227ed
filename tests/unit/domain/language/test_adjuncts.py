"""What a sentence is set in stands in its opening."""

from __future__ import annotations

import pytest

from sextant.text.adjuncts import find_conditions, opening_adjunct


@pytest.mark.parametrize(
    ("adjunct", "rest"),
    [
        ("During the probation period ", "the notice period is two weeks."),
        ("After probation, ", "either side may end the contract."),
        ("In the first week ", "every employee meets a mentor."),
        ("While working from home, ", "employees must be reachable."),
        ("在试用期内，", "辞职须提前三天通知公司。"),
        ("保修期内，", "人为损坏不在免费维修之列。"),
        ("年假期间，", "工资照常发放。"),
        ("Unlike the basic plan, ", "the premium plan costs 30 EUR."),
        ("与基础版不同，", "专业版每月30元。"),
        ("转正后，", "辞职须提前三十天书面通知。"),
    ],
)
def test_an_opening_adjunct_ends_where_the_sentence_itself_begins(adjunct: str, rest: str) -> None:
    assert opening_adjunct(adjunct + rest) == len(adjunct)


@pytest.mark.parametrize(
    "sentence",
    ["The probation period is six months.", "试用期为三个月。", "In short.", "保修期为三年，自签收之日起算。"],
)  # fmt: skip
def test_other_sentences_have_none(sentence: str) -> None:
    assert opening_adjunct(sentence) == 0


def test_a_question_may_ask_of_a_setting() -> None:
    assert "probation" in find_conditions("What is the notice period during probation?")
    assert "试用期" in find_conditions("试用期内辞职要提前几天通知？")
    assert not find_conditions("How long is the probation period?")
