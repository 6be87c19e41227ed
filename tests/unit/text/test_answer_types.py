"""A question for a date, a number, a name or a reason, and what holds one."""

from __future__ import annotations

import pytest

from sextant.text.statements import AnswerType


@pytest.mark.parametrize(
    ("question", "kind", "holds", "lacks"),
    [
        ("How much does the pump cost?", "number", "It sells for 240 EUR.", "It is sold in shops."),
        ("NX-90 有多重？", "number", "整机重 620 克。", "整机很轻。"),
        ("有多少名学生？", "number", "共有三百名学生。", "学生入校须登记。"),
        ("When did it happen?", "date", "On 5 March it stood still.", "This closes the incident."),
        ("办公室是什么时候启用的？", "date", "2019年启用。", "办公室位于示范路。"),
        (
            "Who founded the Royal Club?",
            "name",
            "It was founded by Ada Quill.",
            "Of the Royal Club.",
        ),
        ("When does the pass expire?", "date", "One year after it is issued.", "If it is unused."),
        ("How often is the pump checked?", "number", "It is checked annually.", "Staff check it."),
        ("How tall is Ann Reed?", "number", "She is 1.8 m tall.", "She flew in 2019."),
        ("发票的税率是多少？", "number", "税率为 6%。", "减除 60000 元。"),
        ("最高能贷多少万元？", "number", "最高一百二十万元。", "应当在十五日内决定额度。"),
        ("多久检查一次？", "number", "每年检查一次。", "按规定检查。"),
        ("When is it due?", "date", "Due date: 04/05/2023", "Due on receipt."),
        ("客服电话是多少？", "contact", "电话 024-3187 6750", "端口为 5244，见 0.0.0.0:5244"),
        ("What is Ann's phone number?", "contact", "(425) 555-0100", "ann@example.com"),
        ("What is Ann's e-mail address?", "contact", "ann@example.com", "(425) 555-0100"),
        ("为什么停机？", "reason", "由于电源故障而停机。", "停机两小时。"),
    ],
)
def test_a_text_holds_the_kind_of_thing_that_is_asked_for(
    question: str, kind: str, holds: str, lacks: str
) -> None:
    asked = AnswerType(question)
    assert asked.kind == kind
    assert asked.is_in(holds) is True
    assert asked.is_in(lacks) is False


def test_a_condition_asks_for_no_date() -> None:
    assert not AnswerType("What should I do when the belt slips?").kind
    assert AnswerType("How much sugar is needed when it boils?").kind == "number"


def test_other_questions_ask_for_none_of_the_kinds() -> None:
    asked = AnswerType("What is the Jurassic period?")
    assert not asked.kind
    assert asked.is_in("It lasted from 201 to 145 million years ago.") is None
    assert not asked.is_quantity
    assert AnswerType("How many pupils are there?").is_quantity


def test_what_is_answered_by_yes_or_no_asks_for_no_date() -> None:
    assert not AnswerType("Are sick days paid out when I quit?").kind
    assert AnswerType("Do you know when they are paid out?").kind == "date"


def test_a_number_of_the_question_answers_nothing() -> None:
    assert AnswerType("How many rooms has house 12?").is_in("House 12 is old.") is False


@pytest.mark.parametrize(
    ("question", "holds", "lacks"),
    [
        ("What does the plan cost?", "Plan | 10.00", "The plan is for teams."),
        ("What does the plan cost?", "There is no charge for teams.", "It begins on 5 March."),
        ("专业版多少钱？", "专业版免费。", "此功能为专业版专享。"),
        ("年费多少钱？", "首年免年费。", "请按时续费，以免停用。"),
        ("标准间多少钱一晚？", "- 标准间：268", "标准间可住三天。"),
        ("How much will I pay?", "A lost card is forty pounds.", "Lost cards are blocked."),
        ("How much are the yearly dues?", "They are forty pounds.", "They are paid by all."),
        ("How much is the fine for a late book?", "It is 20 cents.", "It is paid at once."),
        ("What is the salary of a clerk?", "A clerk gets €2,100.", "A clerk sorts letters."),
        ("How old is Ann Reed?", "She was born in 1987.", "Ann Reed was a guest."),
        ("客服电话是多少？", "客服：400-820-0000", "客服在二楼。"),
        ("客服电话是多少？", "转内线 6021。", "端口为 6021。"),
        ("What is Mia's e-mail address?", "mia (at) example (dot) com", "Mia sits at Holm."),
        ("What is Mia's e-mail address?", "mia dot ree at example dot com", "Mia sits at Holm."),
    ],
)
def test_a_text_without_the_value_that_is_asked_for_misses_it(
    question: str, holds: str, lacks: str
) -> None:
    asked = AnswerType(question)
    assert not asked.misses_value(holds)
    assert asked.misses_value(lacks)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is a clerk?", "A clerk sorts letters."),
        ("When may it be switched off?", "Only after the last guest has left."),
        ("何时启用备用电源？", "市电中断时启用。"),
        ("How often is it cleaned?", "After every use."),
        ("How long may a guest stay?", "Until the house is sold."),
        ("How many guests may I bring?", "As many as you like."),
        ("What is included in the price?", "Breakfast and towels."),
        ("What costs are covered?", "Travel and material."),
        ("How much paid leave do I get?", "Twenty-five days."),
        ("How much is the fine dust limit?", "It is 25 µg."),
        ("How do I change my e-mail address?", "Open the settings."),
        ("谁可以带手机？", "值班员可以携带。"),
    ],
)
def test_where_other_words_may_answer_no_value_is_missed(question: str, text: str) -> None:
    assert not AnswerType(question).misses_value(text)
