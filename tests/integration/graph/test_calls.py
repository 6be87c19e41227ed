"""Every request that an answer makes of its model counts, and there are never more than the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import pytest

from sextant.domain.scope import Scope
from sextant.domain.settings import LimitSettings
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, as_json, failing, invalid_json, rate_limited, slow
from tests.integration.graph.conftest import RunningWith
from tests.pictures import data_uri, picture

QUESTION = "糖尿病患者的主要症状是什么？胰岛素由什么分泌？"
ANSWER = "主要症状是多饮、多尿、多食和体重下降[1]。"
MODES = ["naive", "local", "global", "hybrid", "mix", "auto", "bypass"]

ReplyFunction = Callable[[ApiRequest], Reply | str]


def never_content(rounds: Iterator[int], request: ApiRequest) -> Reply | str:
    """Judge that nothing suffices and rewrites the query each time, so that all rounds are made."""
    if not request.wants_json:
        return ANSWER
    return as_json({"question": QUESTION, "relevant": [1], "sufficient": False,
                    "missing": "更多", "queries": [f"问法 {next(rounds)}"], "sentences": []})  # fmt: skip


def knows_no_option() -> ReplyFunction:
    """Return refuses `response_format` and `stream_options`, which each process has to learn."""
    rounds = count()

    def reply(request: ApiRequest) -> Reply | str:
        if "response_format" in request.body:
            return failing(400, "response_format is not supported")
        if "stream_options" in request.body:
            return failing(400, "stream_options is not supported")
        return never_content(rounds, request)

    return reply


def busy_at_first() -> ReplyFunction:
    """Refuse every prompt once with 429."""
    rounds, seen = count(), set[str]()

    def reply(request: ApiRequest) -> Reply | str:
        if request.prompt not in seen:
            seen.add(request.prompt)
            return rate_limited(0)
        return never_content(rounds, request)

    return reply


def always_busy() -> ReplyFunction:
    return lambda _request: rate_limited(0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("endpoint", [knows_no_option, busy_at_first, always_busy])
async def test_refused_and_repeated_calls_count_and_stay_within_the_limit(
    running_with: RunningWith, endpoint: Callable[[], ReplyFunction], mode: str
) -> None:
    async with running_with(endpoint(), model_retries=2) as running:
        asked = running.asking(QUESTION, mode=mode)
        if mode == "bypass" and endpoint is always_busy:
            with pytest.raises(Exception, match="429"):
                await running.workflow.ainvoke(asked)
            assert len(running.endpoint.chat_requests) == 3
            return
        result = await running.workflow.ainvoke(asked)
        made = len(running.endpoint.chat_requests)
    assert result["answer"]
    assert result["usage"]["calls"] == made <= 8
    assert sum(cost["calls"] for cost in result["costs"].values()) == made
    if made == 8 and endpoint is not knows_no_option:  # which needs just as many
        assert any("limits.model_calls" in warning for warning in result["warnings"])


PARTS = [QUESTION[:14], QUESTION[14:], "糖尿病有哪些症状？", "什么分泌胰岛素？"]


def silent_from(step: str) -> ReplyFunction:
    """Give no judgement from that step of the loop on, but answers."""

    def reply(request: ApiRequest) -> Reply | str:
        if not request.wants_json:
            return ANSWER
        if step == "grade" and "ubquestions" in request.prompt:
            return as_json({"subquestions": PARTS})
        return slow("{}", 30)

    return reply


@pytest.mark.parametrize(("step", "calls"), [("analyze", 1), ("grade", 2)])
async def test_silence_in_the_loop_is_met_once_and_leaves_the_rest_to_the_answer(
    running_with: RunningWith, step: str, calls: int
) -> None:
    async with running_with(silent_from(step), model_timeout=1.0, model_retries=5) as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION, mode="mix"))
    assert result["model"] == "scripted"
    assert result["usage"]["calls"] == calls + 1
    [warning] = result["warnings"]
    assert "按规则判断" in warning
    assert "未能及时回答" in warning


def judges(reply: Callable[[], Reply]) -> ReplyFunction:
    """Judge as `reply` says, always; reads reports and answers as it should."""

    def answering(request: ApiRequest) -> Reply | str:
        if "<reports>" in request.prompt:
            return as_json({"points": [{"text": "要点", "importance": 5, "passages": [1]}]})
        return reply() if request.wants_json else ANSWER

    return answering


@pytest.mark.parametrize("calls", [4, 5, 6, 7, 8])
@pytest.mark.parametrize("judged", ["unreadable", "never content"])
async def test_judgements_leave_global_the_calls_that_read_its_reports(
    running_with: RunningWith, database: Database, filled: Scope, judged: str, calls: int
) -> None:
    await GraphUpkeep(database, HashEmbedder(384)).refresh(filled)
    rounds = count()
    never = {"question": QUESTION, "relevant": [1], "sufficient": False}
    replies = {
        "unreadable": invalid_json,
        "never content": lambda: as_json(never | {"queries": [f"问法 {next(rounds)}"]}),
    }
    limits = LimitSettings(model_calls=calls)
    async with running_with(judges(replies[judged]), limits=limits) as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION, mode="global"))
        asked = [request.prompt for request in running.endpoint.chat_requests]
    assert ["<reports>" in prompt for prompt in asked[-2:]] == [True, False]
    assert "- 要点 [" in asked[-1]
    assert (result["model"], result["usage"]["calls"]) == ("scripted", len(asked))
    assert len(asked) <= calls


async def test_a_form_that_was_refused_at_the_last_call_is_not_tried_again(
    running_with: RunningWith,
) -> None:
    """Else an endpoint that refuses one form would never give an answer of its own."""
    async with running_with(knows_no_option(), limits=LimitSettings(model_calls=1)) as running:
        asked = running.asking(QUESTION, mode="naive")
        first = await running.workflow.ainvoke(asked)
        second = await running.workflow.ainvoke(asked)
        assert len(running.endpoint.chat_requests) == 2
    assert any("limits.model_calls" in warning for warning in first["warnings"])
    assert (first["model"], second["model"]) == ("extractive", "scripted")


async def test_an_image_that_may_not_be_looked_at_leaves_the_only_call_to_the_answer(
    running_with: RunningWith,
) -> None:
    image = {"type": "image", "data": data_uri(picture())}
    rounds, limits = count(), LimitSettings(model_calls=1)
    script = partial(never_content, rounds)
    async with running_with(script, vision_model="eyes", limits=limits) as running:
        asked = running.asking(QUESTION, mode="naive", multimodal_content=[image])
        result = await running.workflow.ainvoke(asked)
        [request] = running.endpoint.chat_requests
    assert not request.images
    assert result["model"] == "scripted"
    assert result["usage"]["calls"] == 1
    assert any("limits.model_calls" in warning for warning in result["warnings"])
