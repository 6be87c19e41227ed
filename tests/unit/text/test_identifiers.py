"""Which names of a question the texts do not have."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sextant.text.analysis import find_unmentioned

TEXTS = [
    "The Heron 3 carries 2,400 parcels an hour; the Heron 3 XL carries more.",
    "E47: belt slips. BM-40 and SC110 are spare parts. Firmware 2.8.1 came with 3.4.1.",
    "苍鹭3于 3 月 14 日停机 42 分钟，见 INC-2025-017。",
]


@pytest.mark.parametrize(
    ("question", "missed"),
    [
        ("What is the flow rate of the Heron 5?", ["Heron 5"]),
        ("What is the flow rate of the Heron 3?", []),
        ("苍鹭5的流量是多少？", ["苍鹭5"]),
        ("苍鹭 3 或苍鹭3 XL 的流量？", []),
        ("What does E99 mean, and E47?", ["E99"]),
        ("询问E47与BM-41的关系", ["BM-41"]),
        ("bm40 price, SC-110 price", []),
        ("What happened in INC-2025-018?", ["INC-2025-018"]),
        ("What is new in v2.8.1?", []),
        ("What is new in v2.8.2?", ["v2.8.2"]),
        ("When was version 3.2 released?", ["3.2"]),
        ("When was version 3.4 released?", []),
        ("2.8.1 和 2.8.2 有什么区别？", ["2.8.2"]),
        ("版本 3.5 何时发布？", ["3.5"]),
    ],
)
def test_a_thing_that_no_text_names_is_told_from_one_of_nearly_the_same_name(
    question: str, missed: list[str]
) -> None:
    assert find_unmentioned(question, TEXTS) == missed


@pytest.mark.parametrize(
    "question",
    [
        "What happened on March 20?",
        "2025.3.14 发生了什么？",
        "What costs 3.2 euros?",
        "Who is 10.0.0.1?",
        "Which songs of the 1980s came 20th?",
        "停机 50 分钟以上怎么办？",
        "Who are the Rolling 7?",
        "停机超过10公里？",
    ],
)
def test_dates_quantities_and_names_that_the_texts_do_not_know_are_no_such_things(
    question: str,
) -> None:
    assert find_unmentioned(question, TEXTS) == []


@example("苍鹭3XL")
@given(st.text(st.sampled_from("AbvE3470 -._苍鹭第月")))
def test_a_question_misses_nothing_in_itself(question: str) -> None:
    assert find_unmentioned(question, [question]) == []
