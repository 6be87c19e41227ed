"""A simulated endpoint's speed and limits, as the chat model learns them. No time is asserted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from sextant.domain.answers import Usage
from sextant.domain.errors import ContextTooLong, ModelUnavailable
from sextant.domain.settings import Settings
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.factory import build_chat_model
from sextant.testing.openai_server import ScriptedOpenAI
from sextant.testing.replies import EndpointPace, VirtualClock

ANSWER = "one two three four five six seven eight nine ten."
PROMPT = [HumanMessage("word " * 500)]


async def asking(endpoint: ScriptedOpenAI, **more: Any) -> tuple[ChatModel, Usage]:
    chosen: dict[str, Any] = {
        "chat_model": "paced",
        "openai_base_url": endpoint.base_url,
        "model_retries": 0,
    }
    settings = Settings(_env_file=None, **chosen | more)
    chat = await asyncio.to_thread(build_chat_model, settings)
    assert chat is not None
    try:
        *_, usage = [piece async for piece in chat.stream(PROMPT)]
    finally:
        await chat.close()
    assert isinstance(usage, Usage)
    return chat, usage


async def test_a_streamed_answer_tells_how_fast_its_model_is_and_how_much_it_thinks() -> None:
    pace = EndpointPace(prompt_rate=1000, answer_rate=100, thinking=40)
    async with ScriptedOpenAI(lambda _: ANSWER, pace=pace) as endpoint:
        chat, usage = await asking(endpoint)
    assert usage.completion_tokens == 11 + 40
    assert chat.speed.answer > 0
    assert chat.speed.thinking > 30


async def test_a_context_that_is_too_short_is_refused_or_cut_without_a_word() -> None:
    refusing = EndpointPace(1e6, 1e6, context=100)
    async with ScriptedOpenAI(lambda _: ANSWER, pace=refusing) as endpoint:
        with pytest.raises(ContextTooLong):
            await asking(endpoint)
    cutting = EndpointPace(1e6, 1e6, context=100, cuts=True)
    async with ScriptedOpenAI(lambda _: ANSWER, pace=cutting) as endpoint:
        _, usage = await asking(endpoint)
    assert usage.prompt_tokens == 100


async def test_what_a_prompt_shares_with_one_before_is_read_from_the_cache() -> None:
    pace = EndpointPace(1e6, 1e6)
    async with ScriptedOpenAI(lambda _: ANSWER, pace=pace) as endpoint:
        first, _ = await asking(endpoint)
        known = first.speed.prompt
        second, usage = await asking(endpoint)
    assert usage.prompt_tokens > 400
    assert second.speed is first.speed
    assert second.speed.prompt == known, "nothing was read anew, and nothing is learnt of reading"


async def test_an_endpoint_that_was_too_slow_is_waited_for_longer_unless_the_user_says_how_long() -> (
    None
):
    clock, pace = VirtualClock.of_running_loop(), EndpointPace(prompt_rate=6, answer_rate=10)
    async with ScriptedOpenAI(lambda _: ANSWER, pace=pace, clock=clock) as endpoint:
        with pytest.raises(ModelUnavailable, match="in time"):
            await asking(endpoint, model_timeout=60.0)
        with pytest.raises(ModelUnavailable, match="in time"):
            await asking(endpoint, model_timeout=60.0)
        _, usage = await asking(endpoint)
    assert usage.completion_tokens == 11
