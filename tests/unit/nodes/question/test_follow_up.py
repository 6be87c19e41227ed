"""A question that leans on the conversation borrows what it leans on, by rule."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.nodes.question.wording import make_standalone


def turns(*asked: str) -> list[dict[str, str]]:
    return [
        turn
        for question in asked
        for turn in (
            {"role": "user", "content": question},
            {"role": "assistant", "content": "Something about Oslo."},
        )
    ]


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        (
            "What does the warranty of the Heron 3 pump cover?",
            "How long does it last?",
            "How long does it last? (Heron 3, warranty, pump, cover)",
        ),
        ("What is the yield of grade c?", "And its use?", "And its use? (grade c, yield)"),
        ("Is metformin safe?", "Why?", "Why? (metformin, safe)"),
        ("二甲双胍如何服用？", "它的副作用是什么？", "它的副作用是什么？ (二甲双胍, 服用)"),
        ("合同的付款节点有哪些？", "那终验呢？", "那终验呢？ (合同, 付款, 节点)"),
    ],
)
def test_what_it_points_to_is_added(before: str, question: str, whole: str) -> None:
    assert make_standalone(question, turns(before)) == whole


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        ("When was Relay 2.4 published?", "And 2.5.1?", "When was Relay 2.5.1 published?"),
        ("Who has the key of locker 12?", "What about locker 31?", "Who has the key of locker 31?"),
        ("What was sold in 2023?", "And in 2024?", "What was sold in 2024?"),
        ("3.1版什么时候发布的？", "3.2版呢？", "3.2版什么时候发布的？"),
        ("2023年的预算是多少？", "那2024年呢？", "2024年的预算是多少？"),
    ],
)
def test_another_number_takes_the_place_of_the_one_before(
    before: str, question: str, whole: str
) -> None:
    assert make_standalone(question, turns(before)) == whole
    again = turns(before, question)
    assert make_standalone(question.replace("2.5.1", "2.6"), again) == whole.replace("2.5.1", "2.6")


@pytest.mark.parametrize("question", ["And in 2019?", "And box 31?", "那5月呢？"])
def test_a_number_of_something_else_takes_no_place(question: str) -> None:
    before = "Who has the key of locker 12?" if question.isascii() else "2023年的预算是多少？"
    assert question in make_standalone(question, turns(before))


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Who said that the earth is round?",
        "糖尿病患者的主要症状是什么？",
        "其他公司的付款节点有哪些？",
        "Which rules of Acme Corp apply this year?",
        "What are these documents about?",
        "Summarize everything in this knowledge base",
        "这些文档主要讲了什么？",
        "总结一下所有文件的内容",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(question: str) -> None:
    assert (
        make_standalone(question, turns("What does the warranty of the Heron 3 cover?")) == question
    )


@pytest.mark.parametrize("question", ["What is it about?", "上述内容的要点是什么？"])
def test_a_whole_that_was_spoken_of_is_not_all_there_is(question: str) -> None:
    assert make_standalone(question, turns("Is metformin safe?")) != question


def test_a_chain_of_follow_ups_leads_back_to_what_was_named() -> None:
    history = turns("What does the warranty of the Heron 3 cover?", "How long does it last?")
    assert "Heron 3" in make_standalone("And does it cover water?", history)


def test_there_is_nothing_to_borrow_at_the_beginning() -> None:
    assert make_standalone("How long does it last?", []) == "How long does it last?"
    assert make_standalone("Why?", [{"role": "assistant", "content": "Hello!"}]) == "Why?"


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_the_question_itself_is_always_kept(question: str, asked: list[str]) -> None:
    standalone = make_standalone(question, turns(*asked))
    number = re.search(r"\d+", question)
    assert standalone.startswith(question) or (number and number[0] in standalone)


def test_another_code_takes_the_place_of_the_one_before() -> None:
    history = [{"role": "user", "content": "What does error E47 mean?"}]
    asked = make_standalone("And E42?", history)
    assert "error" in asked
    assert "E47" not in asked
