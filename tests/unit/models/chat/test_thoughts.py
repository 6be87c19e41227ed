"""What a reasoning model thinks aloud is no part of its answer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.thoughts import ThoughtFilter, without_thoughts


def streamed(pieces: list[str]) -> str:
    thoughts = ThoughtFilter()
    return "".join([*map(thoughts.add, pieces), thoughts.finish()])


def cut(text: str, points: list[int]) -> list[str]:
    ends = [0, *sorted(point % (len(text) + 1) for point in points), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


@given(
    thoughts=st.text("ab <>/think\n糖").filter(lambda text: "</think>" not in text),
    points=st.lists(st.integers(0, 500)),
)
def test_thoughts_are_left_out_wherever_the_stream_is_cut(thoughts: str, points: list[int]) -> None:
    text = f"\n<think>{thoughts}</think>\n\nThe answer [1]. <think> is a tag."
    assert streamed(cut(text, points)) == "The answer [1]. <think> is a tag."


@given(text=st.text("ab <thinkx>/\n糖"), points=st.lists(st.integers(0, 500)))
def test_a_text_without_thoughts_is_passed_on_whole(text: str, points: list[int]) -> None:
    if "<think>" in text:
        return
    assert streamed(cut(text, points)) == text.lstrip()


def test_an_answer_is_not_held_back() -> None:
    thoughts = ThoughtFilter()
    assert thoughts.add("The") == "The"
    assert thoughts.add(" <thi") == " <thi"


@pytest.mark.parametrize(
    "text", ["<think>no end", "  <think></think> ", "<think>a</think><think>b"]
)
def test_thoughts_alone_are_no_answer(text: str) -> None:
    assert streamed(list(text)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "<thinking>hm</thinking>yes",
        "<reasoning>hm</reasoning>\nyes",
        "[THINK]hm</think>[/THINK]yes",
        "◁think▷hm◁/think▷yes",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes",
    ],
)
def test_models_mark_their_thoughts_in_ways_of_their_own(text: str) -> None:
    assert streamed([text]) == streamed(list(text)) == "yes"
    assert without_thoughts(text).strip() == "yes"


def test_of_a_whole_text_the_part_after_the_last_thought_counts() -> None:
    assert without_thoughts("hm {1}</think> yes") == " yes"
    assert without_thoughts("<think>hm</think>yes") == "yes"
    assert without_thoughts("yes") == "yes"
    assert without_thoughts("yes <think> but") == "yes "
