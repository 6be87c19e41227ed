"""A corpus of passages becomes a knowledge base like any other."""

from __future__ import annotations

import pytest

from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.evals.dataset import CorpusPassage
from sextant.evals.sets import load_corpus
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.chunk_hits import vector_hits

PASSAGES = [
    CorpusPassage("p1", "张三", "张三的妻子是李四。"),
    CorpusPassage("p2", "李四", "李四生于北京。"),
]


async def test_upkeep_leaves_the_vectors_of_a_corpus_where_they_are(
    own_database: Database, scope: Scope
) -> None:
    embedder = HashEmbedder(384)
    await load_corpus(own_database, embedder, scope, PASSAGES)
    await GraphUpkeep(own_database, embedder).refresh(scope)
    vector = await embedder.embed_query("张三的妻子")
    assert len(await vector_hits(ChunkStore(own_database), scope, vector, 2)) == 2


async def test_a_load_that_broke_off_before_the_graph_goes_on_there(
    database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(GraphIndexer, "index_document", _breaks_off)
        with pytest.raises(DatabaseUnavailable):
            await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    record = GraphRecord(database)
    assert len((await record.arrays(scope)).names) == 0

    await _wait_over(database, scope)
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    assert {"张三", "李四"} <= set((await record.arrays(scope)).names)


async def _breaks_off(*_: object) -> None:
    raise DatabaseUnavailable("gone", next_step="-")


async def _wait_over(database: Database, scope: Scope) -> None:
    """As if the worker's last heartbeat were half a minute old."""
    async with database.owner() as connection:
        await connection.execute(
            "update ingestion_jobs set heartbeat_at = heartbeat_at - interval '1 hour' where user_id = %s",
            [scope.user_id],
        )
