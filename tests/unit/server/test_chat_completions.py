"""Answers written as chat completions, and chats read as questions."""

from __future__ import annotations

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sextant.domain.answers import (
    Answer,
    Citation,
    Cited,
    Done,
    Failed,
    Reset,
    Source,
    Status,
    Token,
    Usage,
)
from sextant.domain.errors import OptionInvalid, QuestionInvalid
from sextant.domain.questions import field_at
from sextant.domain.retrieval import AUTO, Mode
from sextant.nodes.question.source_lists import sources_list, without_list
from sextant.server.openai import schemas as messages
from sextant.server.openai.routes import CompletionWriter
from sextant.server.openai.schemas import (
    ChatMessage,
    ChatRequest,
    ImageUrl,
    MessagePart,
    ModelNotFound,
)


def source(marker: int, filename: str = "handbook.pdf", page: int | None = 3) -> Source:
    return Source(marker, "d", filename, "c", "Leave", ("Leave",), page, "25 days.", 0.9)


NAMES = st.text(max_size=60)


@pytest.mark.parametrize(
    "text",
    [
        "\n\nSources:\n- [1] " + " " * 2000 + "\n" * 200_000 + "x",
        "\n\nSources:\n- [1] " * 50_000 + "\nx",
        "\n\nSources:" + "\n- [1] a" * 50_000 + "\nx",
    ],
)
def test_what_only_looks_like_a_list_stays_and_costs_nothing(text: str) -> None:
    """White space below an entry was tried in two thousand ways, each to the end of the text."""
    began = time.process_time()
    assert without_list(text) == text
    assert time.process_time() - began < 5


@given(st.text(max_size=200), st.lists(NAMES, min_size=1, max_size=5))
def test_a_list_of_sources_is_taken_out_again_whatever_files_are_called(
    answer: str, filenames: list[str]
) -> None:
    sources = [source(n + 1, name) for n, name in enumerate(filenames)]
    assert without_list(answer + sources_list(sources, answer)) == without_list(answer)


@given(NAMES)
def test_the_name_of_a_file_makes_no_link_image_or_line(filename: str) -> None:
    [line] = sources_list([source(1, filename)], "An answer.").split("\n")[3:]
    assert line.startswith("- [1] ")
    assert not set("[]<>`|\\") & set(line.removeprefix("- [1] "))


def test_a_list_names_section_and_page_in_the_answers_language() -> None:
    assert (
        sources_list([source(1)], "An answer.") == "\n\nSources:\n- [1] handbook.pdf › Leave › p. 3"
    )
    assert sources_list([source(2, page=None)], "答案。").startswith("\n\n来源：\n- [2]")
    assert sources_list([], "An answer.") == ""


@pytest.mark.parametrize(
    ("name", "graph_id", "chosen"),
    [
        ("sextant", None, ("auto", "medium", "default")),
        ("sextant-mix", None, ("mix", "medium", "default")),
        ("sextant-high", None, ("auto", "high", "default")),
        ("sextant-mix-low:hr", None, ("mix", "low", "hr")),
        ("sextant:hr", None, ("auto", "medium", "hr")),
        ("sextant-naive:a:b-c", None, ("naive", "medium", "a:b-c")),
        ("sextant-naive:hr", "law", ("naive", "medium", "law")),
    ],
)
def test_a_models_name_says_mode_effort_and_knowledge_base(
    name: str, graph_id: str | None, chosen: tuple[str, str, str]
) -> None:
    assert messages.parse_model_name(name, graph_id) == chosen


@pytest.mark.parametrize(
    "name", ["", "gpt-9", "sextant-", "sextant-auto", "sextant-high-mix", "sextant mix", "hr"]
)
def test_other_names_are_no_models(name: str) -> None:
    with pytest.raises(ModelNotFound):
        messages.parse_model_name(name, None)


def test_every_listed_model_can_be_asked() -> None:
    chosen = [
        messages.parse_model_name(model["id"], None)
        for model in messages.models_response(["default", "hr"])
    ]
    assert {graph for _, _, graph in chosen} == {"default", "hr"}
    assert {mode for mode, _, _ in chosen} == {AUTO, *Mode}
    assert {effort for _, effort, _ in chosen} == {"low", "medium", "high"}


def chat(*turns: tuple[str, str]) -> list[ChatMessage]:
    return [ChatMessage.model_validate({"role": role, "content": text}) for role, text in turns]


def test_rules_stay_at_the_head_of_a_history_that_is_cut() -> None:
    turns = [("user", f"question {n}") for n in range(30)]
    said = messages.read_conversation(
        chat(("system", "Be brief."), *turns, ("user", "And now?")), 4
    )
    assert said.question == "And now?"
    assert [turn["content"] for turn in said.history] == [
        "Be brief.",
        "question 27",
        "question 28",
        "question 29",
    ]


