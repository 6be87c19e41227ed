"""Imports that are followed: what is told of them, and how they end."""

from __future__ import annotations

import asyncio

import pytest

from sextant.domain.errors import DatabaseUnavailable
from sextant.ingestion.progress import OnStage
from sextant.server.lifespan import Imports, Work
from sextant.server.schemas.graphs import ImportBody
from tests.integration.server.served import Sent, sent

REPORT = ImportBody(
    graph_id="kg", documents=1, unchanged=0, chunks=2, entities=3, relations=4,
    problem_count=0, problems=(), warnings=(),
)  # fmt: skip


async def told(imports: Imports, work: Work) -> list[Sent]:
    following = imports.begin(work)
    return sent(b"".join([part async for part in following.events(60)]).decode())


async def test_who_follows_hears_the_latest_of_many_steps_and_the_report() -> None:
    async def work(on_stage: OnStage) -> ImportBody:
        for done in range(1000):
            on_stage("graph", done, 1000)
        await asyncio.sleep(0.05)
        return REPORT

    progress, last = await told(Imports(), work)
    assert progress.data == {"stage": "graph", "done": 999, "total": 1000}
    assert (last.name, last.data["relations"]) == ("done", 4)


async def test_a_failure_is_the_last_event_with_what_to_do() -> None:
    async def work(_: OnStage) -> ImportBody:
        raise DatabaseUnavailable("It is gone.", next_step="Start it.")

    [last] = await told(Imports(), work)
    assert (last.name, last.data["code"], last.data["nextStep"]) == (
        "error", "database_unavailable", "Start it.",
    )  # fmt: skip


async def test_who_leaves_does_not_stop_it_but_the_server_does_when_it_ends() -> None:
    imports, going = Imports(), asyncio.Event()

    async def work(on_stage: OnStage) -> ImportBody:
        on_stage("lines", 1, 0)
        going.set()
        await asyncio.Event().wait()
        return REPORT

    following = imports.begin(work)
    first = following.events(60)
    assert b'"stage":"lines"' in await anext(first)
    await asyncio.sleep(0)
    assert not following.task.done()
    await imports.close()
    assert following.task.cancelled()
    [last] = sent(b"".join([part async for part in following.events(60)]).decode())
    assert (last.name, last.data["code"]) == ("error", "cancelled")
    with pytest.raises(asyncio.CancelledError):
        following.task.result()
