"""Chunks described by a chat model: structured, batched, tried three times, never worse than before."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.errors import ModelRejected
from domain.scope import Scope
from domain.settings import Settings
from ingestion.metadata.by_model import DescribedByModel, ModelDescriber
from ingestion.pipeline import Ingestor
from models.chat.building import build_chat_model
from stores.chunks.chunk_store import ChunkStore, StoredChunk
from stores.postgresql.database import Database
from testing.openai_server import ApiRequest, ScriptedOpenAI
from testing.replies import Reply, failing

SAMPLES = Path(__file__).parents[3] / "samples" / "documents"
Chat = Callable[[ApiRequest], Reply | str]


def told(request: ApiRequest, leave_out: int | None = None) -> str:
    """What a model says that follows its orders."""
    numbers = [int(n) for n in re.findall(r"^\[(\d+)\] ", request.prompt, re.MULTILINE)]
    passages: list[dict[str, Any]] = [
        {
            "passage": number,
            "summary": f"In  short: {number}. " + "x" * 500,
            "keywords": [f"word {n}" for n in range(20)],
            "topics": ["Topic", "Topic", ""],
            "tags": ["procedure"],
        }
        for number in numbers
        if number != leave_out
    ]
    return orjson.dumps({"passages": passages}).decode()


@pytest.fixture
async def ingested(ingestor: Ingestor, scope: Scope) -> Scope:
    await ingestor.ingest(scope, [next(iter(sorted(SAMPLES.glob("*.md"))))])
    return scope


@asynccontextmanager
async def describer(
    database: Database, settings: Settings, chat: Chat
) -> AsyncIterator[tuple[ModelDescriber, ScriptedOpenAI]]:
    async with ScriptedOpenAI(chat=chat) as server:
        changed = settings.model_copy(
            update={
                "chat_model": "scripted",
                "openai_base_url": server.base_url,
                "model_retries": 0,
            }
        )
        model = build_chat_model(changed)
        assert model is not None
        yield ModelDescriber(database, model), server
        await model.close()


async def chunks_of(database: Database, scope: Scope) -> list[StoredChunk]:
    store = ChunkStore(database)
    return await store.get(scope, [one.id for one in await store.passages(scope)])


async def test_a_model_describes_every_chunk_once_within_bounds(
    database: Database, settings: Settings, ingested: Scope
) -> None:
    before = await chunks_of(database, ingested)
    async with describer(database, settings, told) as (own, server):
        assert await own.describe(ingested) == DescribedByModel(len(before), 0)
        calls = len(server.chat_requests)
        assert calls == -(-len(before) // 8)
        assert await own.describe(ingested) == DescribedByModel()
        assert len(server.chat_requests) == calls
    for old, new in zip(before, await chunks_of(database, ingested), strict=True):
        assert new.summary.startswith("In short: ")
        assert len(new.summary) == 200
        assert new.keywords == tuple(f"word {n}" for n in range(8))
        assert new.topics == ("Topic",)
        assert {*old.topic_labels, "Topic"} == set(new.topic_labels)
        assert {*old.tags, "procedure"} == set(new.tags)
        assert (new.text, new.neighbours, new.entities) == (old.text, old.neighbours, old.entities)


@pytest.mark.parametrize("answer", ["no JSON at all", '{"passages": "none"}'])
async def test_what_the_model_cannot_say_stays_as_it_was_extracted(
    database: Database, settings: Settings, ingested: Scope, answer: str
) -> None:
    before = await chunks_of(database, ingested)
    async with describer(database, settings, lambda _: answer) as (own, server):
        for _ in range(3):
            assert await own.describe(ingested) == DescribedByModel(0, len(before))
        calls = len(server.chat_requests)
        assert await own.describe(ingested) == DescribedByModel()
        assert len(server.chat_requests) == calls
    assert await chunks_of(database, ingested) == before


async def test_a_chunk_that_the_model_leaves_out_is_asked_about_again(
    database: Database, settings: Settings, ingested: Scope
) -> None:
    number = len(await chunks_of(database, ingested))
    async with describer(database, settings, lambda r: told(r, leave_out=1)) as (own, _):
        done = await own.describe(ingested)
        assert done.failed == -(-number // 8)
    async with describer(database, settings, told) as (own, _):
        assert await own.describe(ingested) == DescribedByModel(done.failed, 0)


async def test_a_refused_key_is_said_and_costs_no_try(
    database: Database, settings: Settings, ingested: Scope
) -> None:
    async with describer(database, settings, lambda _: failing(401)) as (own, _):
        with pytest.raises(ModelRejected):
            await own.describe(ingested)
    async with describer(database, settings, told) as (own, _):
        assert (await own.describe(ingested)).failed == 0
