"""The chat model against an OpenAI-compatible endpoint over real TCP: answers and failures."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from sextant.domain.answers import Usage
from sextant.domain.concurrency import run_sync
from sextant.domain.errors import ModelOutputInvalid, ModelRejected, ModelUnavailable
from sextant.models.chat.chat_model import as_chat_model
from sextant.models.chat.factory import build_chat_model
from sextant.models.retries import Retries
from sextant.testing.openai_server import ScriptedOpenAI
from sextant.testing.replies import Reply, broken_after, empty, failing, rate_limited, refusal

ASK = [("system", "Be brief."), ("user", "糖尿病的主要症状是什么？")]


async def test_an_answer_comes_with_the_tokens_that_the_endpoint_reports(chat_with: Any) -> None:
    server, chat = await chat_with(["多饮、多尿、多食 [1]。"])
    answer = await chat.complete(ASK)
    assert answer.text == "多饮、多尿、多食 [1]。"
    assert answer.usage.calls == 1
    assert answer.usage.completion_tokens == 12
    assert answer.usage.prompt_tokens > 10
    assert not answer.usage.estimated
    assert [m["role"] for m in server.chat_requests[0].messages] == ["system", "user"]


async def test_tokens_are_estimated_and_marked_so_where_the_endpoint_is_silent(
    chat_with: Any,
) -> None:
    _, chat = await chat_with([Reply("Thirst and fatigue.", usage=False)])
    usage = (await chat.complete(ASK)).usage
    assert usage.estimated
    assert usage.completion_tokens > 0
    assert usage.prompt_tokens > usage.completion_tokens


def test_a_sum_of_usages_is_estimated_or_truncated_when_one_of_them_is() -> None:
    total = Usage(1, 10, 5) + Usage(1, 20, 7, estimated=True) + Usage(1, 1, 1, truncated=True)
    assert total == Usage(3, 31, 13, estimated=True, truncated=True)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 529])
async def test_a_transient_status_is_tried_again(chat_with: Any, status: int) -> None:
    soon = {"retry-after": "0"}
    server, chat = await chat_with([Reply("busy", status, soon), "Fine now."])
    assert (await chat.complete(ASK)).text == "Fine now."
    assert len(server.chat_requests) == 2


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_an_endpoint_that_has_moved_is_asked_the_same_where_it_is_now(
    chat_with: Any, status: int
) -> None:
    there = {"location": "/v1/chat/completions"}
    server, chat = await chat_with([Reply("moved", status, there), "Fine here."])
    assert (await chat.complete(ASK)).text == "Fine here."
    first, second = server.chat_requests
    assert first.messages == second.messages


async def test_an_endpoint_that_redirects_to_itself_is_given_up(chat_with: Any) -> None:
    there = {"location": "/v1/chat/completions"}
    server, chat = await chat_with(lambda _: Reply("moved", 307, there))
    with pytest.raises(ModelRejected, match="redirects again and again"):
        await chat.complete(ASK)
    assert len(server.chat_requests) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
async def test_a_refusal_of_the_request_is_raised_at_once(chat_with: Any, status: int) -> None:
    """Once it is no matter of a part of the request that it can do without."""
    server, chat = await chat_with(lambda _: failing(status, "No."))
    with pytest.raises(ModelRejected) as caught:
        await chat.complete(ASK)
    assert not caught.value.retryable
    assert str(status) in caught.value.message
    assert len(server.chat_requests) == 1 + (status in (400, 422))


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("This model's maximum context length is 4096 tokens.", None),
        ("Too many tokens.", "context_length_exceeded"),
    ],
)
async def test_a_prompt_beyond_the_models_context_says_what_to_lower(
    chat_with: Any, message: str, code: str | None
) -> None:
    server, chat = await chat_with([failing(400, message, code), "no"])
    with pytest.raises(ModelRejected, match="longer than") as caught:
        await chat.complete(ASK)
    assert "SEXTANT_LIMITS__CONTEXT_TOKENS" in caught.value.next_step
    assert len(server.chat_requests) == 1


async def test_a_wrong_key_is_named_by_its_setting_and_never_shown(settings_for: Any) -> None:
    async with ScriptedOpenAI(["unreachable"], api_key="the-right-one") as server:
        chat = build_chat_model(settings_for(server))
        assert chat is not None
        with pytest.raises(ModelRejected) as caught:
            await chat.complete(ASK)
        await chat.close()
    assert "OPENAI_API_KEY" in caught.value.next_step
    assert "sk-secret" not in str(caught.value)


async def test_an_exhausted_quota_is_no_rate_limit(chat_with: Any) -> None:
    server, chat = await chat_with([failing(429, "Pay first.", code="insufficient_quota"), "no"])
    with pytest.raises(ModelRejected, match="quota"):
        await chat.complete(ASK)
    assert len(server.chat_requests) == 1


async def test_it_gives_up_after_the_configured_number_of_retries(chat_with: Any) -> None:
    server, chat = await chat_with(lambda _: rate_limited(0), model_retries=3)
    with pytest.raises(ModelUnavailable, match="429") as caught:
        await chat.complete(ASK)
    assert caught.value.retryable
    assert len(server.chat_requests) == 4


async def test_the_wait_is_the_one_that_the_endpoint_asks_for(chat_with: Any) -> None:
    _, chat = await chat_with([rate_limited(7)], model_retries=0)
    with pytest.raises(ModelUnavailable, match="in 7 s") as caught:
        await chat.complete(ASK)
    cause = caught.value.__cause__
    assert isinstance(cause, Exception)
    assert Retries(limit=1).wait(cause, 0) == 7.0


async def test_an_endpoint_that_asks_for_an_hour_is_not_waited_for(chat_with: Any) -> None:
    server, chat = await chat_with([rate_limited(3600), "no"])
    with pytest.raises(ModelUnavailable, match="in 3600 s"):
        await chat.complete(ASK)
    assert len(server.chat_requests) == 1


async def test_a_connection_cut_before_the_answer_is_tried_again(chat_with: Any) -> None:
    server, chat = await chat_with([broken_after(0), "Second time lucky."])
    assert (await chat.complete(ASK)).text == "Second time lucky."
    assert len(server.chat_requests) == 2


async def test_no_server_at_all_is_named_by_the_setting_of_its_url(settings_for: Any) -> None:
    async with ScriptedOpenAI() as server:
        settings = settings_for(server, model_retries=0)
    chat = build_chat_model(settings)
    assert chat is not None
    with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
        await chat.complete(ASK)
    assert "OPENAI_BASE_URL" in caught.value.next_step
    await chat.close()


async def test_a_model_that_never_answers_is_left_after_the_time_limit(chat_with: Any) -> None:
    server, chat = await chat_with([Reply(pause_after=0)], model_timeout=1, model_retries=0)
    with pytest.raises(ModelUnavailable, match="in time") as caught:
        await chat.complete(ASK)
    assert "SEXTANT_MODEL_TIMEOUT" in caught.value.next_step
    await server.wait_for_disconnects(1)


async def test_a_base_url_that_is_no_api_is_a_typed_error(settings_for: Any) -> None:
    async with ScriptedOpenAI() as server:
        chat = build_chat_model(settings_for(server, openai_base_url=f"{server.base_url}/docs"))
        assert chat is not None
        with pytest.raises(ModelRejected) as caught:
            await chat.complete(ASK)
        await chat.close()
    assert "OPENAI_BASE_URL" in caught.value.next_step


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (empty(), "answered nothing"),
        (refusal("I won't."), "withheld its answer"),
        (Reply("", finish_reason="length"), "used up its tokens"),
    ],
)
async def test_an_answer_without_text_is_an_error_that_says_why(
    chat_with: Any, reply: Reply, reason: str
) -> None:
    _, chat = await chat_with([reply])
    with pytest.raises(ModelOutputInvalid, match=reason):
        await chat.complete(ASK)


async def test_an_answer_cut_by_the_token_limit_is_kept_and_marked(chat_with: Any) -> None:
    _, chat = await chat_with([Reply("Only the begin", finish_reason="length")])
    assert (await chat.complete(ASK)).usage.truncated


async def test_the_token_limit_is_sent_as_compatible_servers_know_it(chat_with: Any) -> None:
    server, chat = await chat_with(["ok"], limits={"answer_tokens": 321})
    await chat.complete(ASK)
    assert server.chat_requests[0].body["max_tokens"] == 321


async def test_characters_that_no_store_can_hold_are_dropped_from_answers(chat_with: Any) -> None:
    _, chat = await chat_with(["a\x00b"])
    assert (await chat.complete(ASK)).text == "ab"


async def test_independent_calls_are_under_way_at_the_same_time(chat_with: Any) -> None:
    resume = asyncio.Event()
    server, chat = await chat_with(lambda _: Reply("ok", pause_after=0, resume=resume))
    calls = [asyncio.create_task(chat.complete(ASK)) for _ in range(8)]
    await server.wait_for_streams(8)
    resume.set()
    assert {answer.text for answer in await asyncio.gather(*calls)} == {"ok"}


async def test_any_langchain_model_can_be_wrapped() -> None:
    chat = as_chat_model(FakeListChatModel(responses=["Plain text."]))
    answer = await chat.complete(ASK)
    assert answer.text == "Plain text."
    assert answer.usage.estimated
    assert as_chat_model(chat) is chat


async def test_a_langchain_model_that_retries_by_itself_is_not_retried_twice() -> None:
    async with ScriptedOpenAI(lambda _: rate_limited(0)) as server:
        own = ChatOpenAI(
            model="scripted", base_url=server.base_url, api_key=SecretStr("x"), max_retries=1
        )
        with pytest.raises(ModelUnavailable):
            await as_chat_model(own).complete(ASK)
        assert len(server.chat_requests) == 2


async def test_a_langchain_model_answers_one_event_loop_after_another() -> None:
    """LangChain's client keeps connections of the loop that asked it first."""
    async with ScriptedOpenAI(lambda _: "One owner.") as server:
        own = ChatOpenAI(model="scripted", base_url=server.base_url, api_key=SecretStr("x"))
        chat = as_chat_model(own)

        async def asked() -> tuple[str, str]:
            streamed = [piece async for piece in chat.stream(ASK)]
            return (await chat.complete(ASK)).text, "".join(map(str, streamed[:-1]))

        for _ in range(2):
            here = await asked()
            there = await asyncio.to_thread(run_sync, asked)
            elsewhere = await asyncio.to_thread(asyncio.run, asked())
            assert here == there == elsewhere == ("One owner.", "One owner.")
