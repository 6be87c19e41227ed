"""Whatever the chat model does, each mode ends in an answer that holds or in a typed error."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sextant.domain.answers import Cited, Done, Reset, Token
from sextant.domain.settings import LimitSettings, Settings
from sextant.domain.warnings import WarningCode
from sextant.graph.streaming import stream_answer
from sextant.models.chat.factory import build_chat_model
from sextant.nodes.answers.answer_generator import AnswerGenerator
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import (
    Reply,
    failing,
)
from tests.integration.graph.conftest import RunningWith
from tests.integration.graph.replying import (
    QUESTION,
    TOO_LONG,
    assert_it_holds,
    good,
    told,
    writing,
)
from tests.sentences import sentence


async def test_a_context_that_is_too_long_is_halved_until_it_fits() -> None:
    shown = list[int]()

    def reply(request: ApiRequest) -> Reply | str:
        shown.append(len(request.prompt))
        return "The price of item 0 is 100 yuan [1]." if len(shown) == 4 else TOO_LONG

    passages = [f"The price of item {n} is {n + 1}00 yuan. " + "It is sold by weight. " * 20
                for n in range(16)]  # fmt: skip
    async with ScriptedOpenAI(reply) as endpoint:
        settings = Settings(
            _env_file=None, chat_model="scripted", openai_base_url=endpoint.base_url
        )
        chat = await asyncio.to_thread(build_chat_model, settings)
        assert chat is not None
        # The budget is far above what there is: half of it would change nothing.
        answer = await AnswerGenerator(chat, context_tokens=100_000).agenerate(
            "What does item 0 cost?", passages
        )
        await chat.close()
    assert answer.answer == "The price of item 0 is 100 yuan [1]."
    assert answer.warnings == (sentence(WarningCode.CONTEXT_SHORTENED, "en"),)
    assert shown == sorted(set(shown), reverse=True)
    assert len(shown) == 4
    assert shown[-1] < shown[0] / 3


async def test_a_context_that_never_fits_is_told_with_the_setting(
    running_with: RunningWith,
) -> None:
    async with running_with(writing(lambda _: TOO_LONG)) as running:
        [*_, done] = await told(running, "naive")
        sent = [len(one.prompt) for one in running.endpoint.chat_requests if not one.wants_json]
    assert isinstance(done, Done)
    assert done.answer.model == "extractive"
    [warning] = done.answer.warnings
    assert "SEXTANT_LIMITS__CONTEXT_TOKENS" in warning
    assert sent == sorted(set(sent), reverse=True)


@pytest.mark.parametrize("retries", [0, 2])
async def test_a_model_that_is_too_slow_for_the_answer_leaves_quotations_and_the_setting_to_raise(
    running_with: RunningWith, retries: int
) -> None:
    script = writing(lambda _: Reply("Never sent.", pause_after=0))
    limits = LimitSettings(answer_seconds=2)
    async with running_with(script, limits=limits, model_retries=retries) as running:
        [*_, done] = await told(running, "naive")
    assert isinstance(done, Done)
    assert done.answer.model == "extractive"
    assert done.answer.citations
    [warning] = done.answer.warnings
    assert "SEXTANT_LIMITS__ANSWER_SECONDS" in warning
    usage = done.answer.usage
    assert usage.estimated
    assert usage.prompt_tokens > 300, "the prompt of the answer was read"


async def test_a_thought_that_nothing_opened_is_taken_back_and_never_in_the_answer(
    running_with: RunningWith,
) -> None:
    script = writing(lambda request: f"They want symptoms.\n</think>\n\n{good(request)}")
    async with running_with(script) as running:
        first = await told(running, "naive")
        second = await told(running, "naive")
    for events, resets in ((first, 1), (second, 0)):
        done = events[-1]
        assert isinstance(done, Done)
        assert_it_holds(done.answer, events)
        assert done.answer.grounded
        assert "want" not in done.answer.answer
        assert sum(isinstance(event, Reset) for event in events) == resets


THOUGHTS = [
    "They want symptoms.\n</think>\n\n",
    "好的，用户问的是糖尿病患者的主要症状。我看一下段落。\n</think>\n\n",
    "Okay, the user asks for symptoms of diabetes. Passage 1 has them: 多饮、多尿.\n</think>\n",
]


@pytest.mark.parametrize("thought", THOUGHTS)
@pytest.mark.usefixtures("unknown_endpoints")
async def test_of_a_model_that_thinks_now_and_then_no_thought_is_shown(
    thought: str, running_with: RunningWith
) -> None:
    answers = iter([""] * 4 + [thought])
    script = writing(lambda request: next(answers) + good(request))
    async with running_with(script) as running:
        turns = [await told(running, "naive") for _ in range(5)]
    for events in turns:
        done = events[-1]
        assert isinstance(done, Done)
        assert_it_holds(done.answer, events)
        assert done.answer.grounded
        assert not any(isinstance(event, Reset) for event in events)


@pytest.mark.usefixtures("unknown_endpoints")
@pytest.mark.parametrize("shown", [Cited, Token])
async def test_the_first_answer_of_a_model_is_streamed_once_the_passages_support_what_it_says(
    shown: type[Cited | Token], running_with: RunningWith
) -> None:
    resume = asyncio.Event()

    def reply(request: ApiRequest) -> Reply | str:
        said = good(request)
        end = len(said) if shown is Cited else said.index("。") - 1
        # What begins like an earlier sentence is held back until it differs.
        more = f"{said[end:]}其中{said}"
        return Reply(tokens=[said[:end], more[:4], more[4:]], pause_after=2, resume=resume)

    async with running_with(writing(reply)) as running, asyncio.timeout(30):
        asked = running.asking(QUESTION, mode="naive")
        async for event in stream_answer(running.workflow, asked):
            resume.set() if isinstance(event, shown) else None
    assert isinstance(event, Done)
    assert resume.is_set()


@pytest.mark.usefixtures("unknown_endpoints")
@pytest.mark.parametrize(("said", "messages"), [("{good}", 1), ("They ask.</think>{good}", 1), ("火星上有人。", 2), ("{good}他们问的。</think>{good}", 2)])  # fmt: skip
async def test_the_message_stream_has_the_checked_text_and_no_thought(
    said: str, messages: int, running_with: RunningWith
) -> None:
    async with running_with(writing(lambda r: said.replace("{good}", good(r)))) as running:
        texts, values = dict[str, str](), dict[str, Any]()
        parts: Any = running.workflow.astream(
            running.asking(QUESTION, mode="naive"), stream_mode=["messages", "values"]
        )
        async for kind, part in parts:
            if kind == "values":
                values = part
            elif part[0].type != "human":
                texts[part[0].id] = texts.get(part[0].id, "") + part[0].text
    assert len(texts) == messages
    assert list(texts.items())[-1] == (values["messages"][-1].id, values["answer"])


async def test_a_budget_that_is_used_up_gives_the_best_answer_so_far(
    running_with: RunningWith,
) -> None:
    limits = LimitSettings(model_calls=1)
    async with running_with(writing(lambda _: "火星上有人。"), limits=limits) as running:
        [*_, done] = await told(running, "naive")
        assert len(running.endpoint.chat_requests) == 1
    assert isinstance(done, Done)
    assert done.answer.usage.calls == 1
    assert "多饮、多尿" in done.answer.answer
    assert any("limits.model_calls" in warning for warning in done.answer.warnings)


async def test_an_endpoint_that_cannot_be_reached_is_asked_once_and_told_of_once(
    running_with: RunningWith,
) -> None:
    async with running_with(
        writing(good), openai_base_url="http://127.0.0.1:9/v1", model_retries=1
    ) as running:
        [*_, done] = await told(running, "mix")
    assert isinstance(done, Done)
    assert done.answer.usage.calls == 2, "the first try and its repetition"
    assert done.answer.usage.prompt_tokens == 0, "nobody has read any"
    [warning] = done.answer.warnings
    assert warning == (
        "聊天模型出错，因此回答直接引自文档：聊天模型 scripted 无法连接。请检查 OPENAI_BASE_URL，并确认模型服务正在运行。"
    )


async def test_what_fails_at_the_last_call_is_told_as_what_it_is(running_with: RunningWith) -> None:
    limits = LimitSettings(model_calls=1)
    async with running_with(lambda _: failing(500), limits=limits) as running:
        [*_, done] = await told(running, "naive")
    assert isinstance(done, Done)
    assert "状态码 500" in done.answer.warnings[-1]
