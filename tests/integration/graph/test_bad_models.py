"""Whatever the chat model does, each mode ends in an answer that holds or in a typed error."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from sextant.domain.answers import Answer, Cited, Done, Event, Failed, Reset, Token
from sextant.domain.settings import LimitSettings, Settings
from sextant.domain.warnings import WarningCode
from sextant.graph.streaming import stream_answer
from sextant.models.chat.factory import build_chat_model
from sextant.nodes.answers.answer_generator import AnswerGenerator
from sextant.testing.openai_server import ApiRequest, Script, ScriptedOpenAI
from sextant.testing.replies import (
    Reply,
    as_json,
    empty,
    endless,
    failing,
    invalid_json,
    rate_limited,
    refusal,
    slow,
)
from sextant.text.characters import language_of
from tests.integration.graph.conftest import Running, RunningWith
from tests.sentences import sentence

QUESTION = "糖尿病患者的主要症状是什么？"
ANSWER = "主要症状是多饮、多尿、多食和体重下降[{n}]。"
MODES = ["naive", "local", "global", "hybrid", "mix", "auto", "bypass"]
TOO_LONG = failing(400, "The context is too long.", code="context_length_exceeded")


def number_of(request: ApiRequest) -> str:
    """Return the number under which the passage with the symptoms is shown."""
    return request.prompt.partition("多饮、多尿")[0].rpartition('<passage number="')[2][:1]


def judged(request: ApiRequest) -> Reply:
    """Return a reply in every structure that a node asks for; it mends nothing."""
    return as_json({"question": QUESTION, "relevant": [1], "sufficient": True,
                    "sentences": [], "points": [], "keywords": ["多饮"]})  # fmt: skip


def writing(answer: Callable[[ApiRequest], Reply | str]) -> Script:
    """Judge as it should, and answers so."""
    return lambda request: judged(request) if request.wants_json else answer(request)


def good(request: ApiRequest) -> str:
    return ANSWER.format(n=number_of(request))


def limited_once() -> Script:
    """Return every prompt is refused the first time and answered the second."""
    seen = set[str]()

    def reply(request: ApiRequest) -> Reply | str:
        if request.prompt not in seen:
            seen.add(request.prompt)
            return rate_limited(0)
        return judged(request) if request.wants_json else good(request)

    return reply


@dataclass(frozen=True)
class Case:
    """How a model behaves, and who gives the answer then: itself, the documents, or an error."""

    script: Callable[[], Script]
    retrieving: str
    bypass: str
    warning: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


CASES = {
    "down": Case(
        lambda: writing(good), "quoted", "model_unavailable", "无法连接",
        {"openai_base_url": "http://127.0.0.1:9/v1"},
    ),
    "slow": Case(
        lambda: lambda _: slow("太慢了。", 30), "quoted", "model_unavailable", "未能及时回答",
        {"model_timeout": 0.2},
    ),
    "dripping": Case(
        lambda: writing(lambda request: Reply(good(request) + "此外，" * 200, delay=0.01)), "written", "written",
        sentence(WarningCode.ANSWER_OUT_OF_TIME, "zh"), {"limits": LimitSettings(answer_seconds=1.5)},
    ),
    "empty": Case(lambda: writing(lambda _: empty()), "quoted", "model_output_invalid", "没有给出任何回答"),
    "refusing": Case(
        lambda: writing(lambda _: refusal()), "quoted", "model_output_invalid", "没有给出任何回答"
    ),
    "refusing in words": Case(
        lambda: writing(lambda _: "抱歉，我无权讨论这个话题。"), "quoted", "written", sentence(WarningCode.ANSWER_REPLACED, "zh")
    ),
    "endless": Case(
        lambda: writing(lambda _: endless("等等，")), "quoted", "written", sentence(WarningCode.ANSWER_CUT_OFF, "zh"),
        {"limits": LimitSettings(answer_tokens=64)},
    ),
    "wrong language": Case(
        lambda: writing(lambda r: f"The main symptoms are great thirst and loss of weight [{number_of(r)}]."),
        "written", "written", sentence(WarningCode.ANSWER_IN_OTHER_LANGUAGE, "zh"),
    ),
    "invalid JSON": Case(
        lambda: lambda r: invalid_json() if r.wants_json else good(r), "written", "written", "按规则判断"
    ),
    "marker 99": Case(
        lambda: writing(lambda _: ANSWER.format(n=99)), "written", "written"
    ),
    "429 for a moment": Case(limited_once, "written", "written", settings={"model_retries": 1}),
    "429 for an hour": Case(
        lambda: lambda _: rate_limited(3600), "quoted", "model_unavailable", "429",
        {"model_retries": 2},
    ),
    "context too long": Case(
        lambda: writing(lambda _: TOO_LONG), "quoted", "context_too_long", "读不完这么长的请求"
    ),
    "500": Case(lambda: lambda _: failing(500), "quoted", "model_unavailable", "500"),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("behaviour", CASES)
async def test_every_mode_ends_well_however_the_model_behaves(
    running_with: RunningWith, behaviour: str, mode: str
) -> None:
    case = CASES[behaviour]
    async with running_with(case.script(), **case.settings) as running:
        events = await told(running, mode)
    expected = case.bypass if mode == "bypass" else case.retrieving
    last = events[-1]
    if isinstance(last, Failed):
        assert (last.code, language_of(last.message)) == (expected, "zh")
        assert last.detail is not None
        assert "请" in last.detail["next_step"], "what to do next"
        return
    assert isinstance(last, Done)
    answer = last.answer
    assert all(language_of(warning) == "zh" for warning in answer.warnings)
    assert_it_holds(answer, events)
    assert answer.model == ("extractive" if expected == "quoted" else "scripted")
    if mode == "bypass":
        assert not answer.citations
        assert not answer.grounded
    elif case.warning:
        assert case.warning in " ".join(answer.warnings)
    if expected == "quoted" or (mode != "bypass" and behaviour in {"marker 99", "invalid JSON"}):
        assert "多饮、多尿" in answer.citations[0].quote


async def told(running: Running, mode: str) -> list[Event]:
    async with asyncio.timeout(60):
        asked = running.asking(QUESTION, mode=mode)
        return [event async for event in stream_answer(running.workflow, asked)]


def assert_it_holds(answer: Answer, events: list[Event]) -> None:
    """Check that what was streamed is the answer, every marker has a source, every quote stands in it."""
    resets = [place for place, event in enumerate(events) if isinstance(event, Reset)]
    told = events[resets[-1] if resets else 0 :]
    assert answer.answer == "".join(e.text for e in told if isinstance(e, Token)) != ""
    assert answer.citations == tuple(e.citation for e in told if isinstance(e, Cited))
    markers = {int(marker) for marker in re.findall(r"\[(\d+)\]", answer.answer)}
    assert markers == {source.marker for source in answer.sources}
    texts = {source.marker: source.text for source in answer.sources}
    assert all(citation.quote in texts[citation.marker] for citation in answer.citations)
    assert answer.citations or not answer.grounded


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
async def test_the_first_answer_of_a_model_is_streamed_from_its_first_supported_sentence_on(
    running_with: RunningWith,
) -> None:
    resume = asyncio.Event()

    def reply(request: ApiRequest) -> Reply | str:
        said = good(request)
        return Reply(tokens=[said, said[:4], said[4:]], pause_after=2, resume=resume)

    async with running_with(writing(reply)) as running, asyncio.timeout(60):
        asked = running.asking(QUESTION, mode="naive")
        async for event in stream_answer(running.workflow, asked):
            resume.set() if isinstance(event, Cited) else None
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
