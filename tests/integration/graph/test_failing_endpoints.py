"""What becomes of a question in each mode, whatever its endpoint does: who answers, how late, and what is said of it.

The endpoint's time is virtual, and the limit so long that what this machine takes does not matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sextant.domain.answers import Done, Failed
from sextant.domain.settings import AnswerSettings, LimitSettings
from sextant.domain.warnings import WarningCode
from sextant.evals.dataset import CorpusPassage
from sextant.evals.sets import load_corpus
from sextant.models import retries
from sextant.nodes import budget
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, Script
from sextant.testing.replies import (
    EndpointPace,
    Reply,
    VirtualClock,
    broken_after,
    calling,
    empty,
    endless,
    failing,
    invalid_json,
    rate_limited,
    refusal,
    tokens_of,
)
from sextant.text.characters import language_of
from tests.integration.graph.conftest import PASSAGES, RunningWith
from tests.integration.graph.replying import (
    TOO_LONG,
    assert_it_holds,
    good,
    judged,
    number_of,
    told,
    writing,
)
from tests.sentences import sentence

MODES = ["naive", "local", "global", "hybrid", "mix", "bypass"]
LIMIT = 600.0
# One step of the clock, and what of the program's own time counts with it.
TOLERANCE = 30.0
# What modes say of this knowledge base, whoever answers.
WITHOUT_A_GRAPH = {
    sentence(code, "zh") for code in (WarningCode.REPORTS_MISSING, WarningCode.ENTITIES_NOT_NAMED)
}
QUOTED, WRITTEN = "extractive", "scripted"


UNSURE = {"answers": AnswerSettings()}
"""Judgements where the rules are unsure, as by default; else there is one at each step."""


@dataclass(frozen=True)
class Case:
    """How an endpoint behaves; who answers then, with documents and in `bypass`; and what is said of it.

    In `bypass` nothing can be quoted, so that there is an error instead. `said` is empty where nothing is to be said.
    """

    script: Callable[[], Script]
    retrieving: str
    bypass: str
    said: str = ""
    setting: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pace: EndpointPace | None = None


def always(reply: Reply | str) -> Callable[[], Script]:
    return lambda: lambda _: reply


def answering(reply: Callable[[ApiRequest], Reply | str]) -> Callable[[], Script]:
    """Judge as it should, and answer so."""
    return lambda: writing(reply)


def limited_once() -> Script:
    """Refuse every prompt the first time, and answer it the second."""
    seen = set[str]()

    def reply(request: ApiRequest) -> Reply | str:
        if request.prompt not in seen:
            seen.add(request.prompt)
            return rate_limited(15)
        return judged(request) if request.wants_json else good(request)

    return reply


def refusing(
    wrong: Callable[[ApiRequest], bool], status: int, message: str
) -> Callable[[], Script]:
    """Refuse what has something in it that the endpoint does not know."""

    def reply(request: ApiRequest) -> Reply | str:
        if wrong(request):
            return failing(status, message)
        return judged(request) if request.wants_json else good(request)

    return lambda: reply


def has(name: str) -> Callable[[ApiRequest], bool]:
    return lambda request: name in request.body


def has_system_message(request: ApiRequest) -> bool:
    return any(message["role"] == "system" for message in request.messages)


def piece(content: object, reason: str | None = None, **more: Any) -> dict[str, Any]:
    """Return one chunk of a stream, with what an endpoint adds to it."""
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]} | more


def streaming(pieces: Callable[[str], Iterable[Mapping[str, Any] | str]]) -> Callable[[], Script]:
    """Judge as it should, and stream these chunks of the right answer, or lines that are none."""

    def reply(request: ApiRequest) -> Reply:
        lines = [
            one if isinstance(one, str) else f"data: {json.dumps(one)}"
            for one in pieces(good(request))
        ]
        return Reply(raw="\n\n".join([*lines, "data: [DONE]\n\n"]).encode())

    return answering(reply)


def whole(body: Callable[[str], object]) -> Callable[[], Script]:
    """Judge as it should, and answer a stream with a body of JSON."""
    kind = {"content-type": "application/json"}
    return answering(
        lambda r: Reply(raw=json.dumps(body(good(r)), ensure_ascii=False).encode(), headers=kind)
    )


def judging(written: Callable[[str], str]) -> Callable[[], Script]:
    """Answer as it should, and write a judgement so."""
    return lambda: lambda r: Reply(written(judged(r).text)) if r.wants_json else good(r)


def asks_for_many_tokens(request: ApiRequest) -> bool:
    return any(request.body.get(name, 0) > 64 for name in ("max_tokens", "max_completion_tokens"))


def thinking(thought: str) -> Callable[[ApiRequest], Reply | str]:
    return lambda request: thought + good(request)


CASES = {
    "down": Case(
        answering(good), QUOTED, "model_unavailable", "无法连接", "OPENAI_BASE_URL",
        {"openai_base_url": "http://127.0.0.1:9/v1"},
    ),
    "80 and 8 tokens a second": Case(answering(good), WRITTEN, WRITTEN, settings=UNSURE, pace=EndpointPace(8, 0.8)),
    "one slot, thinks 800 tokens at 60 a second": Case(
        answering(good), WRITTEN, WRITTEN, settings=UNSURE, pace=EndpointPace(100, 6, thinking=800)
    ),
    "reads too slowly": Case(
        always("never"), QUOTED, "model_unavailable", "未能及时回答", "SEXTANT_LIMITS__ANSWER_SECONDS",
        UNSURE, EndpointPace(0.05, 10),
    ),
    "writes too slowly": Case(
        answering(lambda request: good(request) + "此外，" * 200), WRITTEN, WRITTEN,
        sentence(WarningCode.ANSWER_OUT_OF_TIME, "zh"), "SEXTANT_LIMITS__ANSWER_SECONDS", UNSURE, EndpointPace(1000, 0.4),
    ),
    "thinks in tags": Case(answering(thinking("<think>他们要症状。</think>\n\n")), WRITTEN, WRITTEN),
    "thinks without an opening tag": Case(answering(thinking("They want symptoms.\n</think>\n\n")), WRITTEN, WRITTEN),
    "thinks until its tokens are used up": Case(
        answering(lambda _: Reply("<think>嗯，" + "再想想，" * 30, finish_reason="length")),
        QUOTED, "model_output_invalid", "用完了长度上限", "SEXTANT_LIMITS__ANSWER_TOKENS",
    ),
    "thinks apart until its tokens are used up": Case(
        answering(lambda _: Reply("", thought="嗯，再想想", finish_reason="length")),
        QUOTED, "model_output_invalid", "用完了长度上限", "SEXTANT_LIMITS__ANSWER_TOKENS",
    ),
    "refuses every prompt as too long": Case(
        answering(lambda _: TOO_LONG), QUOTED, "context_too_long", "读不完这么长的请求", "SEXTANT_LIMITS__CONTEXT_TOKENS"
    ),
    "empty": Case(answering(lambda _: empty()), QUOTED, "model_output_invalid", "没有给出任何回答", "聊天模型"),
    "refusing": Case(
        answering(lambda _: refusal()), QUOTED, "model_output_invalid", "拒绝回答", "换一种问法"
    ),
    "refusing in words": Case(
        answering(lambda _: "抱歉，我无权讨论这个话题。"), QUOTED, WRITTEN, sentence(WarningCode.ANSWER_REPLACED, "zh")
    ),
    "calls a tool": Case(
        answering(lambda _: calling("search", query="糖尿病")), QUOTED, "model_output_invalid", "没有给出任何回答", "聊天模型"
    ),
    "endless": Case(
        answering(lambda _: endless("等等，")), QUOTED, WRITTEN, sentence(WarningCode.ANSWER_CUT_OFF, "zh"),
        "SEXTANT_LIMITS__ANSWER_TOKENS", {"limits": LimitSettings(answer_tokens=64, answer_seconds=LIMIT)},
    ),
    "endless list": Case(
        answering(lambda request: good(request) + "".join(f"\n- 第 {n} 种症状是多饮、多尿、多食和体重下降。" for n in range(90))),
        WRITTEN, WRITTEN, sentence(WarningCode.ANSWER_CUT_OFF, "zh"), "SEXTANT_LIMITS__ANSWER_TOKENS",
        {"limits": LimitSettings(answer_tokens=64, answer_seconds=LIMIT)},
    ),
    "says the same for ever": Case(answering(lambda request: endless(f"- {good(request)}\n")), WRITTEN, WRITTEN),
    "goes on as the user": Case(
        answering(lambda request: f"{good(request)}<|im_end|>\n<|im_start|>user\n糖尿病会传染吗？"), WRITTEN, WRITTEN
    ),
    "begins with the header of its turn": Case(
        answering(thinking("<|start_header_id|>assistant<|end_header_id|>\n\n")), WRITTEN, WRITTEN
    ),
    "speaks in channels": Case(
        answering(thinking(
            "<|channel|>analysis<|message|>他们要症状。<|end|><|start|>assistant<|channel|>final<|message|>"
        )), WRITTEN, WRITTEN,
    ),
    "error in a stream of status 200": Case(
        always(Reply(raw=b'data: {"error": {"code": 503, "message": "Loading model"}}\n\n')), QUOTED, "model_unavailable", "503", "日志"
    ),
    "too long, said in a stream of status 200": Case(
        answering(lambda _: Reply(raw=(
            b'data: {"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_ctx": 4096}}\n\n'
        ))), QUOTED, "context_too_long", "读不完这么长的请求", "SEXTANT_LIMITS__CONTEXT_TOKENS",
    ),
    "chunks without choices, deltas and tokens, between comments": Case(
        streaming(lambda said: [
            ": PROCESSING", piece("") | {"choices": []}, *(piece(one, "", usage=None) for one in said),
            "event: ping\ndata: {}", piece("") | {"choices": [{"index": 0, "delta": None, "finish_reason": "eos"}]},
            {"id": "x", "choices": None, "usage": {"prompt_tokens": None, "completion_tokens": None}},
        ]), WRITTEN, WRITTEN,
    ),
    "content in parts": Case(
        streaming(lambda said: [
            piece([{"type": "thinking", "thinking": [{"type": "text", "text": "他们要症状。"}]}]),
            piece([{"type": "text", "text": said}], "stop"),
        ]), WRITTEN, WRITTEN,
    ),
    "answers a stream in one piece": Case(
        whole(lambda said: {"id": "x", "choices": [{"index": 0, "message": {"content": said}, "finish_reason": "stop"}]}),
        WRITTEN, WRITTEN,
    ),
    "allows shorter answers": Case(
        refusing(asks_for_many_tokens, 400, "max_tokens must be at most 64, the maximum is less than the context_window"),
        WRITTEN, WRITTEN,
    ),
    "allows shorter answers, by a status of its own": Case(
        refusing(asks_for_many_tokens, 416, "max_completion_tokens is limited for this model."), WRITTEN, WRITTEN
    ),
    "withheld as sensitive": Case(
        streaming(lambda _: [piece(""), piece("", "sensitive")]), QUOTED, "model_output_invalid", "内容过滤", "换一种问法"
    ),
    "its server fails in a sentence": Case(
        streaming(lambda said: [piece(said[:8]), piece("", "insufficient_system_resource")]),
        QUOTED, WRITTEN, "中途断开", "OPENAI_BASE_URL",
    ),
    "error beside no choices": Case(
        streaming(lambda _: [piece("") | {"choices": [], "error": {"code": 502, "message": "Worker limit reached"}}]),
        QUOTED, "model_unavailable", "502", "日志",
    ),
    "rate limit in a stream": Case(
        streaming(lambda _: ['event: error\ndata: {"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}']),
        QUOTED, "model_unavailable", "429", "稍后",
    ),
    "key expired in a stream": Case(
        streaming(lambda _: [{"error": {"message": "The API key has expired", "code": "invalid_api_key"}}]),
        QUOTED, "model_rejected", "拒绝了密钥", "OPENAI_API_KEY",
    ),
    "error in a shape of its own": Case(
        whole(lambda _: {"code": 1113, "msg": "账户已欠费", "success": False}),
        QUOTED, "model_rejected", "额度", "账单",
    ),
    "524 of a gateway": Case(always(failing(524, "a timeout occurred")), QUOTED, "model_unavailable", "524", "日志"),
    "JSON as a string": Case(judging(json.dumps), WRITTEN, WRITTEN),
    "JSON amid its schema": Case(
        judging(lambda said: f'{{"type": "object", "properties": {said}, "required": ["relevant"]}}'), WRITTEN, WRITTEN
    ),
    "JSON and more": Case(judging(lambda said: said + '\n```\nDone. {"x": 1} }'), WRITTEN, WRITTEN),
    "no money left": Case(always(failing(402, "Insufficient Balance")), QUOTED, "model_rejected", "额度", "账单"),
    "409 while it loads": Case(always(failing(409, "Model is loading")), QUOTED, "model_unavailable", "409", "日志"),
    "endless judgements": Case(
        lambda: lambda r: Reply("[[[" * 40, finish_reason="length") if r.wants_json else good(r),
        WRITTEN, WRITTEN, "按规则判断", "SEXTANT_LIMITS__ANSWER_TOKENS",
    ),
    "wrong language": Case(
        answering(lambda r: f"The main symptoms are great thirst and loss of weight [{number_of(r)}]."),
        WRITTEN, WRITTEN, sentence(WarningCode.ANSWER_IN_OTHER_LANGUAGE, "zh"),
    ),
    "invalid JSON": Case(
        lambda: lambda r: invalid_json() if r.wants_json else good(r), WRITTEN, WRITTEN, "按规则判断", "聊天模型"
    ),
    "marker 99": Case(answering(lambda _: "主要症状是多饮、多尿、多食和体重下降[99]。"), WRITTEN, WRITTEN),
    "429 for a moment": Case(limited_once, WRITTEN, WRITTEN, settings={"model_retries": 1}),
    "429 for an hour": Case(
        always(rate_limited(3600)), QUOTED, "model_unavailable", "429", "3600 秒", {"model_retries": 2}
    ),
    "429 without an hour": Case(
        always(failing(429, "Slow down.")), QUOTED, "model_unavailable", "429", "稍后", {"model_retries": 2}
    ),
    "500": Case(always(failing(500)), QUOTED, "model_unavailable", "500", "日志"),
    "500 for response_format": Case(
        refusing(has("response_format"), 500, "Internal error."), WRITTEN, WRITTEN
    ),
    "knows no response_format": Case(
        refusing(has("response_format"), 400, "response_format is not supported."), WRITTEN, WRITTEN
    ),
    "knows no temperature": Case(
        refusing(has("temperature"), 400, "Unsupported parameter: temperature."), WRITTEN, WRITTEN
    ),
    "knows no max_tokens": Case(
        refusing(has("max_tokens"), 400, "Unsupported parameter: max_tokens."), WRITTEN, WRITTEN
    ),
    "knows no system message": Case(
        refusing(has_system_message, 400, "System role not supported"), WRITTEN, WRITTEN
    ),
    "breaks at a system message": Case(
        refusing(has_system_message, 500, "Jinja Exception: Conversation roles must alternate user/assistant/…"),
        WRITTEN, WRITTEN,
    ),
    "cut in a sentence": Case(
        answering(lambda _: broken_after(4, "主要症状是多饮、多尿、多食")), QUOTED, WRITTEN, "中途断开", "OPENAI_BASE_URL"
    ),
    "cut behind a sentence": Case(
        answering(lambda r: broken_after(25, good(r) + "此外还有其他症状，比如")), WRITTEN, WRITTEN, "中途断开", "OPENAI_BASE_URL"
    ),
    "stream of half a line": Case(
        answering(lambda _: Reply(raw=b'data: {"id": "scripted", "choices": [{"delta": {"conte\n\n')),
        QUOTED, "model_unavailable", "不符合接口格式", "OPENAI_BASE_URL",
    ),
    "page of a proxy": Case(
        always(Reply(raw=b"<html><body>Please log in.</body></html>")), QUOTED, "model_unavailable", "不符合接口格式", "OPENAI_BASE_URL"
    ),
    "wrong key": Case(
        always(failing(401, "Incorrect API key.", code="invalid_api_key")), QUOTED, "model_rejected", "拒绝了密钥", "OPENAI_API_KEY"
    ),
    "unknown model": Case(
        always(failing(404, "The model does not exist.", code="model_not_found")), QUOTED, "model_rejected", "没有该模型", "SEXTANT_CHAT_MODEL"
    ),
}  # fmt: skip


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualClock:
    """Return the clock of the endpoint, by which the answer's budget and the waits between calls go, too."""
    clock = VirtualClock.of_running_loop()
    monkeypatch.setattr(budget, "time", clock)
    monkeypatch.setattr(retries, "asyncio", clock)
    return clock


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("behaviour", CASES)
async def test_every_mode_ends_well_and_in_time_however_the_endpoint_behaves(
    running_with: RunningWith, clock: VirtualClock, behaviour: str, mode: str
) -> None:
    await check_outcome(running_with, clock, CASES[behaviour], mode)


