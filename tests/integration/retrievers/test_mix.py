"""`mix` over a real PostgreSQL: passages that the question does not name are reached through names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest
import pytest_asyncio

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import RetrievalSettings, Settings
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.pipeline import Ingestor
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers import GraphRetriever
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow, entity_id
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.embedders import BrokenEmbedder
from tests.integration.ingestion.uploading import ingest_bytes
from tests.integration.retrievers.test_scope_index import CountingChunks
from tests.integration.stored_state import GraphRecord

DOCUMENTS = {
    "mounds": "# Pocahontas Mounds\n\nPocahontas Mounds is an archaeological site in Mississippi.\n",
    "state": "# Mississippi\n\nIt joined the Union on December 10, 1817, the twentieth to do so.\n",
    "river": "# Meramec River\n\nA long waterway that drains the hills and floods in spring.\n",
    "rust": "# Rust\n\nEach value has one owner; memory is freed when the owner goes out of scope.\n",
    "bread": "# Sourdough\n\nFlour, water and salt; the dough rests overnight in a cold place.\n",
    "chess": "# Openings\n\nThe Sicilian answers the king's pawn by a fight for the centre.\n",
}
QUESTION = "When did the place where Pocahontas Mounds lies join the Union?"


@pytest_asyncio.fixture
async def filled(graphed: Ingestor, scope: Scope) -> Ingestor:
    for name, text in DOCUMENTS.items():
        await ingest_bytes(graphed, scope, text.encode(), f"{name}.md")
    return graphed


def over(database: Database, embedder: Embedder, settings: Settings) -> GraphRetriever:
    chunks = ChunkStore(database)
    indexes = ScopeIndexes(chunks, GraphRecord(database), passages=1000)
    return GraphRetriever(chunks=chunks, embedder=embedder, settings=settings, indexes=indexes)


async def found(retriever: GraphRetriever, scope: Scope, question: str, k: int = 2) -> list[str]:
    results = (await retriever.search(scope, question, mode="mix", top_k=k)).results
    return [str(item.metadata["filename"]) for item in results]


async def test_a_passage_that_the_question_does_not_name_is_reached_through_one_it_does(
    filled: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    assert filled
    retriever = over(database, embedder, settings)
    assert set(await found(retriever, scope, QUESTION)) == {"mounds.md", "state.md"}


async def test_the_passage_that_restates_the_question_is_first_however_few_are_wanted(
    graphed: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    texts = {
        "apart": "# Mill\n\nThe mill burned. Arta lies on a river. A mill was rebuilt. The mill is old.\n",
        "together": "# Songs\n\nMasons sing. The mill of Arta was rebuilt by Kostas. Its wheel turns.\n",
        "bread": DOCUMENTS["bread"],
    }
    for name, text in texts.items():
        await ingest_bytes(graphed, scope, text.encode(), f"{name}.md")
    retriever = over(database, embedder, settings)
    question = "Who rebuilt the mill of Arta?"
    all_of_them = await found(retriever, scope, question, k=3)
    assert all_of_them[0] == "together.md"
    assert await found(retriever, scope, question, k=1) == all_of_them[:1]


async def test_every_result_says_which_lane_put_it_where_and_scores_fall(
    filled: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    assert filled
    answer = await over(database, embedder, settings).search(scope, QUESTION, mode="mix", top_k=3)
    scores = [item.score for item in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0
    assert [item.lanes["walk"].rank for item in answer.results] == [1, 2, 3]
    assert {"walk", "keyword", "vector", "mix"} >= set(answer.results[0].lanes) >= {"walk", "mix"}


async def test_without_a_model_for_the_question_words_and_graph_go_on(
    filled: Ingestor, database: Database, settings: Settings, scope: Scope
) -> None:
    assert filled
    retriever = over(database, BrokenEmbedder(384), settings)
    assert set(await found(retriever, scope, QUESTION)) == {"mounds.md", "state.md"}


async def test_who_asks_before_the_graph_is_in_memory_is_answered_without_it_and_told_so(
    filled: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    assert filled
    chunks = CountingChunks(database)
    chunks.gate.clear()
    indexes = ScopeIndexes(chunks, GraphRecord(database), passages=1000)
    hasty = settings.model_copy(update={"retrieval": RetrievalSettings(lane_timeout=2)})
    retriever = GraphRetriever(chunks=chunks, embedder=embedder, settings=hasty, indexes=indexes)
    answer = await retriever.search(scope, QUESTION, mode="mix", top_k=2)
    chunks.gate.set()
    assert set(answer.results[0].lanes) <= {"vector", "keyword"}
    assert answer.coded_warnings[-1] == CodedWarning(WarningCode.INDEX_BUILDING)
    assert answer.warnings[0] == "The search lane mix failed; the results come from the others."


async def test_a_document_added_or_deleted_is_seen_by_the_next_question(
    filled: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    retriever = over(database, embedder, settings)
    question = "What is the capital of Ruritania?"
    assert "ruritania.md" not in await found(retriever, scope, question)
    added = await ingest_bytes(
        filled, scope, b"# Ruritania\n\nThe capital of Ruritania is Strelsau.\n", "ruritania.md"
    )
    assert (await found(retriever, scope, question))[0] == "ruritania.md"
    assert added.document_id is not None
    await DocumentStore(database).delete(scope, added.document_id)
    assert "ruritania.md" not in await found(retriever, scope, question)


async def test_another_tenants_passages_are_never_found(
    filled: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    assert filled
    stranger = Scope("somebody else", scope.graph_id)
    assert await found(over(database, embedder, settings), stranger, QUESTION) == []


async def test_a_scope_without_a_graph_is_ranked_by_words_and_meaning(
    ingestor: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    await ingest_bytes(ingestor, scope, DOCUMENTS["rust"].encode(), "rust.md")
    await ingest_bytes(ingestor, scope, DOCUMENTS["bread"].encode(), "bread.md")
    retriever = over(database, embedder, settings)
    assert (await found(retriever, scope, "Who frees memory?", 1)) == ["rust.md"]


async def test_the_synchronous_twin_finds_the_same_from_a_loop_of_its_own(
    filled: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    assert filled
    retriever = over(database, embedder, settings)
    expected = await found(retriever, scope, QUESTION)
    items = retriever.retrieve(
        QUESTION, graph_id=scope.graph_id, user_id=scope.user_id, mode="mix", top_k=2
    )
    assert [str(item.metadata["filename"]) for item in items] == expected


async def test_the_scopes_asked_longest_ago_are_forgotten_first(
    filled: Ingestor, database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    assert filled
    other = Scope(scope.user_id, "other")
    await ingest_bytes(filled, other, DOCUMENTS["rust"].encode(), "rust.md")
    chunks = ChunkStore(database)
    indexes = ScopeIndexes(chunks, GraphRecord(database), passages=len(DOCUMENTS))
    first = await indexes.get(scope)
    assert await indexes.get(scope) is first
    assert len((await indexes.get(other)).chunk_ids) == 1
    assert await indexes.get(scope) is not first


class Plane(HashEmbedder):
    """An embedder whose texts lie in a plane, each at the angle (in degrees) of the words it holds.

    The vector of every other text is at 0 degrees.
    """

    def __init__(self, **angles: float) -> None:
        super().__init__(384)
        self._angles = angles

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), 384), np.float32)
        for row, text in enumerate(texts):
            held = [angle for word, angle in self._angles.items() if word in text]
            angle = math.radians(held[0] if held else 0)
            vectors[row, :2] = math.cos(angle), math.sin(angle)
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        [vector] = await self.embed_passages([text])
        return np.asarray(vector)


async def added(ingestor: Ingestor, scope: Scope, name: str, text: str) -> UUID:
    registered = await ingest_bytes(ingestor, scope, text.encode(), name)
    assert registered.document_id is not None
    return registered.document_id


async def test_nearness_leaves_out_what_all_questions_share(
    database: Database, settings: Settings, scope: Scope
) -> None:
    # Questions lie at 0 degrees, this one at 40: nearer to the passage at 10 than to the one at 75.
    # Without half of the direction of questions it lies at 68 degrees.
    embedder = Plane(哪里=40, Ordinary=10, Telling=75)
    plain = Ingestor(DocumentStore(database), JobStore(database), embedder, settings)
    for name in ("Ordinary", "Telling"):
        await added(plain, scope, f"{name}.txt", f"{name} words.")
    retriever = over(database, embedder, settings)
    naive = await retriever.search(scope, "在哪里？", mode="naive", top_k=1)
    assert naive.results[0].metadata["filename"] == "Ordinary.txt"
    assert await found(retriever, scope, "在哪里？", 1) == ["Telling.txt"]


@pytest.mark.parametrize(("asked", "first"), [("病", "boxes.txt"), ("厂家", "jars.txt")])
async def test_the_passage_that_states_the_relation_meant_by_the_question_comes_first(
    database: Database, settings: Settings, scope: Scope, asked: str, first: str
) -> None:
    # Types in English, the question in Chinese: only their vectors have something in common.
    embedder = Plane(病=60, treats=60, 厂家=120, made=120, known=30)
    plain = Ingestor(DocumentStore(database), JobStore(database), embedder, settings)
    drug, chunks = entity_id(scope, "Zolpan"), ChunkStore(database)
    for name in ("boxes", "jars"):
        await added(plain, scope, f"{name}.txt", f"Zolpan in {name}.")
    stored = {passage.searched.split()[-1]: passage.id for passage in await chunks.passages(scope)}
    boxes, jars = stored["boxes."], stored["jars."]
    names = ("Zolpan", "Insomnia", "Acme")
    mentions = [
        MentionRow(entity_id(scope, name), chunk, MentionKind.IMPORT, name)
        for name in names
        for chunk in (boxes, jars)
    ]
    relations = [
        RelationRow(drug, entity_id(scope, "Insomnia"), "treats", boxes),
        RelationRow(drug, entity_id(scope, "Acme"), "made_by", jars),
        RelationRow(drug, entity_id(scope, "Acme"), "known_to", None),
    ]
    await GraphRecord(database).add(scope, GraphEvidence(mentions, relations))
    retriever = over(database, embedder, settings)
    assert await found(retriever, scope, f"Zolpan {asked}", 1) == [first]


async def test_that_two_terms_share_a_sentence_states_nothing(
    database: Database, settings: Settings, scope: Scope, filled: Ingestor
) -> None:
    assert filled
    indexes = ScopeIndexes(ChunkStore(database), GraphRecord(database), passages=1000)
    index = await indexes.get(scope)
    assert index.types.common == ()
