"""The loop with a chat model that judges: at once, within its limits, and however it writes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sextant.domain.settings import LimitSettings
from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, as_json, failing, fence_json, invalid_json, refusal
from tests.integration.graph.conftest import Running, RunningWith

QUESTION = "糖尿病患者的主要症状、胰岛素的来源、终验的付款比例和 Rust 的所有者规则是什么？"
PARTS = [
    "糖尿病患者的主要症状是什么？",
    "胰岛素由什么分泌？",
    "终验的付款比例是多少？",
    "How many owners has a value in Rust?",
]
ANSWER = "主要症状是多饮、多尿、多食和体重下降[1]。"


@dataclass
class Judge:
    """A scripted model that tells its jobs apart by their prompts.

    `wrapped` writes each judgement; `sufficient` says whether the passages answer in this round.
    """

    wrapped: Callable[[object], Reply] = as_json
    sufficient: Callable[[int], bool] = lambda _round: True
    parts: list[str] = field(default_factory=lambda: list(PARTS))
    asked: list[str] = field(default_factory=list[str])
    rounds: int = 0

    def __call__(self, request: ApiRequest) -> Reply | str:
        if not request.wants_json:
            self.asked.append("answer")
            return ANSWER
        if '"subquestions"' in request.prompt:
            self.asked.append("analyze")
            return self.wrapped({"question": QUESTION, "subquestions": self.parts})
        self.asked.append("grade")
        self.rounds += 1
        if self.sufficient(self.rounds):
            return self.wrapped({"relevant": [1], "sufficient": True, "queries": []})
        queries = [f"多尿 {self.rounds}", f"胰腺 {self.rounds}"]
        weak = {"relevant": [1], "sufficient": False, "queries": queries}
        return self.wrapped(weak)


async def ask(running: Running, **more: Any) -> dict[str, Any]:
    return await running.workflow.ainvoke(running.asking(QUESTION, mode="naive", **more))


async def test_a_weak_round_costs_one_call_and_searches_what_the_model_misses(
    running_with: RunningWith,
) -> None:
    judge = Judge(sufficient=lambda judged: judged > 1)
    async with running_with(judge) as running:
        result = await ask(running)
        _, _, again, _ = running.endpoint.chat_requests
    assert judge.asked == ["analyze", "grade", "grade", "answer"]
    assert "多尿 1\n胰腺 1\n" in again.prompt
    assert result["attempts"] == 1
    assert result["answer"].startswith("主要症状")
    assert {node: cost["calls"] for node, cost in result["costs"].items() if cost["calls"]} == {
        "analyze": 1,
        "grade": 2,
        "generate": 1,
    }


async def test_a_judge_that_is_never_content_is_stopped_by_the_limit_of_calls(
    running_with: RunningWith,
) -> None:
    judge = Judge(sufficient=lambda _round: False)
    async with running_with(judge, limits=LimitSettings(model_calls=3)) as running:
        result = await ask(running)
        assert len(running.endpoint.chat_requests) == result["usage"]["calls"] <= 3
    assert result["answer"].startswith("主要症状")
    assert any("limits.model_calls" in warning for warning in result["warnings"])


async def test_the_limit_of_prompt_tokens_stops_judging_and_is_said(
    running_with: RunningWith,
) -> None:
    limits = LimitSettings(prompt_tokens=1500, context_tokens=200)
    judge = Judge(sufficient=lambda _round: False)
    async with running_with(judge, limits=limits) as running:
        result = await ask(running)
    assert result["usage"]["prompt_tokens"] <= 1500
    assert result["answer"].startswith("主要症状")
    assert any("limits.prompt_tokens" in warning for warning in result["warnings"])


async def test_time_that_runs_out_in_the_middle_leaves_an_answer_of_what_there_is(
    running_with: RunningWith,
) -> None:
    """No judgement ever comes; searching and the answer still get their time.

    Without the limit a single call would be waited for a minute (`model_timeout`).
    """

    def stuck(request: ApiRequest) -> Reply | str:
        return Reply("{}", pause_after=0) if request.wants_json else ANSWER

    async with running_with(stuck, limits=LimitSettings(answer_seconds=3)) as running:
        async with asyncio.timeout(30):
            result = await ask(running)
        assert running.endpoint.disconnects >= 1
        assert len(running.endpoint.chat_requests) == 2, "no judgement is waited for a second time"
    assert result["model"] == "scripted"
    assert result["sources"]
    assert any("及时" in warning or "answer_seconds" in warning for warning in result["warnings"])


async def test_judgements_that_fail_leave_the_answer_its_second_and_third_try(
    running_with: RunningWith,
) -> None:
    busy = iter([failing(503), failing(503)])

    def overloaded(request: ApiRequest) -> Reply | str:
        return failing(503) if request.wants_json else next(busy, ANSWER)

    async with running_with(overloaded, model_retries=2) as running:
        result = await ask(running)
    assert (result["model"], result["usage"]["calls"]) == ("scripted", 6)
    assert any("按规则判断" in warning for warning in result["warnings"])


def cut_off(value: object) -> Reply:
    """Return JSON whose end is missing, as a token limit leaves it."""
    return Reply(json.dumps(value, ensure_ascii=False)[:-1].rstrip(']"'))


def with_odd_types(value: object) -> Reply:
    """Reply with numbers as text, a list as one string, yes for true, and keys that nobody asked for."""
    assert isinstance(value, dict)
    odd = {key: str(one) if isinstance(one, bool) else one for key, one in value.items()}
    if "relevant" in odd:
        odd["relevant"] = "passage 1"
    if "subquestions" in odd:
        odd["subquestions"] = [{"question": part, "why": None} for part in odd["subquestions"]]
    return as_json(odd | {"confidence": 0.9, "entities": None})


@pytest.mark.parametrize("wrapped", [fence_json, cut_off, with_odd_types])
async def test_careless_judgements_are_read_at_the_first_try(
    running_with: RunningWith, wrapped: Callable[[object], Reply]
) -> None:
    judge = Judge(wrapped=wrapped)
    async with running_with(judge) as running:
        result = await ask(running)
    assert judge.asked == ["analyze", "grade", "answer"]
    assert not [warning for warning in result["warnings"] if "规则" in warning]
    assert result["attempts"] == 0


async def test_missing_fields_are_judged_by_rule_or_as_not_said(running_with: RunningWith) -> None:
    def terse(request: ApiRequest) -> Reply | str:
        if not request.wants_json:
            return ANSWER
        return as_json({"question": ""} if '"themes"' in request.prompt else {"relevant": [1]})

    async with running_with(terse) as running:
        result = await running.workflow.ainvoke(running.asking(PARTS[0], mode="naive"))
    assert result["answer"].startswith("主要症状")
    assert result["usage"]["calls"] <= 8


@pytest.mark.parametrize(
    "useless",
    [refusal(), invalid_json(), Reply(""), failing(503), failing(429), failing(401)],
    ids=["refusal", "prose", "nothing", "503", "429", "401"],
)
async def test_a_judge_without_judgement_costs_no_more_than_the_limit(
    running_with: RunningWith, useless: Reply
) -> None:
    def judges_badly(request: ApiRequest) -> Reply | str:
        return useless if request.wants_json else ANSWER

    async with running_with(judges_badly) as running:
        result = await ask(running)
        assert len(running.endpoint.chat_requests) <= 8
        assert result["usage"]["calls"] == len(running.endpoint.chat_requests)
    assert result["answer"].startswith("主要症状")
    assert any("按规则判断" in warning for warning in result["warnings"])
