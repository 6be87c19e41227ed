"""Misspelt words, told by the words of what was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.models.offline.wording import respell

MANUAL = (
    "The warranty covers the scanner head. Calibration is done by the operator, who has the form."
)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("How long is the waranty?", "How long is the warranty?"),  # a letter too few
        ("Is calibrattion free?", "Is calibration free?"),  # one too many
        ("Who does the calibratoin?", "Who does the calibration?"),  # two swapped
        ("Who has operates?", "Who has operates?"),  # another one may be another word
        ("What do scanners cost?", "What do scanners cost?"),  # a plural is no mistake
        ("Who covered it?", "Who covered it?"),
        ("What about the foam?", "What about the foam?"),  # too short to tell
        ("Where is calibrotoin done?", "Where is calibrotoin done?"),  # two mistakes
        ("What does X-scaner mean?", "What does X-scaner mean?"),  # part of a name
        ("保修期多长？", "保修期多长？"),
    ],
)
def test_a_word_is_read_as_the_one_that_the_passages_hold(typed: str, read: str) -> None:
    assert respell(typed, [MANUAL]) == read


@given(st.text(max_size=60))
def test_without_passages_a_question_stays_as_it_is(question: str) -> None:
    assert respell(question, []) == question


@given(st.lists(st.from_regex(r"[a-z]{5,9}", fullmatch=True), min_size=1, max_size=6))
def test_words_that_the_passages_hold_stay_as_they_are(words: list[str]) -> None:
    assert respell(" ".join(words), [" ".join(words)]) == " ".join(words)
