"""Readers that leave or stand still, and documents that change, while an answer is being written."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from sextant.domain.answers import Cited, Done, Event, Token
from sextant.domain.settings import LimitSettings
from sextant.domain.warnings import WarningCode
from sextant.graph.streaming import stream_answer
from sextant.nodes.answers.quotations import NOTHING_FOUND
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, as_json, endless, silent_after
from tests.integration.graph.conftest import Running, RunningWith
from tests.sentences import sentence

QUESTION = "Who owns a value in Rust?"
ANALYSIS = {"question": QUESTION, "keywords": ["owner"]}
ENOUGH = {"relevant": [1], "sufficient": True}


def owner(request: ApiRequest) -> str:
    """Return the number under which the passage about owners is shown."""
    return request.prompt.partition("exactly one owner")[0].rpartition('number="')[2][:1]


async def read_until_token(running: Running) -> None:
    async with aclosing(stream_answer(running.workflow, running.asking(QUESTION))) as events:
        async for event in events:
            if isinstance(event, Token):
                return


@pytest.mark.parametrize("waiting_in", ["grade", "repair"])
async def test_leaving_during_a_judgement_or_a_repair_stops_the_model(
    running_with: RunningWith, waiting_in: str
) -> None:
    asked = asyncio.Event()

    def script(request: ApiRequest) -> Reply | str:
        if {"grade": '"relevant"', "repair": "<draft>"}[waiting_in] in request.prompt:
            asked.set()
            return silent_after(0)
        if not request.wants_json:
            return f"Each value has exactly one owner [{owner(request)}]. Crabs founded Paris."
        return as_json({**ANALYSIS, **ENOUGH})

    async def read_all(running: Running) -> list[Event]:
        asking = running.asking(QUESTION)
        return [event async for event in stream_answer(running.workflow, asking)]

    async with running_with(script) as running:
        reader = asyncio.create_task(read_all(running))
        await asyncio.wait_for(asked.wait(), timeout=60)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        await running.endpoint.wait_for_disconnects()
        assert running.endpoint.open_streams == 0


async def test_a_reader_that_stands_still_stops_the_model_from_being_read(
    running_with: RunningWith,
) -> None:
    """Sockets between the two hold some of what the model writes; the run itself holds no more."""

    def script(request: ApiRequest) -> Reply | str:
        if request.wants_json:
            return as_json({**ANALYSIS, **ENOUGH})
        return endless("owner " * 200)

    limits = LimitSettings(answer_tokens=200_000)
    async with running_with(script, limits=limits) as running:
        events = stream_answer(running.workflow, running.asking(QUESTION))
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Token):
                    break
            for _ in range(2000):  # the run gets every chance to go on
                await asyncio.sleep(0)
            assert running.endpoint.open_streams == 1
            unread = 0
            async for event in events:
                unread += isinstance(event, Token)
                if unread == 500:
                    break
            assert unread == 500, "the run goes on once it is read"
        await running.endpoint.wait_for_disconnects()


async def test_a_document_that_is_deleted_while_the_answer_is_written_is_not_cited(
    running_with: RunningWith, database: Database
) -> None:
    begun = asyncio.Event()

    def script(request: ApiRequest) -> Reply | str:
        if request.wants_json:
            return as_json({**ANALYSIS, **ENOUGH, "sentences": []})
        symptoms = request.prompt.partition("多饮、多尿")[0].rpartition('number="')[2][:1]
        text = f"症状是多饮、多尿、多食和体重下降[{symptoms}]。 Each value has one owner [{owner(request)}]."
        return Reply(text, pause_after=3, resume=begun)

    async with running_with(script) as running:
        asking = running.asking(QUESTION, mode="naive")
        documents = DocumentStore(database)
        events = list[Event]()
        async with aclosing(stream_answer(running.workflow, asking)) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, Token) and not begun.is_set():
                    [document] = await documents.list(running.scope)
                    await documents.delete(running.scope, document.id)
                    begun.set()
    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer.answer == NOTHING_FOUND["en"]
    assert (done.answer.citations, done.answer.sources) == ((), ())
    assert sentence(WarningCode.ANSWER_REPLACED, "en") in done.answer.warnings
    assert not any(isinstance(event, Cited) for event in events)
