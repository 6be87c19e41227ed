"""What results tell from memory is what PostgreSQL tells at that moment, to whoever may see it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from sextant.domain.graph import Community, Finding
from sextant.domain.retrieval import Retrieval
from sextant.domain.scope import Scope
from sextant.ingestion.pipeline import Ingestor
from sextant.retrievers import GraphRetriever
from sextant.retrievers.index.chunk_index import ChunkIndex
from sextant.retrievers.index.scope_cache import EntityContents, ScopeCache, ScopeMemory
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.graph.resolution.decisions import Merge
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.clock import Clock
from tests.integration.communities import keep
from tests.integration.statements import recorded

WORDS = ("Bread", "Dough", "Chess", "Rust", "Tide", "Comet", "面包", "潮汐")
QUESTIONS = (
    "Does Chess meet the Tide or the Dough?",
    "面包与潮汐有什么关系？",
    "what is lost here",
)
MODES = ("local", "global", "hybrid", "mix")


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


Warm = Callable[[int], tuple[GraphRetriever, ScopeMemory]]


@pytest.fixture
def warm(database: Database, clock: Clock) -> Warm:
    """Return a retriever that keeps texts in a memory of so many bytes."""

    def made(size: int) -> tuple[GraphRetriever, ScopeMemory]:
        chunks, record = ChunkStore(database), GraphRecord(database)
        indexes = ScopeIndexes(chunks, record, 10_000)
        cache = ScopeCache(database, indexes, most=size, clock=clock)
        retriever = GraphRetriever(
            chunks=chunks,
            embedder=HashEmbedder(384),
            settings=database.settings,
            indexes=indexes,
            graph=PostgresGraph(database),
            hot=cache,
        )
        return retriever, cache.memory

    return made


def told(found: Retrieval) -> Any:
    """Return all that a reader sees."""
    return found.results, found.graph_items, found.graph_context, found.warnings


async def write(graphed: Ingestor, scope: Scope, word: str, rng: Random) -> None:
    others = " ".join(rng.sample(WORDS, 3))
    text = (
        f"# {word}\n\nHere {word} meets {others}.\n\n## More of {word}\n\n{word} likes {others}.\n"
    )
    await graphed.ingest_bytes(scope, text.encode(), f"{word}.md")


async def change(database: Database, graphed: Ingestor, scope: Scope, rng: Random) -> None:
    """One of the ways in which a knowledge base changes."""
    documents, record = DocumentStore(database), GraphRecord(database)
    top = await PostgresGraph(database).top_entities(scope, 50)
    match rng.choice(("write", "write", "delete", "merge", "unmerge", "report")):
        case "delete" if len(every := await documents.list(scope)) > 1:
            await documents.delete(scope, rng.choice(every).id)
        case "merge" if len(top) > 1:
            one, other = rng.sample(top, 2)
            await record.merge(scope, [Merge(one.id, other.id)])
        case "unmerge" if merges := await record.merges(scope):
            await record.unmerge(scope, [rng.choice(merges).from_id])
        case "report" if top:
            finding = Finding("They meet.", ())
            members = tuple(one.id for one in top[:3])
            report = Community(uuid4(), 0, None, "Meetings", "Who meets.", (finding,), 5.0, members)
            await keep(database, scope, [report])
        case _:
            await write(graphed, scope, rng.choice(WORDS), rng)


@pytest.mark.parametrize("seed", range(4))
async def test_after_every_change_memory_tells_what_the_store_tells(  # noqa: PLR0917 - fixtures
    database: Database, graphed: Ingestor, warm: Warm, clock: Clock, scope: Scope, seed: int
) -> None:
    """While it is cold, in memory, changed since, and in memory again; nobody tells of the change."""
    rng = Random(seed)  # noqa: S311 - nothing is kept secret by it
    retriever, memory = warm(10_000_000)
    store = retriever.model_copy(update={"hot": None})
    for word in WORDS[:4]:
        await write(graphed, scope, word, rng)
    for _ in range(6):
        for question in QUESTIONS:
            for mode in MODES:
                here = await retriever.search(scope, question, mode=mode, top_k=4)
                there = await store.search(scope, question, mode=mode, top_k=4)
                assert told(here) == told(there), (question, mode)
            await memory.settle()
        assert set(memory.sizes) == {(ChunkIndex, scope), (EntityContents, scope)}
        await change(database, graphed, scope, rng)
        clock.now += 500


async def test_in_memory_a_question_asks_the_store_for_the_stamp_only(
    database: Database,
    graphed: Ingestor,
    warm: Warm,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    retriever, memory = warm(10_000_000)
    await write(graphed, scope, "Chess", Random(1))  # noqa: S311 - as above
    for _ in range(4):
        await retriever.search(scope, QUESTIONS[0], mode="mix")
        await memory.settle()
    asked = recorded(database, monkeypatch)
    for mode in MODES:
        asked.clear()
        assert (await retriever.search(scope, QUESTIONS[0], mode=mode)).results
        assert [query.split("\n")[-1] for query in asked] == ["scope_stamp(%s, %s)"]


async def test_what_has_changed_is_in_memory_again_after_the_question_that_met_the_change(
    database: Database,
    ingestor: Ingestor,
    warm: Warm,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    retriever, memory = warm(10_000_000)
    for word in WORDS[:3]:
        await write(ingestor, scope, word, Random(word))  # noqa: S311 - as above
        for _ in range(4):
            await retriever.search(scope, QUESTIONS[0], mode="mix")
            await memory.settle()
    await write(ingestor, scope, WORDS[3], Random(3))  # noqa: S311 - as above
    await retriever.search(scope, QUESTIONS[0], mode="mix")
    await memory.settle()
    asked = recorded(database, monkeypatch)
    found = await retriever.search(scope, QUESTIONS[0], mode="mix")
    assert f"{WORDS[3]}.md" in {item.metadata["filename"] for item in found.results}
    assert [query.split("\n")[-1] for query in asked] == ["scope_stamp(%s, %s)"]


async def test_of_the_same_question_every_tenant_is_told_its_own_passages(
    graphed: Ingestor, warm: Warm
) -> None:
    """Two users with a knowledge base of the same name, in memory at once."""
    retriever, memory = warm(10_000_000)
    first, second, stranger = (Scope(f"user-{uuid4()}", "same") for _ in range(3))
    await write(graphed, first, "Chess", Random(1))  # noqa: S311 - as above
    await write(graphed, second, "Tide", Random(2))  # noqa: S311 - as above
    for _ in range(4):
        for scope, word in ((first, "Chess"), (second, "Tide")):
            found = await retriever.search(scope, QUESTIONS[0], mode="hybrid", top_k=9)
            assert {item.metadata["filename"] for item in found.results} == {f"{word}.md"}
            await memory.settle()
        assert not (await retriever.search(stranger, QUESTIONS[0], mode="hybrid")).results
        await memory.settle()
    assert set(memory.sizes) >= {
        (kind, scope) for kind in (ChunkIndex, EntityContents) for scope in (first, second)
    }


async def test_texts_that_have_no_room_are_told_by_the_store(
    graphed: Ingestor, warm: Warm, scope: Scope
) -> None:
    for word in WORDS:
        await write(graphed, scope, word, Random(word))  # noqa: S311 - as above
    for size in (0, 4_000):
        retriever, memory = warm(size)
        for _ in range(4):
            found = await retriever.search(scope, QUESTIONS[0], mode="mix", top_k=3)
            assert all(item.text for item in found.results)
            await memory.settle()
        assert (ChunkIndex, scope) not in memory.sizes