async def check_outcome(
    running_with: RunningWith, clock: VirtualClock, case: Case, mode: str
) -> None:
    """Check who answers in this mode, how late, and what is said of it."""
    limits = {"limits": LimitSettings(answer_seconds=LIMIT), "model_timeout": LIMIT}
    before = clock.passed
    settings = limits | dict(case.settings)
    pace = case.pace and replace(case.pace)  # another endpoint for each question
    async with running_with(case.script(), pace=pace, clock=clock, **settings) as running:
        events = await told(running, mode, 2 * LIMIT)
    assert clock.passed - before < LIMIT + TOLERANCE
    expected = case.bypass if mode == "bypass" else case.retrieving
    last = events[-1]
    if isinstance(last, Failed):
        assert last.detail is not None
        assert (last.code, language_of(last.message)) == (expected, "zh")
        assert case.said in last.message
        assert case.setting in last.detail["next_step"]
        return
    assert isinstance(last, Done)
    answer = last.answer
    assert answer.model == expected
    assert all(language_of(warning) == "zh" for warning in answer.warnings)
    assert_it_holds(answer, events)
    if mode == "bypass":
        assert not answer.citations
        assert not answer.grounded
        return
    assert "多饮、多尿" in answer.citations[0].quote
    warnings = [one for one in answer.warnings if one not in WITHOUT_A_GRAPH]
    assert bool(warnings) == bool(case.said)
    named = [name for one in warnings for name in re.findall(r"[A-Z]+_[A-Z_]+", one)]
    assert len(set(named)) == len(named), "a setting is named once"
    if case.said:
        [about_it] = [one for one in warnings if case.said in one]
        assert case.setting in about_it


