"""Questions for a reason, and what gives one."""

from __future__ import annotations

import pytest

from sextant.text.reasons import asks_why, gives_reason, is_of_reasons


@pytest.mark.parametrize(
    "question",
    [
        "Why was it delayed?",
        "What was the reason for the delay?",
        "为什么延期？",
        "為何延期？",
        "延期的原因是什么？",
        "What caused the delay?",
        "What was the root cause?",
        "延期的根因是什么？",
        "延期是什么造成的？",
    ],
)
def test_who_asks_why_asks_for_a_reason(question: str) -> None:
    assert asks_why(question)


@pytest.mark.parametrize(
    "question",
    ["这种塔被称为什么？", "四氟化碳又叫作为什么？", "下一个园区为何？", "What is a reason?"],
)
def test_who_asks_what_something_is_called_asks_for_none(question: str) -> None:
    assert not asks_why(question)


@pytest.mark.parametrize(
    "text",
    [
        "It was late since the part was missing.",
        "We moved to save money.",
        "因为缺料，推迟了。",
        "盖住以免漏雨。",
    ],
)
def test_a_reason_is_given_with_one_of_many_words(text: str) -> None:
    assert gives_reason(text)


@pytest.mark.parametrize(
    "text", ["Each value has one owner.", "It goes to the depot.", "每个值有一个所有者。"]
)
def test_other_sentences_give_none(text: str) -> None:
    assert not gives_reason(text)


@pytest.mark.parametrize(
    "text", ["The motor is therefore not the cause.", "这不是停机的原因，所以要再查。"]
)
def test_what_denies_a_reason_gives_none(text: str) -> None:
    assert not gives_reason(text)


@pytest.mark.parametrize(
    ("heading", "promises"),
    [
        ("3. Root cause", True),
        ("Reasons for the delay", True),
        ("原因分析", True),
        ("Timeline", False),
    ],
)
def test_some_headings_promise_reasons(heading: str, promises: bool) -> None:
    assert is_of_reasons(heading) is promises
