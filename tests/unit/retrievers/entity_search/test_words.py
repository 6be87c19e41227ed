"""Which words of a question full text is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.entity_search.lanes import words_of
from sextant.text.characters import MARKS


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Rust内存安全特性", ["rust", "内存", "安全", "特性"]),
        ("What is the memory of a program?", ["memory", "program"]),
        ("糖尿病患者的主要症状是什么？", ["糖尿病", "患者", "主要症状"]),
        ("ＡＢＣ abc", ["abc"]),
        ("铁", ["铁"]),
        ("的了吗", []),
        ("the of and", []),
        ("?!… 🙂", []),
        ("C++ / C#", ["c"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("", []),
        ("\U0002ebe1", []),
    ],
)
def test_content_words_in_order_each_once(question: str, words: list[str]) -> None:
    assert words_of(question) == words


@given(st.text(max_size=300))
def test_words_are_letters_with_their_marks_and_digits_alone_and_bounded(question: str) -> None:
    words = words_of(question)
    assert len(words) <= 64
    assert all(char.isalnum() or char in MARKS for word in words for char in word)
    assert len(set(words)) == len(words)
