"""Structured output from models that follow the schema, nearly follow it, or do not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.graph import END, START, StateGraph
from pydantic import Field

from sextant.domain.errors import ModelOutputInvalid, ModelRejected
from sextant.models.chat import dialect
from sextant.models.chat.call_limits import allowing
from sextant.models.chat.chat_model import as_chat_model
from sextant.models.chat.structured import ModelReply
from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import (
    Reply,
    as_json,
    empty,
    failing,
    fence_json,
    invalid_json,
    rate_limited,
    refusal,
)
from tests.clock import Clock

ASK = [("system", "You route questions."), ("user", "糖尿病怎么治疗？")]


class Route(ModelReply):
    mode: str
    keywords: list[str] = Field(default_factory=list[str])


GOOD = {"mode": "local", "keywords": ["糖尿病"]}


@pytest.mark.parametrize(
    "reply",
    [
        as_json(GOOD),
        fence_json(GOOD),
        Reply('<think>{"mode": "mix"} perhaps</think>' + as_json(GOOD).text),
        Reply('It is {"mode": "mix"}?</think>\n' + as_json(GOOD).text),
        Reply(
            '<|channel|>analysis<|message|>{"mode": "a"}<|end|><|channel|>final<|message|>'
            + as_json(GOOD).text
        ),
    ],
)
async def test_json_is_read_with_or_without_a_fence_or_a_thought(
    chat_with: Any, reply: Reply
) -> None:
    server, chat = await chat_with([reply])
    route, usage = await chat.structured(ASK, Route)
    assert route == Route(mode="local", keywords=["糖尿病"])
    assert usage.calls == len(server.chat_requests) == 1


async def test_the_schema_is_asked_for_in_the_request(chat_with: Any) -> None:
    server, chat = await chat_with([as_json(GOOD)])
    await chat.structured(ASK, Route)
    request = server.chat_requests[0]
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.messages[-1]["content"].startswith(
        "糖尿病怎么治疗？\n\nAnswer with one JSON object"
    )
    assert '"keywords"' not in request.prompt
    asked = request.body["response_format"]["json_schema"]
    assert asked["name"] == "Route"
    assert asked["schema"]["required"] == ["mode", "keywords"]
    assert request.body["max_tokens"] == 2000


@pytest.mark.parametrize("first", [invalid_json(), as_json({"keywords": []}), refusal(), empty()])
async def test_an_unusable_answer_is_repaired_once(chat_with: Any, first: Reply) -> None:
    server, chat = await chat_with([first, as_json(GOOD)])
    route, usage = await chat.structured(ASK, Route)
    assert route.mode == "local"
    assert usage.calls == 2
    first_asked, second = server.chat_requests
    assert [message["role"] for message in second.messages] == ["system", "user"]
    assert second.prompt.startswith(first_asked.prompt), "its prompt cache has the beginning"


async def test_the_repair_names_what_was_wrong(chat_with: Any) -> None:
    server, chat = await chat_with([as_json({"mode": ["a", "b"], "keywords": []}), as_json(GOOD)])
    await chat.structured(ASK, Route)
    assert "mode: Input should be a valid string" in server.chat_requests[1].prompt


async def test_a_second_unusable_answer_is_an_error_and_there_is_no_third(chat_with: Any) -> None:
    server, chat = await chat_with([invalid_json(), invalid_json(), as_json(GOOD)])
    with pytest.raises(ModelOutputInvalid) as caught:
        await chat.structured(ASK, Route)
    assert caught.value.next_step
    assert len(server.chat_requests) == 2


async def test_where_no_repair_may_be_asked_for_the_answer_is_what_was_wrong(
    chat_with: Any,
) -> None:
    """Not the limit, which the caller can see for himself."""
    server, chat = await chat_with([invalid_json()])
    with allowing(1), pytest.raises(ModelOutputInvalid, match="no JSON object"):
        await chat.structured(ASK, Route)
    assert len(server.chat_requests) == 1


async def test_of_an_answer_that_ignores_the_limit_no_more_is_read_nor_sent_back(
    chat_with: Any,
) -> None:
    endless = as_json({"talk": "x" * 1_000_000})
    server, chat = await chat_with([endless, as_json(GOOD)], limits={"answer_tokens": 100})
    route, _ = await chat.structured(ASK, Route)
    assert route.mode == "local"
    assert len(server.chat_requests[1].prompt) < 10_000


async def test_transient_failures_of_a_structured_call_are_tried_again(chat_with: Any) -> None:
    server, chat = await chat_with([rate_limited(0), as_json(GOOD)])
    _, usage = await chat.structured(ASK, Route)
    assert usage.calls == len(server.chat_requests) == 2
    assert len(server.chat_requests) == 2


@pytest.mark.parametrize(
    ("known", "tried"),
    [
        ("json_object", ["json_schema", "json_object", "json_object"]),
        (None, ["json_schema", "json_object", None, None]),
    ],
)
async def test_an_endpoint_that_refuses_a_format_is_asked_with_less_from_then_on(
    chat_with: Any, known: str | None, tried: list[str | None]
) -> None:
    def format_of(request: ApiRequest) -> str | None:
        kind: str | None = request.body.get("response_format", {}).get("type")
        return kind

    server, chat = await chat_with(
        lambda request: (
            as_json(GOOD) if format_of(request) == known else failing(400, "Unavailable")
        )
    )
    await chat.structured(ASK, Route)
    await chat.structured(ASK, Route)
    assert [format_of(request) for request in server.chat_requests] == tried
    in_words = ['"keywords"' in request.prompt for request in server.chat_requests]
    assert in_words == [one != "json_schema" for one in tried]


async def test_an_endpoint_that_refused_a_format_is_asked_with_it_again_after_an_hour(
    chat_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(1000.0)
    monkeypatch.setattr(dialect, "time", SimpleNamespace(time=clock))
    server, chat = await chat_with([failing(400, "Unavailable"), *[as_json(GOOD)] * 3])
    for later in (0, 3000, 1000):
        clock.now += later
        await chat.structured(ASK, Route)
    asked = [request.body["response_format"]["type"] for request in server.chat_requests]
    assert asked == ["json_schema", "json_object", "json_object", "json_schema"]


async def test_a_request_that_is_refused_in_every_format_is_refused(chat_with: Any) -> None:
    server, chat = await chat_with(lambda _: failing(400, "Your prompt is odd."))
    with pytest.raises(ModelRejected, match="Your prompt is odd"):
        await chat.structured(ASK, Route)
    assert len(server.chat_requests) == 4, "once without usage, too"


async def test_a_request_that_no_form_mends_teaches_nothing(chat_with: Any) -> None:
    odd = [failing(400, "Your prompt is odd.")] * 3
    server, chat = await chat_with(
        [failing(400, "Unavailable"), as_json(GOOD), *odd, as_json(GOOD)]
    )
    await chat.structured(ASK, Route)
    with pytest.raises(ModelRejected):
        await chat.structured(ASK, Route)
    await chat.structured(ASK, Route)
    assert server.chat_requests[-1].body["response_format"]["type"] == "json_object"


async def test_every_request_that_was_refused_for_its_format_counts_as_a_call(
    chat_with: Any,
) -> None:
    _, chat = await chat_with([failing(400, "Unavailable"), failing(400), as_json(GOOD)])
    _, usage = await chat.structured(ASK, Route)
    assert usage.calls == 3


async def test_what_one_chat_model_learnt_the_next_of_the_same_endpoint_knows(
    chat_with: Any,
) -> None:
    server, chat = await chat_with([failing(400, "Unavailable"), as_json(GOOD), as_json(GOOD)])
    await chat.structured(ASK, Route)
    await as_chat_model(chat.llm).structured(ASK, Route)
    forms = [request.body["response_format"]["type"] for request in server.chat_requests]
    assert forms == ["json_schema", "json_object", "json_object"]


@pytest.mark.parametrize(
    "refused",
    [
        failing(400, "No such model.", code="model_not_found"),
        failing(400, "Too much.", code="context_length_exceeded"),
        failing(401),
        failing(403),
        failing(404),
    ],
)
async def test_what_no_other_format_can_mend_is_asked_once(chat_with: Any, refused: Reply) -> None:
    server, chat = await chat_with(lambda _: refused)
    with pytest.raises(ModelRejected):
        await chat.structured(ASK, Route)
    assert len(server.chat_requests) == 1


async def test_models_other_than_openai_are_asked_in_words_alone() -> None:
    chat = as_chat_model(FakeListChatModel(responses=["Well: {'mode': 1}", '{"mode": "mix",}']))
    route, usage = await chat.structured(ASK, Route)
    assert route.mode == "mix"
    assert usage.calls == 2


async def test_no_token_of_the_model_is_in_the_message_stream_of_a_graph(chat_with: Any) -> None:
    server, chat = await chat_with([as_json(GOOD), "The answer itself."])

    async def analyse(_: dict[str, str]) -> dict[str, str]:
        route, _usage = await chat.structured(ASK, Route)
        return {"mode": route.mode}

    async def answer(_: dict[str, str]) -> dict[str, str]:
        pieces = [item async for item in chat.stream(ASK) if isinstance(item, str)]
        return {"answer": "".join(pieces)}

    builder: Any = StateGraph(dict)
    builder.add_node("analyse", analyse)
    builder.add_node("answer", answer)
    builder.add_edge(START, "analyse")
    builder.add_edge("analyse", "answer")
    builder.add_edge("answer", END)
    streamed = [
        chunk.text async for chunk, _ in builder.compile().astream({}, stream_mode="messages")
    ]
    assert streamed == []
    assert len(server.chat_requests) == 2


async def test_json_is_asked_for_at_temperature_0_until_the_model_refuses_that(
    chat_with: Any,
) -> None:
    refused = failing(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    server, chat = await chat_with([refused, as_json(GOOD), as_json(GOOD)])
    await chat.structured(ASK, Route)
    await chat.structured(ASK, Route)
    sent = [request.body for request in server.chat_requests]
    assert [body.get("temperature") for body in sent] == [0, None, None]
    assert all(body["response_format"]["type"] == "json_schema" for body in sent)


async def test_a_lower_limit_that_leaves_no_room_for_thoughts_is_given_up(chat_with: Any) -> None:
    cut = Reply("<think>Let me see", finish_reason="length")
    server, chat = await chat_with([cut, as_json(GOOD), as_json(GOOD)])
    for _ in range(2):
        _, usage = await chat.structured(ASK, Route, repair=False, answer_tokens=100)
        assert not usage.truncated
    sent = [request.body["max_tokens"] for request in server.chat_requests]
    assert sent == [100, 2000, 2000]
    assert all(len(request.messages) == 2 for request in server.chat_requests)
