"""A question and its conversation: from messages or from fields, within a budget."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from sextant.domain.answers import Answer, Citation, Source, Trust
from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import LimitSettings
from sextant.nodes.question.conversation import (
    AnswerMessages,
    as_history,
    closing,
    history_of,
    opening,
    read_question,
    trim_history,
)
from sextant.nodes.state import State
from sextant.text.characters import estimate_tokens

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
HISTORY = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.text(max_size=60)}
    ),
    max_size=30,
)


def test_the_last_message_is_the_question_where_none_is_given() -> None:
    before: list[AnyMessage] = [HumanMessage("What is a pump?"), AIMessage("A machine.")]
    question = read_question(State(messages=[*before, HumanMessage("Who makes it?", id="q")]))
    assert (question.query, question.before) == ("Who makes it?", before)
    assert read_question(State(query="Why?", messages=before)).query == "Why?"
    assert read_question(State(messages=before)).query == ""  # the last word was ours


@pytest.mark.parametrize(
    "part",
    [
        PICTURE,
        {"type": "image_url", "image_url": "data:image/png;base64,AAAA"},
        {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "AAAA"},
        {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
    ],
)
def test_images_of_a_message_belong_to_the_question_and_are_not_kept(part: dict[str, Any]) -> None:
    content: list[str | dict[str, Any]] = [{"type": "text", "text": "What is this?"}, part]
    question = read_question(State(messages=[HumanMessage(content, id="q")]))
    assert question.query == "What is this?"
    assert question.content == [{"type": "image", "img_path": "data:image/png;base64,AAAA"}]
    [kept] = opening(question)["messages"]
    assert (kept.id, kept.content) == ("q", "What is this?\n[image]")
    assert opening(read_question(State(messages=[HumanMessage("Why?", id="q")]))) == {}


def test_other_parts_of_a_message_are_refused_by_name() -> None:
    with pytest.raises(OptionInvalid, match="file") as refused:
        read_question(State(messages=[HumanMessage([{"type": "file", "data": "AAAA"}])]))
    assert refused.value.field == "messages"


def test_a_history_that_is_given_counts_else_the_messages() -> None:
    messages: list[AnyMessage] = [
        SystemMessage("Be brief."),
        HumanMessage("One?"),
        ToolMessage("7", tool_call_id="1"),
        AIMessage("Two."),
    ]
    assert as_history(messages) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "Two."},
    ]
    state, limits = State(query="Why?", messages=messages), LimitSettings()
    assert history_of(state, read_question(state), limits) == as_history(messages)
    state.history = [{"role": "user", "content": "Given."}]
    assert history_of(state, read_question(state), limits) == state.history


@given(HISTORY, st.integers(0, 12), st.integers(0, 60))
def test_the_newest_turns_stay_whole_within_both_bounds(
    history: list[dict[str, str]], turns: int, tokens: int
) -> None:
    kept = trim_history(history, turns, tokens)
    clean = trim_history(history, len(history) + 1, 10**9)
    assert kept == clean[len(clean) - len(kept) :]
    assert len(kept) <= turns
    costs = [estimate_tokens(turn["content"]) for turn in kept]
    assert sum(costs) <= tokens or len(kept) == 1
    if history and turns:
        assert kept  # the newest in any case
    if 0 < len(kept) < min(turns, len(clean)):
        assert sum(costs) + estimate_tokens(clean[-len(kept) - 1]["content"]) > tokens


def test_instructions_at_the_head_stay_however_long_the_conversation() -> None:
    rules = {"role": "system", "content": "Be brief."}
    said = [{"role": "user", "content": f"question {n}"} for n in range(9)]
    assert trim_history([rules, *said], 3, 1000) == [rules, *said[-2:]]
    assert trim_history([rules, *said], 1, 1000) == [rules]
    assert trim_history([rules, *said], 0, 1000) == []


ANSWER = Answer(
    "It is red [1].",
    "mix",
    citations=(Citation(1, "It is red.", "c1", "red", 3, 6, 1.0),),
    sources=(Source(1, "d1", "a.md", "c1", "A", ("A",), None, "long text", 0.5, {"vector": {}}),),
    trust=Trust.SUPPORTED,
)


def close(state: State, answer: Answer, warnings: list[str], most: int) -> list[Any]:
    return closing(state, answer, warnings, most, AnswerMessages(state))


def test_lists_of_sources_go_from_answers_and_stay_in_what_a_person_wrote() -> None:
    text = "See this.\n\nSources:\n- [1] a.md"
    turns = as_history([HumanMessage(text), AIMessage(text)])
    assert [turn["content"] for turn in turns] == [text, "See this."]


def test_a_turn_ends_with_its_question_and_its_answer() -> None:
    question, said = close(State(asked="Why?", strategy="mix"), ANSWER, ["late"], most=10)
    assert (question.content, said.content) == ("Why?", "It is red [1].")
    assert said.id == f"{question.id}-answer"
    about = said.additional_kwargs
    assert about["citations"][0]["quote"] == "red"
    assert about["sources"][0]["section_path"] == ["A"]
    assert not {"text", "lanes"} & about["sources"][0].keys()
    assert (about["mode"], about["grounded"], about["warnings"]) == ("mix", True, ["late"])


def test_a_question_that_came_as_a_message_is_not_said_twice() -> None:
    [said] = close(State(messages=[HumanMessage("Why?", id="q")]), ANSWER, [], most=10)
    assert said.id == "q-answer"


def test_a_question_that_was_left_without_an_answer_does_not_get_the_next_one_s() -> None:
    left = HumanMessage("Who?", id="q")
    question, said = close(State(asked="Why?", messages=[left]), ANSWER, [], most=10)
    assert question.content == "Why?"
    assert said.id == f"{question.id}-answer" != "q-answer"


def test_of_a_long_conversation_the_oldest_turns_go() -> None:
    messages: list[AnyMessage] = [HumanMessage("x", id=f"m{n}") for n in range(6)]
    changes = close(State(asked="Why?", messages=messages), ANSWER, [], most=3)
    gone = [change.id for change in changes if isinstance(change, RemoveMessage)]
    assert gone == ["m0", "m1"]
