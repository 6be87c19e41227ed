"""Streams that are read again: after they ended, while they go on, by whom, and for how long."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from sextant.domain.errors import RunNotFound
from sextant.testing.replies import silent_after
from tests.integration.server.served import (
    ANSWER,
    Served,
    asking,
    first,
    judging,
    sent,
    serving_with,
)


async def test_an_ended_stream_can_be_read_again_from_any_event_on(served: Served) -> None:
    async with served.client() as client:
        once = await client.post("/api/query", json=asking())
        events = sent(once.text)
        place = once.headers["content-location"]
        whole = await client.get(place)
        rest = await client.get(place, headers={"Last-Event-ID": events[4].id})
        none = await client.get(place, headers={"Last-Event-ID": events[-1].id})
    assert whole.text == once.text
    assert sent(rest.text) == events[5:]
    assert none.text == ""


async def leave_after_token(client: httpx.AsyncClient, **more: Any) -> tuple[str, str]:
    """Ask and leave after the first token: its id, and all that came until then."""
    async with client.stream("POST", "/api/query", json=asking(**more)) as answer:
        token, text = await first(answer, "token")
        return token.id, text


async def test_with_resume_the_answer_goes_on_and_nothing_of_it_is_lost(served: Served) -> None:
    resume = asyncio.Event()
    served.script = judging(silent_after(3, ANSWER, resume))
    async with served.client() as client:
        _, text = await leave_after_token(client, resume=True)
        seen = sent(text)
        resume.set()
        rest = await client.post(
            "/api/query", json=asking(), headers={"Last-Event-ID": seen[-1].id}
        )
    events = seen + sent(rest.text)
    number = [int(event.id.partition("-")[2]) for event in events]
    assert number == list(range(1, len(events) + 1))
    tokens = "".join(event.data["text"] for event in events if event.name == "token")
    assert events[-1].name == "done"
    assert events[-1].data["answer"] == tokens


async def test_without_resume_what_is_kept_ends_with_its_cancellation(served: Served) -> None:
    served.script = judging(silent_after(3, ANSWER))
    async with served.client() as client:
        last, _ = await leave_after_token(client)
        await served.endpoint.wait_for_streams(0)
        rest = await client.get(f"/api/query/{last.partition('-')[0]}/events")
    assert sent(rest.text)[-1].name == "error"
    assert sent(rest.text)[-1].data["code"] == "cancelled"


async def test_an_answer_that_goes_on_alone_can_be_ended(served: Served) -> None:
    served.script = judging(silent_after(3, ANSWER))
    before = served.endpoint.disconnects
    async with served.client() as client:
        last, _ = await leave_after_token(client, resume=True)
        place = f"/api/query/{last.partition('-')[0]}"
        assert served.runs.live == 1
        run = served.runs.find(last.partition("-")[0], "local")
        assert (await client.delete(place)).status_code == 204
        await served.endpoint.wait_for_disconnects(before + 1)
        await run.over()
        assert (await client.delete(place)).status_code == 204
    assert served.runs.live == 0


@pytest.mark.parametrize("place", ["0" * 32, "nonsense", "%00"])
async def test_a_run_that_is_not_there_is_not_found(served: Served, place: str) -> None:
    async with served.client() as client:
        answers = [
            await client.get(f"/api/query/{place}/events"),
            await client.delete(f"/api/query/{place}"),
        ]
    assert [(a.status_code, a.json()["code"]) for a in answers] == [(404, "run_not_found")] * 2


async def test_an_event_id_that_is_none_is_not_found(served: Served) -> None:
    async with served.client() as client:
        headers = {"Last-Event-ID": "17"}
        answer = await client.post("/api/query", json=asking(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")


async def test_the_runs_of_others_are_not_there(served: Served) -> None:
    async with served.client() as client:
        last, _ = await leave_after_token(client)
    run_id = last.partition("-")[0]
    assert served.runs.find(run_id, "local").run_id == run_id
    with pytest.raises(RunNotFound):
        served.runs.find(run_id, "somebody else")


@pytest.mark.parametrize("bound", [{"keep_seconds": 0}, {"keep_bytes": 100}])
async def test_events_are_kept_no_longer_and_no_more_than_the_settings_say(
    streaming_folder: Path, bound: dict[str, int]
) -> None:
    async with serving_with(streaming_folder, runs=bound) as served, served.client() as client:
        once = await client.post("/api/query", json=asking())
        again = await client.get(once.headers["content-location"])
    assert once.status_code == 200
    assert again.status_code == 404
