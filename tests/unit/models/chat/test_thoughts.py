"""What a reasoning model thinks aloud, and what chat templates put around a turn, is no part of its answer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk, HumanMessage

from sextant.models.chat.tally import Tally, ThoughtFilter


def streamed(pieces: list[str]) -> str:
    return streamed_by(ThoughtFilter(), pieces)


def streamed_by(thoughts: ThoughtFilter, pieces: list[str]) -> str:
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
    if "<think>" in text or "</think>" in text:
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


def shown(thoughts: ThoughtFilter, pieces: list[str]) -> str:
    """Return what a reader has at the end, who takes back what was before a restart."""
    text, restarts = "", 0
    for piece in (*pieces, None):
        given = thoughts.finish() if piece is None else thoughts.add(piece)
        if thoughts.restarts > restarts:
            text, restarts = "", thoughts.restarts
        text += given
    return text


@given(
    thought=st.text("ab <>/hm\n糖").filter(lambda text: text.strip()),
    points=st.lists(st.integers(0, 500)),
    end=st.sampled_from(["</think>", "</thinking>", "[/THINK]", "◁/think▷"]),
)
def test_a_thought_that_only_ends_is_taken_back_wherever_the_stream_is_cut(
    thought: str, points: list[int], end: str
) -> None:
    pieces = cut(f"{thought}{end}\n\nIt is [1].", points)
    thoughts = ThoughtFilter()
    assert shown(thoughts, pieces) == "It is [1]."
    assert (thoughts.restarts, thoughts.ended_unopened) == (1, True)


@given(points=st.lists(st.integers(0, 500)))
def test_of_a_model_that_never_opens_its_thoughts_nothing_is_shown_before_they_end(
    points: list[int],
) -> None:
    thoughts = ThoughtFilter(starts_in_thought=True)
    pieces = cut("Hm. </think>It is [1].", points)
    assert streamed_by(thoughts, pieces) == "It is [1]."
    assert (thoughts.restarts, thoughts.ended_unopened) == (0, True)


def test_where_such_a_model_did_not_think_its_answer_is_whole() -> None:
    thoughts = ThoughtFilter(starts_in_thought=True)
    assert streamed_by(thoughts, list(" It is [1].")) == "It is [1]."
    assert not thoughts.ended_unopened


@pytest.mark.parametrize("text", ["Thoughts stand between <think> and </think> [1].", "a < b"])
def test_an_answer_may_speak_of_thoughts(text: str) -> None:
    assert streamed([text]) == text


def test_an_end_means_nothing_where_it_was_asked_about() -> None:
    thoughts = ThoughtFilter(watches=False)
    assert streamed_by(thoughts, ["It ends with ", "</think> [1]."]) == "It ends with </think> [1]."


def answered(text: str, points: list[int], question: str = "Who owns it?") -> Tally:
    tally = Tally([HumanMessage(question)])
    for piece in cut(text, points):
        tally.add(AIMessageChunk(content=piece))
    tally.finish(lambda _: False)
    return tally


HEADERS = [
    "", "<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>\n\n", "assistant\n\n", "[/INST] ",
    "\ufeff", "<|start|>assistant<|channel|>final<|message|>",
    "<|channel|>analysis<|message|>One owner?<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>analysis<|message|>One?<|end|>", "<seed:think>One?</seed:think>",
]  # fmt: skip
ENDS = [
    "", "<|im_end|>", "<|im_end|>\n<|im_start|>user\nAnd then?", "<|return|>", "</s>", "<end_of_turn>\nMore?",
    "<｜end▁of▁sentence｜>", "<|eot_id|>", "<|end|>",
]  # fmt: skip


@given(
    header=st.sampled_from(HEADERS), end=st.sampled_from(ENDS), points=st.lists(st.integers(0, 300))
)
def test_of_a_turn_the_answer_alone_is_left_wherever_the_stream_is_cut(
    header: str, end: str, points: list[int]
) -> None:
    tally = answered(f"{header}One owner, a < b [1].{end}", points)
    assert (tally.text, tally.is_over) == ("One owner, a < b [1].", bool(end))
    assert not tally.thought_unopened


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Assistants are cheap, models <b>too</b>.", "Who?"),
        ("Turns end with <|im_end|>, as asked.", "What does <|im_end|> mean?"),
        ("Turns end with <|im_end|>, as asked.", "[1] A turn ends with ‹|im_end|>. Where?"),
        ('{"a": "<|im_end|>"}', "JSON?"),
    ],
)
def test_what_may_be_said_of_tokens_stays(text: str, question: str) -> None:
    assert answered(text, list(range(0, 60, 3)), question).text == text


@pytest.mark.parametrize(
    ("ended", "is_answer", "text"),
    [("stop", True, "One owner [1]."), ("stop", False, ""), ("length", True, "")],
)
def test_a_thought_without_an_end_may_be_the_answer(
    ended: str, text: str, *, is_answer: bool
) -> None:
    tally = Tally([HumanMessage("Who owns it?")])
    for piece in ("<think>One ow", "ner [1]."):
        tally.add(AIMessageChunk(content=piece))
    tally.add(AIMessageChunk(content="", response_metadata={"finish_reason": ended}))
    tally.finish(lambda _: is_answer)
    assert tally.text == text