def test_of_a_chat_as_long_as_it_may_be_the_newest_are_read_and_the_rules() -> None:
    """Clients send all that was ever said; that is cut, and no reason to refuse the question."""
    said = [{"role": "user", "content": f"question {n}"} for n in range(5000)]
    rules = {"role": "system", "content": "Be brief."}
    sent = ChatRequest.model_validate({"model": "sextant", "messages": [rules, *said]}).messages
    assert len(sent) == 1001
    read = messages.read_conversation(sent, 3)
    assert read.question == "question 4999"
    assert [turn["content"] for turn in read.history] == [
        "Be brief.",
        "question 4997",
        "question 4998",
    ]


def test_what_another_model_did_with_tools_is_left_out() -> None:
    """As a chat holds it that had a model with tools before."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    sent = [
        {"role": "user", "content": "How is the weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "42 degrees"},
        {"role": "assistant", "content": "Hot."},
        {"role": "user", "content": "And the leave?"},
    ]
    chat = ChatRequest.model_validate({"model": "sextant", "messages": sent})
    said = messages.read_conversation(chat.messages, 4)
    assert said.question == "And the leave?"
    assert [turn["content"] for turn in said.history] == ["How is the weather?", "Hot."]


@pytest.mark.parametrize("turns", [0, 1])
def test_no_history_is_taken_where_none_fits(turns: int) -> None:
    said = messages.read_conversation(chat(("user", "one"), ("user", "two")), turns)
    assert len(said.history) == turns


def test_the_last_message_must_be_the_users() -> None:
    with pytest.raises(QuestionInvalid):
        messages.read_conversation(chat(("user", "Hello"), ("assistant", "Hi")), 4)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/x.png", "file:///etc/passwd", "data:text/html;base64,AA", "x.png"]
)
def test_images_that_would_have_to_be_fetched_are_refused(url: str) -> None:
    part = MessagePart(type="image_url", image_url=ImageUrl(url=url))
    with pytest.raises(OptionInvalid):
        messages.read_conversation([ChatMessage(role="user", content=(part,))], 4)


def streamed(
    completion: CompletionWriter, *events: Token | Cited | Reset | Done | Failed | Status
) -> list[str]:
    encode = completion.encoder()
    text = b"".join(encode(event) for event in events).decode()
    return [line.removeprefix("data: ") for line in text.split("\n\n") if line]


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (7, "messages[0].content"),
        (["x"], "messages[0].content[0]"),
        ([{"type": "file", "file": {"file_id": "x"}}], "messages[0].content[0].type"),
        ([{"type": "image_url", "image_url": "x"}], "messages[0].content[0].image_url"),
    ],
)
def test_what_cannot_be_content_is_told_by_its_place(content: object, field: str) -> None:
    asked = {"model": "sextant", "messages": [{"role": "user", "content": content}]}
    with pytest.raises(ValidationError) as refused:
        ChatRequest.model_validate(asked)
    assert field_at(refused.value.errors()[0]["loc"]) == field


def test_a_stream_begins_with_the_role_and_ends_with_done() -> None:
    answer = Answer("Ünïcode \0 [1].", "mix", sources=(source(1),), usage=Usage(truncated=True))
    lines = streamed(
        CompletionWriter("sextant", include_usage=True),
        Status("analyze"),
        Token("Ünïcode "),
        Token("\0 [1]."),
        Done(answer),
    )
    *chunks, end = lines
    assert end == "[DONE]"
    first, *middle, last, counted = map(orjson.loads, chunks)
    assert first["choices"][0]["delta"]["role"] == "assistant"
    said = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in middle)
    assert said == answer.answer + sources_list(answer.sources, answer.answer)
    assert last["choices"][0]["finish_reason"] == "length"
    assert counted["usage"]["total_tokens"] == 0


def supported(sentence: str, support: float = 1.0) -> Cited:
    return Cited(Citation(1, sentence, "a.md", sentence, 0, len(sentence), support))


def contents(*events: Token | Cited | Reset | Done | Failed | Status) -> list[str]:
    """Return the pieces of text that a client gets."""
    *lines, end = streamed(CompletionWriter("sextant", list_sources=False), *events)
    assert end == "[DONE]"
    return [
        piece
        for line in lines
        for choice in orjson.loads(line)["choices"]
        if (piece := choice["delta"].get("content"))
    ]


def test_text_that_a_check_withdraws_is_never_sent() -> None:
    told = contents(
        Token("Wrong [1]."), supported("Wrong [1].", 0.3), Reset("mended"), Token("Right."), Done(Answer("Right.", "mix"))
    )  # fmt: skip
    assert told == ["Right."]


def test_what_is_supported_is_sent_at_once_and_what_is_doubtful_when_it_is_settled() -> None:
    good, doubted = "One owner [1].", " Two cats. (unverified)"
    told = contents(
        Token(good), supported(good), Token(doubted), Token(" Three [1]."), supported("Three [1]."),
        Reset("mended"), Token(good), supported(good), Token(" Three [1]."), supported("Three [1]."),
        Done(Answer(f"{good} Three [1].", "mix")),
    )  # fmt: skip
    assert told == [good, " Three [1]."]


def test_a_failure_is_an_error_of_openais_shape() -> None:
    [line] = streamed(
        CompletionWriter("sextant"), Failed("model_unavailable", "It is down.", retryable=True)
    )
    error = orjson.loads(line)["error"]
    assert (error["code"], error["type"]) == ("model_unavailable", "server_error")
