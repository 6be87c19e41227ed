"""Plain arithmetic, computed exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.nodes.question.arithmetic import compute_term


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("1+1", "1+1 = 2"),
        ("1+1等于几？", "1+1 = 2"),
        ("What is 0.1 + 0.2?", "0.1 + 0.2 = 0.3"),
        ("请计算 3×(4+5)÷2", "3×(4+5)÷2 = 13.5"),
        ("2^10", "2^10 = 1024"),
        ("10 / 3", "10 / 3 ≈ 3.333333333333333333333333333"),
        ("5 - 5", "5 - 5 = 0"),
        ("1+1=", "1+1 = 2"),
    ],
)
def test_a_term_is_told_with_its_value(question: str, answer: str) -> None:
    assert compute_term(question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "1 / 0",
        "9^9^9^9^9",
        "9**9**9**9",
        "1 + (",
        "(" * 90 + "1 + 1" + ")" * 90,
        "1+" * 500 + "1",
        "What happened in 2019?",
        "What is 3-4?",
        "50% + 1",
        "你好",
        "",
    ],
)
def test_what_is_no_term_or_has_no_value_is_left_alone(question: str) -> None:
    assert compute_term(question) in (None, "(" * 90 + "1 + 1" + ")" * 90 + " = 2")


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_integers_are_added_as_they_are(one: int, other: int) -> None:
    assert compute_term(f"{one} + {other}") == f"{one} + {other} = {one + other}"


@given(st.text(alphabet="0123456789 +-*/×÷^%().=几等于", max_size=40))
def test_any_term_is_computed_or_left_alone(question: str) -> None:
    told = compute_term(question)
    assert told is None or "=" in told or "≈" in told
