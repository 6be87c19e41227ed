"""Answers under way are counted; who finds no slot is told at once, and nothing was done for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sextant.testing.replies import silent_after
from tests.integration.server.served import Served, asking, sent, serving_with


async def occupied(served: Served, number: int) -> list[asyncio.Task[str]]:
    """So many answers under way, whose model says nothing."""

    async def ask() -> str:
        async with served.client() as client:
            return (await client.post("/api/query", json=asking(mode="bypass"))).text

    asked = [asyncio.create_task(ask()) for _ in range(number)]
    await served.endpoint.wait_for_streams(number)
    return asked


async def test_without_a_free_slot_the_answer_is_503_before_any_work(
    streaming_folder: Path,
) -> None:
    resume = asyncio.Event()
    async with serving_with(streaming_folder, runs={"concurrent": 2}) as served:
        served.script = lambda _: silent_after(0, "Three words only.", resume)
        asked = await occupied(served, 2)
        async with served.client() as client:
            refused = [
                await client.post("/api/query", json=asking(stream=streaming))
                for streaming in (True, False)
            ]
            chat = {"model": "sextant", "messages": [{"role": "user", "content": "Hello?"}]}
            refused_chat = await client.post("/v1/chat/completions", json=chat)
        assert [(a.status_code, a.json()["code"]) for a in refused] == [(503, "overloaded")] * 2
        assert refused_chat.status_code == 503
        assert refused_chat.json()["error"]["code"] == "overloaded"
        assert all(int(a.headers["retry-after"]) > 0 for a in (*refused, refused_chat))
        assert len(served.endpoint.chat_requests) == 2
        resume.set()
        assert [sent(text)[-1].name for text in await asyncio.gather(*asked)] == ["done"] * 2
        async with served.client() as client:
            again = await client.post("/api/query", json=asking(mode="bypass"))
        assert again.status_code == 200


async def test_a_full_server_refuses_unread_and_lets_come_back_who_has_a_slot(
    streaming_folder: Path,
) -> None:
    resume = asyncio.Event()
    async with serving_with(streaming_folder, runs={"concurrent": 1}) as served:
        served.script = lambda _: silent_after(0, "Three words only.", resume)
        [asked] = await occupied(served, 1)
        [run_id] = served.runs._live
        async with served.client() as client:
            unread = [
                await client.post("/api/query", content=b"{", headers=headers)
                for headers in ({}, {"Authorization": "Bearer sxt_garbage"})
            ]
            assert [answer.status_code for answer in unread] == [503, 503]
            assert all(answer.headers["x-request-id"] for answer in unread)
            assert unread[0].json()["requestId"] == unread[0].headers["x-request-id"]
            again = {"Last-Event-ID": f"{run_id}-1"}
            async with client.stream("POST", "/api/query", json=asking(), headers=again) as back:
                assert back.status_code == 200
            assert (await client.get("/healthz")).status_code == 200
        resume.set()
        assert sent(await asked)[-1].name == "done"


async def test_an_answer_that_takes_too_long_is_ended(streaming_folder: Path) -> None:
    bounds = {"seconds": 2, "hold_seconds": 60}
    async with serving_with(streaming_folder, runs=bounds) as served, served.client() as client:
        served.script = lambda _: silent_after(0)
        late = await client.post("/api/query", json=asking(mode="bypass"))
        assert (late.status_code, late.json()["code"]) == (504, "timed_out")
        await served.endpoint.wait_for_disconnects()
        assert served.runs.live == 0


async def test_a_stream_in_which_nothing_happens_is_pinged(streaming_folder: Path) -> None:
    bounds = {"ping_seconds": 0.05, "hold_seconds": 0.05}
    resume = asyncio.Event()
    async with serving_with(streaming_folder, runs=bounds) as served, served.client() as client:
        served.script = lambda _: silent_after(0, "Three words only.", resume)
        body = asking(mode="bypass")
        text = ""
        async with client.stream("POST", "/api/query", json=body) as answer:
            async for part in answer.aiter_text():
                text += part
                if text.count(": ping\n\n") >= 3:
                    resume.set()
    assert sent(text)[-1].name == "done"