LONG = [
    CorpusPassage(f"ward-{at}", "病房记录", "".join(f"第 {at} 病房第 {day} 天提供了饮食指导。" for day in range(40)))
    for at in range(20)
]  # fmt: skip
SHORT_CONTEXT = 1200


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "bypass"])
@pytest.mark.parametrize("cuts", [False, True])
async def test_prompts_fit_a_context_that_refused_or_cut_one(
    running_with: RunningWith, database: Database, mode: str, *, cuts: bool
) -> None:
    limits = LimitSettings(answer_tokens=400)
    settings = {"answers": AnswerSettings(passage_tokens=6000), "limits": limits}
    pace = EndpointPace(1e6, 1e6, context=SHORT_CONTEXT, cuts=cuts)
    async with running_with(writing(good), pace=pace, **settings) as running:
        await load_corpus(database, HashEmbedder(384), running.scope, [*PASSAGES, *LONG])
        first, second = [(await told(running, mode))[-1] for _ in range(2)]
        sent = [len(tokens_of(one.prompt)) for one in running.endpoint.chat_requests]
    assert sent[0] > 2 * SHORT_CONTEXT
    assert sent[-1] < SHORT_CONTEXT
    assert isinstance(first, Done)
    assert isinstance(second, Done)
    assert first.answer.model in ({WRITTEN, QUOTED} if cuts else {WRITTEN})
    assert second.answer.model == WRITTEN
    code = WarningCode.CONTEXT_CUT if cuts else WarningCode.CONTEXT_SHORTENED
    setting = "OLLAMA_CONTEXT_LENGTH" if cuts else "SEXTANT_LIMITS__CONTEXT_TOKENS"
    for done in (first, second):
        [about_it] = [one for one in done.answer.coded_warnings if one.code == code]
        assert setting in about_it.in_language("zh")


async def test_a_model_that_was_far_too_slow_is_not_asked_again_at_once(
    running_with: RunningWith, clock: VirtualClock
) -> None:
    limits = LimitSettings(answer_seconds=LIMIT)
    settings = UNSURE | {"limits": limits, "model_timeout": LIMIT}
    slow = EndpointPace(0.05, 10)
    async with running_with(writing(good), pace=slow, clock=clock, **settings) as running:
        for _ in range(4):
            before, asked = clock.passed, len(running.endpoint.chat_requests)
            done = (await told(running, "naive", 2 * LIMIT))[-1]
            assert isinstance(done, Done)
            assert " ".join(done.answer.warnings).count("SEXTANT_LIMITS__ANSWER_SECONDS") == 1
    assert isinstance(done, Done)
    assert (clock.passed, len(running.endpoint.chat_requests)) == (before, asked)
    assert done.answer.model == QUOTED
    [warning] = done.answer.warnings
    assert "SEXTANT_LIMITS__ANSWER_SECONDS" in warning
