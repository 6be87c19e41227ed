"""Streams over real connections: order, equality with the result, errors, cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from sextant.domain.answers import Cited, Done, Event, Failed, Reset, Sources, Status, Token
from sextant.graph.streaming import stream_answer
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import (
    Reply,
    as_json,
    broken_after,
    endless,
    failing,
    silent_after,
    tokens_of,
)
from tests.integration.graph.conftest import Running, RunningWith

ANALYSIS = {"question": "Who owns a value?", "keywords": ["owner"]}
ENOUGH = {"relevant": [1], "sufficient": True}
QUESTION = "Who owns a value in Rust?"
LONG = "Each value in Rust has exactly one owner [1]. Version 3.14 changed nothing. Owner [99]."


def judging(answer: Reply | str) -> Callable[[ApiRequest], Reply | str]:
    """Return a script that judges by the book and answers `answer`."""

    def reply(request: ApiRequest) -> Reply | str:
        if not request.wants_json:
            return answer
        return as_json(ENOUGH if '"relevant"' in request.prompt else ANALYSIS)

    return reply


async def stream(running: Running, question: str = QUESTION, **more: Any) -> list[Event]:
    events = stream_answer(running.workflow, running.asking(question, **more))
    return [event async for event in events]


async def test_what_was_streamed_is_the_answer(running_with: RunningWith) -> None:
    async with running_with(judging(LONG)) as running:
        events = await stream(running)
    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer.answer == "".join(e.text for e in events if isinstance(e, Token))
    assert done.answer.citations == tuple(e.citation for e in events if isinstance(e, Cited))
    assert [done.answer.sources] == [e.sources for e in events if isinstance(e, Sources)]
    assert "Version 3.14 changed nothing. (unverified)" in done.answer.answer
    assert "99" not in done.answer.answer
    nodes = [event.node for event in events if isinstance(event, Status)]
    assert nodes == ["analyze", "route", "retrieve", "grade", "generate"]


async def test_a_sentences_citation_comes_before_the_next_sentence_ends(
    running_with: RunningWith,
) -> None:
    begun, resume = tokens_of(LONG).index(" Version") + 1, asyncio.Event()
    told = list[str]()
    paused = Reply(LONG, pause_after=begun, resume=resume)
    async with asyncio.timeout(30), running_with(judging(paused)) as running:
        async for event in stream_answer(running.workflow, running.asking(QUESTION)):
            if isinstance(event, Token):
                told.append(event.text)
            elif isinstance(event, Cited):
                resume.set()  # until then the model says no more
                break
    assert "owner [1]." in "".join(told)
    assert "3.14" not in "".join(told)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"question": ""}, "question_invalid"),
        ({"graph_id": "nowhere"}, "graph_not_found"),
        ({"mode": "telepathy"}, "mode_not_available"),
        ({"filters": {"tag": ["a"]}}, "option_invalid"),
        ({"history": ["not a turn"]}, "option_invalid"),
    ],
)
async def test_bad_input_ends_the_stream_with_one_typed_error(
    running_with: RunningWith, asked: dict[str, Any], code: str
) -> None:
    async with running_with() as running:
        events = await stream(running, **asked)
    [failed] = [event for event in events if isinstance(event, Failed)]
    assert failed is events[-1]
    assert failed.code == code
    assert failed.detail
    assert failed.detail["next_step"]


async def test_a_bad_choice_is_a_typed_error_too(running_with: RunningWith) -> None:
    async with running_with() as running:
        asked = running.asking(QUESTION)
        [failed] = [e async for e in stream_answer(running.workflow, asked, context={"top_k": 99})]
    assert isinstance(failed, Failed)
    assert (failed.code, failed.message.count("top_k")) == ("option_invalid", 1)


async def test_a_stump_of_a_sentence_gives_way_to_quotations_with_a_note(
    running_with: RunningWith,
) -> None:
    async with running_with(judging(broken_after(4))) as running:
        events = await stream(running)
        repairs = [one for one in running.endpoint.chat_requests if "<draft>" in one.prompt]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer.citations, "what the documents say is quoted"
    assert "It begins" not in done.answer.answer
    [said] = [one for one in done.answer.warnings if "chat model" in one]
    assert said.startswith("The chat model failed, so the answer is quoted from the documents")
    assert "Check OPENAI_BASE_URL" in said
    assert not repairs, "a model that has just failed is not asked to mend its text"


async def test_of_an_answer_that_breaks_off_what_holds_stays(running_with: RunningWith) -> None:
    text = "Every value has exactly one owner [1]. It is freed when the owner goes"
    said = broken_after(len(tokens_of(text)) - 2, text)
    async with running_with(judging(said)) as running:
        [*_, done] = await stream(running)
    assert isinstance(done, Done)
    assert done.answer.answer.startswith("Every value has exactly one owner [1].")
    assert done.answer.model == "scripted"
    assert any("ends where the chat model failed" in note for note in done.answer.warnings)


async def test_a_refusal_in_the_middle_takes_the_text_back_and_quotes(
    running_with: RunningWith,
) -> None:
    said = Reply("Every value has exactly one", finish_reason="content_filter")
    async with running_with(judging(said)) as running:
        events = await stream(running)
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.answer.model, bool(done.answer.citations)) == ("extractive", True)
    assert any(isinstance(event, Reset) for event in events)
    assert any("content filter" in note for note in done.answer.warnings)


async def test_an_unexpected_failure_gives_nothing_away(
    running_with: RunningWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ValueError("a secret path")

    monkeypatch.setattr(ExtractiveAnswerer, "extract", fail)
    async with running_with() as running:
        events = await stream(running)
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert failed.code == "internal_error"
    assert "secret" not in str(failed)


async def read_until_token(running: Running, **more: Any) -> None:
    events = stream_answer(running.workflow, running.asking(QUESTION, **more))
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Token):
                return


async def test_closing_the_stream_in_mid_answer_stops_the_model(running_with: RunningWith) -> None:
    async with running_with(judging(endless("one owner and "))) as running:
        await read_until_token(running)
        await running.endpoint.wait_for_disconnects()
        assert running.endpoint.open_streams == 0


@pytest.mark.parametrize("waiting_in", ["generate", "analyze"])
async def test_cancelling_the_reader_stops_a_model_that_is_silent(
    running_with: RunningWith, waiting_in: str
) -> None:
    asked = asyncio.Event()

    def script(request: ApiRequest) -> Reply | str:
        if waiting_in == "analyze" or not request.wants_json:
            asked.set()
            return silent_after(0)
        return judging("")(request)

    async with running_with(script) as running:
        reader = asyncio.create_task(read_until_token(running))
        await asked.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        await running.endpoint.wait_for_disconnects()


async def test_every_stream_ends_when_the_model_fails(running_with: RunningWith) -> None:
    async with running_with(lambda _: failing(500)) as running:
        events = await stream(running, mode="bypass")
    assert isinstance(events[-1], Failed)
    assert events[-1].code == "model_unavailable"
