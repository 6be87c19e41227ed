"""Who is asked for, and which sentences speak of nobody."""

from __future__ import annotations

import pytest

from sextant.text.persons import asks_who, has_who, may_name_person


@pytest.mark.parametrize(
    "question",
    [
        "Who repairs the printer?",
        "To whom do I send it?",
        "And who pays?",
        "谁负责盘点？",
        "押金由哪位收取？",
    ],
)
def test_a_person_is_asked_for(question: str) -> None:
    assert asks_who(question)


@pytest.mark.parametrize("question", ["What did the man who founded it sell?", "Which team won?"])
def test_something_else_is_asked_for(question: str) -> None:
    assert not asks_who(question)


@pytest.mark.parametrize(
    ("question", "somebody"),
    [
        ("how many employees who joined in 2023 are in oslo?", True),
        ("whose salary is the highest?", True),
        ("谁的工资最高？", True),
        ("what is the whole sum?", False),
    ],
)
def test_a_question_speaks_of_somebody_in_whatever_place(question: str, somebody: bool) -> None:
    assert has_who(question) is somebody


@pytest.mark.parametrize(
    "text",
    [
        "Anna repairs it.",
        "It is repaired by Seeblick Elektronik AG.",
        "The warehouse manager counts them.",
        "She signs it.",
        "Klaus repairs it.",
        "James is on call.",
        "由乙方负责。",
        "刘思远批准。",
        "打印机由Anna负责维修。",
        "| Team | Lead |\n| Motion | Ana Roth |",
    ],
)  # fmt: skip
def test_a_sentence_with_somebody_may_answer(text: str) -> None:
    assert may_name_person(text)


@pytest.mark.parametrize(
    "text",
    ["Refunds are possible for 90 days after capture.", "The printer is on the second floor.", "每月18日盘点一次。", "自由取用。"],
)  # fmt: skip
def test_a_sentence_with_nobody_answers_no_such_question(text: str) -> None:
    assert not may_name_person(text)
