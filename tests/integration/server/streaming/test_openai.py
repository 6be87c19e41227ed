"""The OpenAI-compatible API, through the clients that people use: `openai` and `langchain-openai`."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import openai
import pytest
import pytest_asyncio
from langchain_openai import ChatOpenAI
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from PIL import Image

from sextant.domain.retrieval import Mode
from sextant.testing.replies import broken_after, failing
from tests.integration.server.served import GRAPH, QUESTION, Served, judging
from tests.pictures import data_uri

ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]
MODEL = f"sextant-naive:{GRAPH}"


@pytest_asyncio.fixture
async def client(served: Served) -> Any:
    async with openai.AsyncOpenAI(
        api_key="any", base_url=f"{served.base_url}/v1", max_retries=0
    ) as opened:
        yield opened


async def test_the_models_are_the_modes_and_the_knowledge_bases(
    client: openai.AsyncOpenAI,
) -> None:
    listed = [model.id async for model in client.models.list()]
    assert listed[:2] == ["sextant", "sextant-naive"]
    assert f"sextant:{GRAPH}" in listed
    assert (await client.models.retrieve(MODEL)).id == MODEL


@pytest.mark.parametrize("mode", list(Mode))
async def test_every_mode_answers_by_its_models_name(
    client: openai.AsyncOpenAI, mode: Mode
) -> None:
    answer = await client.chat.completions.create(
        model=f"sextant-{mode}", messages=ASKED, extra_body={"graph_id": GRAPH}
    )
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert (choice.message.content or "").startswith("Each value in Rust has exactly one owner")
    assert answer.model_extra
    assert answer.model_extra["sextant"]["mode"] == mode
    assert answer.usage
    assert answer.usage.total_tokens > 0


async def test_without_a_name_the_only_knowledge_base_is_asked(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="sextant", messages=ASKED)
    assert "owner [1]." in (answer.choices[0].message.content or "")


async def test_citations_are_in_the_text_and_beside_it(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model=MODEL, messages=ASKED)
    text, beside = answer.choices[0].message.content or "", answer.model_extra or {}
    assert "owner [1]." in text
    assert "\n\nSources:\n- [1] corpus.txt" in text
    [citation], [source] = beside["citations"], beside["sources"]
    assert citation["quote"] in source["text"]


async def test_the_list_of_sources_can_be_left_out(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model=MODEL, messages=ASKED, extra_body={"list_sources": False}
    )
    assert "Sources:" not in (answer.choices[0].message.content or "")


async def test_a_stream_says_the_same_with_its_citations_and_its_usage_at_the_end(
    client: openai.AsyncOpenAI,
) -> None:
    whole = await client.chat.completions.create(model=MODEL, messages=ASKED)
    stream = await client.chat.completions.create(
        model=MODEL, messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    said = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert said[0].role == "assistant"
    assert "".join(delta.content or "" for delta in said) == whole.choices[0].message.content
    *_, last, counted = chunks
    assert last.choices[0].finish_reason == "stop"
    assert (last.model_extra or {})["citations"] == (whole.model_extra or {})["citations"]
    assert counted.choices == []
    assert counted.usage == whole.usage
    assert len({chunk.id for chunk in chunks}) == 1


async def test_what_was_said_before_is_history_without_our_list_of_sources(
    served: Served, client: openai.AsyncOpenAI
) -> None:
    first = await client.chat.completions.create(model=MODEL, messages=ASKED)
    served.endpoint.requests.clear()
    await client.chat.completions.create(
        model=MODEL,
        messages=[
            {"role": "system", "content": "Answer like a pirate."},
            *ASKED,
            {"role": "assistant", "content": first.choices[0].message.content},
            {"role": "user", "content": "And how many owners?"},
        ],
    )
    prompts = "\n".join(request.prompt for request in served.endpoint.chat_requests)
    assert "system: Answer like a pirate." in prompts
    assert "assistant: Each value in Rust has exactly one owner [1]." in prompts
    assert "Sources:" not in prompts


TOOLS: list[ChatCompletionFunctionToolParam] = [{"type": "function", "function": {"name": "f"}}]


async def test_tools_that_need_not_be_called_are_not(client: openai.AsyncOpenAI) -> None:
    """As chat pages and agents send them with every question."""
    answer = await client.chat.completions.create(
        model=MODEL,
        messages=ASKED,
        tools=TOOLS,
        tool_choice="auto",
    )
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert choice.message.content
    assert choice.message.tool_calls is None


BAD: list[tuple[dict[str, Any], type[openai.APIStatusError], str]] = [
    ({"model": "gpt-9"}, openai.NotFoundError, "model_not_found"),
    ({"model": "sextant:nowhere"}, openai.NotFoundError, "graph_not_found"),
    ({"n": 2}, openai.UnprocessableEntityError, "request_invalid"),
    (
        {"tools": TOOLS, "tool_choice": "required"},
        openai.UnprocessableEntityError,
        "request_invalid",
    ),
    (
        {"messages": [{"role": "assistant", "content": "Hello"}]},
        openai.UnprocessableEntityError,
        "question_invalid",
    ),
    (
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is this?"},
                        {"type": "image_url", "image_url": {"url": "http://10.0.0.1/x.png"}},
                    ],
                }
            ]
        },
        openai.UnprocessableEntityError,
        "option_invalid",
    ),
]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("fault", "kind", "code"), BAD)
async def test_errors_are_those_that_the_client_knows(
    client: openai.AsyncOpenAI,
    fault: dict[str, Any],
    kind: type[openai.APIStatusError],
    code: str,
    stream: bool,
) -> None:
    request: dict[str, Any] = {"model": MODEL, "messages": ASKED, "stream": stream} | fault
    with pytest.raises(kind) as raised:
        await client.chat.completions.create(**request)
    assert raised.value.code == code
    assert raised.value.message


async def test_a_model_that_is_down_is_an_error_of_the_server(
    served: Served, client: openai.AsyncOpenAI
) -> None:
    served.script = lambda _: failing(500)
    with pytest.raises(openai.InternalServerError) as raised:
        await client.chat.completions.create(model="sextant-bypass", messages=ASKED)
    assert raised.value.code == "model_unavailable"
    with pytest.raises(openai.InternalServerError) as raised:
        await client.chat.completions.create(
            model="sextant-bypass", messages=[{"role": "user", "content": "请向读者问好。"}]
        )
    assert "出错，状态码 500：Something broke。请重试；" in raised.value.message


async def test_a_model_that_breaks_off_still_gives_the_client_an_answer(
    served: Served, client: openai.AsyncOpenAI
) -> None:
    served.script = judging(
        broken_after(13, "Each value in Rust has exactly one owner [1]. It begins well and then")
    )
    stream = await client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
    chunks = [chunk async for chunk in stream]
    reasons = [choice.finish_reason for chunk in chunks for choice in chunk.choices]
    assert [reason for reason in reasons if reason] == ["length"]
    assert any(choice.delta.content for chunk in chunks for choice in chunk.choices)


def noise(edge: int) -> str:
    """Return a PNG of that size as a data URI."""
    content = BytesIO()
    Image.effect_noise((edge, edge), 64).save(content, "PNG")
    return data_uri(content.getvalue())


# The larger has more than a megabyte, as photographs do.
@pytest.mark.parametrize("edge", [16, 1500])
async def test_an_image_in_a_message_is_looked_at(
    served: Served, client: openai.AsyncOpenAI, edge: int
) -> None:
    served.endpoint.requests.clear()
    await client.chat.completions.create(
        model=MODEL,
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": QUESTION},
                    {"type": "image_url", "image_url": {"url": noise(edge)}},
                ],
            }
        ],
    )
    [looked] = [r for r in served.endpoint.chat_requests if r.body["model"] == "seeing"]
    assert "data:image/jpeg;base64," in str(looked.messages)


async def test_langchain_answers_and_streams(served: Served) -> None:
    llm = ChatOpenAI(
        model=MODEL, base_url=f"{served.base_url}/v1", api_key="any", stream_usage=True
    )
    whole = await llm.ainvoke(QUESTION)
    pieces = [piece async for piece in llm.astream(QUESTION)]
    assert whole.text.startswith("Each value in Rust has exactly one owner [1].")
    assert "".join(piece.text for piece in pieces) == whole.text
    assert len(pieces) > 5
    assert whole.usage_metadata
    assert whole.usage_metadata["total_tokens"] > 0
    assert sum(p.usage_metadata["total_tokens"] for p in pieces if p.usage_metadata) > 0
