"""Many callers at once, of two users: each is served or told why not, and what survives is all that is left.

Locks that are taken crosswise and rows that go while they are read show only by chance. `SEXTANT_FUZZ_SECONDS`
says how long chance has: a few seconds in a usual run, minutes in `make fuzz`.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest_asyncio

from sextant.domain.errors import ConflictError, DocumentNotFound, GraphNotFound, OptionInvalid
from sextant.domain.retrieval import Mode
from sextant.domain.scope import Scope
from sextant.facade import Sextant
from sextant.models.embedding.cache import CachedEmbedder
from sextant.stores.documents.registration import Upload
from sextant.stores.jobs import JobStore
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.own_database import settings_over, short_folder

SECONDS = float(os.environ.get("SEXTANT_FUZZ_SECONDS", "5"))
PATIENCE = 120.0
CALLERS = 10
NAMES = [
    "Insulin",
    "Diabetes",
    "Glucose",
    "IFN",
    "Interferon",
    "Beta Cell",
    "张三",
    "糖尿病",
    "胰岛素",
]
# One has documents alone, so that it can be built again from what is left of them.
DOCUMENTS, ALL = "documents", "all"
# What a caller is told who comes too late, or asks for what cannot be.
TOLD = (GraphNotFound, DocumentNotFound, ConflictError, OptionInvalid)

SCOPE = "e.scope_id = (select scope_id from graphs where graph_id = %s)"
ENTITIES = f"""select name, entity_type, description, mention_count, degree
    from entities e where {SCOPE}"""
RELATIONS = f"""select least(a.name, b.name), greatest(a.name, b.name), relation_type, e.weight,
    e.evidence_count from relations e
    join entities a on a.scope_id = e.scope_id and a.id = e.source_id
    join entities b on b.scope_id = e.scope_id and b.id = e.target_id where {SCOPE}"""


def text_of(number: int) -> str:
    """Return a text of up to twelve sections, the same for the same number."""
    dice = random.Random(number)  # noqa: S311 - a test's dice
    said = [
        f"{dice.choice(NAMES)} treats {dice.choice(NAMES)} in {dice.choice(NAMES)}。"
        for _ in range(60)
    ]
    sections = range(dice.randint(1, 12))
    return "\n\n".join(f"# Part {one}\n{' '.join(said[one::12])}" for one in sections)


def lines_of(number: int) -> list[dict[str, Any]]:
    """Return chunks, entities and relations of a user's own."""
    dice = random.Random(number)  # noqa: S311 - a test's dice
    chunks = [
        {"type": "chunk", "id": f"c{one}", "text": f"{text_of(number + one)[:300]} {one}"}
        for one in range(dice.randint(0, 12))
    ]
    entities = [
        {"type": "entity", "name": name, "description": f"Text {dice.randint(0, 3)}"}
        for name in dice.sample(NAMES, 5)
    ]
    relations = [
        {
            "type": "relation",
            "source": dice.choice(NAMES),
            "target": dice.choice(NAMES),
            "relationType": "TREATS",
        }
        for _ in range(10)
    ]
    return [*chunks, *entities, *relations]


