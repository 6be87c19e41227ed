"""Embedding everything anew that was broken off is told everywhere, and a worker goes on with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sextant.domain.settings import Settings
from sextant.domain.warnings import WarningCode
from sextant.facade import Sextant
from sextant.facade.doctor import Examination, Health, examine
from sextant.facade.worker import working
from sextant.server.observe.readiness import DependencyState, ReadinessProbe
from sextant.stores.documents.embedding_space import has_all_vectors
from sextant.testing.openai_server import ScriptedOpenAI
from tests.sentences import sentence

PATIENCE = 60.0
QUESTION = "How many days of annual leave do staff get?"


class Killed(BaseException):
    """What ends a process in the middle of its work."""


@pytest_asyncio.fixture
async def changed(settings: Settings, tmp_path: Path) -> AsyncIterator[Settings]:
    """Yield settings with another model than some documents were ingested with; embedding them anew was killed."""
    async with ScriptedOpenAI(lambda _: "yes") as endpoint:
        first = settings.model_copy(
            update={
                "openai_base_url": endpoint.base_url,
                "embedding": "openai:first",
            }
        )
        for number in range(3):
            (tmp_path / f"rule-{number}.md").write_text(f"Staff get {number + 20} days of leave.")
        async with Sextant.open(first) as rag:
            await rag.ingest([tmp_path], graph_id="rules")
        second = first.model_copy(
            update={
                "embedding": "openai:second",
                "ingestion": first.ingestion.model_copy(update={"embed_batch": 1}),
            }
        )

        def kill(done: int, _: int) -> None:
            raise Killed

        async with Sextant.open(second) as rag:
            with pytest.raises(Killed):
                await rag.reembed(kill)
        yield second


async def stored_vectors(settings: Settings) -> Examination:
    return {one.name: one async for one in examine(settings)}["stored vectors"]


async def test_it_is_told_until_a_worker_has_finished_it(changed: Settings) -> None:
    found = await stored_vectors(changed)
    assert found.health is Health.WARNING
    assert "sextant reembed" in found.next_step
    async with Sextant.open(changed) as rag:
        readiness = ReadinessProbe(changed, rag.database, rag.embedder)
        [state] = [one.state for one in await readiness.dependencies() if one.name == "embedding"]
        assert state is DependencyState.DEGRADED
        answer = await rag.query(QUESTION, graph_id="rules")
        assert sentence(WarningCode.VECTORS_MISSING, "en") in answer.warnings
        async with working(rag.worker()), asyncio.timeout(PATIENCE):
            while not await has_all_vectors(rag.database):  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.05)
    assert (await stored_vectors(changed)).health is Health.OK
    async with Sextant.open(changed) as rag:
        answer = await rag.query(QUESTION, graph_id="rules")
        assert sentence(WarningCode.VECTORS_MISSING, "en") not in answer.warnings
        assert len((await rag.search(QUESTION, graph_id="rules", mode="naive")).results) == 3
