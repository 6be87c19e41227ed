"""What results tell by an index in memory is so at that moment, and told to whoever may see it."""

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
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.communities import keep
from tests.integration.ingestion.uploading import ingest_bytes
from tests.integration.stored_state import GraphRecord

WORDS = ("Bread", "Dough", "Chess", "Rust", "Tide", "Comet", "面包", "潮汐")
QUESTIONS = (
    "Does Chess meet the Tide or the Dough?",
    "面包与潮汐有什么关系？",
    "what is lost here",
)
MODES = ("local", "global", "hybrid", "mix")


@pytest.fixture
def opened(database: Database) -> Callable[[], GraphRetriever]:
    """Return a way to open a retriever with an empty memory."""

    def run() -> GraphRetriever:
        chunks = ChunkStore(database)
        return GraphRetriever(
            chunks=chunks,
            embedder=HashEmbedder(384),
            settings=database.settings,
            indexes=ScopeIndexes(chunks, GraphRecord(database), 10_000),
            graph=PostgresGraph(database),
        )

    return run


def told(found: Retrieval) -> Any:
    """Return all that a reader sees."""
    return found.results, found.graph_items, found.graph_context, found.warnings


async def write(graphed: Ingestor, scope: Scope, word: str, rng: Random) -> None:
    others = " ".join(rng.sample(WORDS, 3))
    text = (
        f"# {word}\n\nHere {word} meets {others}.\n\n## More of {word}\n\n{word} likes {others}.\n"
    )
    await ingest_bytes(graphed, scope, text.encode(), f"{word}.md")


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
async def test_after_every_change_an_index_in_memory_answers_like_a_new_one(
    database: Database,
    graphed: Ingestor,
    opened: Callable[[], GraphRetriever],
    scope: Scope,
    seed: int,
) -> None:
    """Nobody tells the retriever of the change."""
    rng = Random(seed)  # noqa: S311 - nothing is kept secret by it
    retriever = opened()
    for word in WORDS[:4]:
        await write(graphed, scope, word, rng)
    for _ in range(6):
        new = opened()
        for question in QUESTIONS:
            for mode in MODES:
                here = await retriever.search(scope, question, mode=mode, top_k=4)
                there = await new.search(scope, question, mode=mode, top_k=4)
                assert told(here) == told(there), (question, mode)
        await change(database, graphed, scope, rng)


async def test_of_the_same_question_every_tenant_is_told_its_own_passages(
    graphed: Ingestor, opened: Callable[[], GraphRetriever]
) -> None:
    """Two users with a knowledge base of the same name, in memory at once."""
    retriever = opened()
    first, second, stranger = (Scope(f"user-{uuid4()}", "same") for _ in range(3))
    await write(graphed, first, "Chess", Random(1))  # noqa: S311 - as above
    await write(graphed, second, "Tide", Random(2))  # noqa: S311 - as above
    for _ in range(2):
        for scope, word in ((first, "Chess"), (second, "Tide")):
            found = await retriever.search(scope, QUESTIONS[0], mode="hybrid", top_k=9)
            assert {item.metadata["filename"] for item in found.results} == {f"{word}.md"}
        assert not (await retriever.search(stranger, QUESTIONS[0], mode="hybrid")).results