class Caller:
    """Does one thing after the other, by dice."""

    def __init__(self, rag: Sextant, dice: random.Random, folder: Path) -> None:
        self._rag = rag
        self._dice = dice
        self._folder = folder

    async def call(self) -> None:
        """Do something; what it is told is its answer."""
        graph = self._dice.choice([DOCUMENTS, ALL])
        common = [*[self.upload] * 3, *[self.ingest] * 2, *[self.delete] * 3, self.search]
        own = [*[self.bring] * 3, self.merge, self.unmerge, self.delete_graph]
        what: Callable[[str], Awaitable[object]] = self._dice.choice(
            [*common, self.cancel, self.retry, self.build, *(own if graph == ALL else [])]
        )
        with suppress(*TOLD):
            await what(graph)

    async def upload(self, graph: str) -> None:
        names = self._dice.sample(range(20), self._dice.randint(1, 10))
        await self._rag.library().add(
            [upload(f"f{name}.md", self._text()) for name in names], graph
        )

    async def ingest(self, graph: str) -> None:
        folder = self._folder / str(self._dice.random())
        folder.mkdir()
        for _ in range(self._dice.randint(1, 6)):
            (folder / f"f{self._dice.randrange(30)}.md").write_text(self._text(), encoding="utf-8")
        for one in await self._rag.ingest([folder], graph):
            if one.error is not None:
                raise one.error

    async def bring(self, graph: str) -> None:
        lines, facts = lines_of(self._dice.randrange(30)), self._dice.random() < 0.5
        await self._rag.import_graph(lines, graph, facts_as_passages=facts)

    async def delete(self, graph: str) -> None:
        for document in await self._some(graph, 3):
            await self._rag.library().delete(document)

    async def cancel(self, graph: str) -> None:
        for document in await self._some(graph, 1):
            await self._rag.library().cancel(document)

    async def retry(self, graph: str) -> None:
        for document in await self._some(graph, 1):
            await self._rag.library().retry(document)

    async def delete_graph(self, graph: str) -> None:
        await self._rag.delete_graph(graph)

    async def build(self, graph: str) -> None:
        await (await self._rag.communities(graph)).build()

    async def merge(self, graph: str) -> None:
        await (await self._rag.entities(graph)).merge(*self._dice.sample(NAMES, 2))

    async def unmerge(self, graph: str) -> None:
        await (await self._rag.entities(graph)).unmerge(self._dice.choice(NAMES))

    async def search(self, graph: str) -> None:
        retriever = (await self._rag.dependencies()).retriever
        scope, mode = Scope(self._rag.user_id, graph), self._dice.choice([*Mode])
        if mode is not Mode.BYPASS:
            await retriever.search(scope, f"What does {self._dice.choice(NAMES)} treat?", mode=mode)

    def _text(self) -> str:
        return text_of(self._dice.randrange(60))

    async def _some(self, graph: str, most: int) -> list[Any]:
        there = [document.id for document in await self._rag.documents(graph)]
        return self._dice.sample(there, min(most, len(there)))


def upload(name: str, text: str) -> Upload:
    return Upload(name, name, "text/markdown", text.encode())


@pytest_asyncio.fixture
async def rag() -> AsyncIterator[Sextant]:
    """Yield over a database of its own, whose server counts deadlocks."""
    with short_folder() as folder:
        settings = settings_over(folder)
        async with Sextant.open(settings, embedder=CachedEmbedder(HashEmbedder(384), 0)) as opened:
            working = asyncio.create_task((worker := opened.worker(4)).run())
            yield opened
            worker.stop()
            await working


async def test_nobody_is_told_of_what_others_do_and_the_graph_is_that_of_what_survives(
    rag: Sextant, tmp_path: Path
) -> None:
    users = [rag, rag.as_user("another")]
    until = time.monotonic() + SECONDS

    async def calling(number: int) -> None:
        caller = Caller(users[number % 2], random.Random(number), tmp_path)  # noqa: S311
        while time.monotonic() < until:
            await caller.call()

    async with asyncio.TaskGroup() as callers:
        for number in range(CALLERS):
            callers.create_task(calling(number))

    for user in users:
        uploads = await left_of(user)
        lived = await graph_of(user)
        with suppress(GraphNotFound):  # nobody had put anything in
            await user.delete_graph(DOCUMENTS)
        await user.library().add(uploads, DOCUMENTS)
        await settled(user)
        assert await graph_of(user) == lived
    assert await deadlocks(rag) == 0


async def left_of(rag: Sextant) -> list[Upload]:
    """Return the documents as they are once nothing is under way; what was cancelled is taken in after all."""
    await settled(rag)
    documents, uploads = await rag.documents(DOCUMENTS), list[Upload]()
    for document in documents:
        with suppress(ConflictError):  # it is ready
            await rag.library().retry(document.id)
    await settled(rag)
    for document in documents:
        file = await rag.library().file(document.id)
        text = b"".join([part async for part in file.parts]).decode()
        uploads.append(upload(document.source, text))
    return uploads


async def settled(rag: Sextant) -> None:
    """Return once no job of the user is open, and its graphs have followed."""
    jobs = JobStore(rag.database)
    async with asyncio.timeout(PATIENCE):
        for graph in await rag.graphs():
            scope = Scope(rag.user_id, graph.graph_id)
            while await jobs.waiting(scope):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.1)
            await (await rag.communities(graph.graph_id)).build()


async def graph_of(rag: Sextant) -> list[Counter[tuple[Any, ...]]]:
    """Return what the graph over documents says, without the ids that were drawn for it."""
    async with rag.database.transaction(rag.user_id) as connection:
        return [
            Counter(await (await connection.execute(query, [DOCUMENTS])).fetchall())
            for query in (ENTITIES, RELATIONS)
        ]


async def deadlocks(rag: Sextant) -> int:
    async with rag.database.owner() as owner:
        query = "select deadlocks from pg_stat_database where datname = current_database()"
        row = await (await owner.execute(query)).fetchone()
    assert row is not None
    return int(row[0])
