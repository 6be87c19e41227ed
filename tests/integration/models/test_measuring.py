"""What the doctor measures of simulated endpoints, whose time is virtual."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from sextant.domain.errors import ModelRejected
from sextant.domain.settings import Settings
from sextant.models.chat.factory import build_chat_model
from sextant.models.chat.measuring import READ_FIRST, Measurement, measure
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI, to_handler
from sextant.testing.replies import (
    EndpointPace,
    Reply,
    VirtualClock,
    as_json,
    endless,
    failing,
    invalid_json,
)

SECONDS, LONGEST = 600.0, 9700
COUNT = " ".join(map(str, range(1, 31)))


def capable(request: ApiRequest) -> Reply | str:
    """Reply as a model does that reads and counts."""
    if request.wants_json:
        return as_json({"colour": "yellow"})
    code = re.search(r"code word is (\w+)", request.prompt)
    return f"{code[1] if code else 'There is none.'} {COUNT}"


async def measured(
    pace: EndpointPace, script: object = capable
) -> tuple[Measurement, list[str], float]:
    """Return what is found, what was reported, and how long it took."""
    clock, reported = VirtualClock.of_running_loop(), list[str]()
    before = clock.passed
    handler = to_handler(script)  # type: ignore[arg-type]
    async with ScriptedOpenAI(handler, pace=replace(pace), clock=clock) as endpoint:
        settings = Settings(
            _env_file=None,
            chat_model="paced",
            openai_base_url=endpoint.base_url,
            model_retries=0,
            model_timeout=SECONDS,
        )
        chat = await asyncio.to_thread(build_chat_model, settings)
        assert chat is not None
        try:
            found = await measure(chat, LONGEST, SECONDS, reported.append)
        finally:
            await chat.close()
    return found, reported, clock.passed - before


async def test_rates_are_measured_and_the_longest_prompt_is_tried_where_there_is_time() -> None:
    found, reported, _ = await measured(EndpointPace(80, 8))
    assert found.prompt_rate == pytest.approx(80, rel=0.3)
    assert found.answer_rate == pytest.approx(8, rel=0.3)
    assert (found.longest_read, found.limit, found.failure) == (LONGEST, None, "")
    assert (found.json_failure, found.refused, found.thinking_tokens) == ("", (), 0)
    assert reported == [
        "a call for JSON",
        f"a prompt of {READ_FIRST:,} tokens",
        f"a prompt of {LONGEST:,} tokens",
    ]


async def test_a_slow_endpoint_is_given_up_in_time() -> None:
    found, reported, passed = await measured(EndpointPace(2, 0.2))
    assert passed < SECONDS * 1.1
    assert len(reported) == 2
    assert "not answered" in found.failure


@pytest.mark.parametrize("cuts", [False, True])
async def test_a_context_that_is_too_short_is_found_by_the_word_at_the_beginning(
    *, cuts: bool
) -> None:
    pace = EndpointPace(1000, 60, context=4096, cuts=cuts)
    found, _, _ = await measured(pace)
    assert found.longest_read == READ_FIRST
    assert found.limit is not None
    assert (found.limit.tokens, found.limit.is_cut) == (4096, cuts)


async def test_thoughts_are_told_from_reading() -> None:
    found, _, _ = await measured(EndpointPace(1000, 60, thinking=800))
    assert found.thinking_tokens == pytest.approx(800, rel=0.1)
    assert found.prompt_rate > 500  # it thinks for 13 s, and reads for 2


async def test_what_is_refused_and_a_model_without_json_are_told() -> None:
    def picky(request: ApiRequest) -> Reply | str:
        if "response_format" in request.body:
            return failing(400, "response_format is not supported.")
        if "temperature" in request.body:
            return failing(400, "temperature is not supported.")
        return invalid_json() if request.wants_json else capable(request)

    found, _, _ = await measured(EndpointPace(1000, 60), picky)
    assert "response_format json_object" in found.refused
    assert "temperature" in found.refused
    assert "structure" in found.json_failure
    assert found.longest_read == LONGEST


async def test_a_model_that_never_finds_the_word_but_counts_the_prompt_has_read_it() -> None:
    def forgetful(request: ApiRequest) -> Reply | str:
        return as_json({"colour": "yellow"}) if request.wants_json else COUNT

    found, _, _ = await measured(EndpointPace(1000, 60), forgetful)
    assert (found.longest_read, found.limit) == (LONGEST, None)


async def test_a_model_that_goes_on_and_on_is_timed_and_left() -> None:
    def chatty(request: ApiRequest) -> Reply | str:
        return as_json({"colour": "yellow"}) if request.wants_json else endless(f"{COUNT} ")

    found, _, passed = await measured(EndpointPace(80, 8), chatty)
    assert passed < SECONDS
    assert found.prompt_rate == pytest.approx(80, rel=0.4)
    assert found.answer_rate == pytest.approx(8, rel=0.4)
    assert found.limit is None


async def test_who_does_not_answer_at_all_is_an_error() -> None:
    with pytest.raises(ModelRejected):
        await measured(
            EndpointPace(1000, 60),
            lambda _: failing(401, "Incorrect API key.", code="invalid_api_key"),
        )
