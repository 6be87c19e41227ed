"""HybridRetriever over real vector stores: Sextant's own rows, and a table of anybody's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from uuid import uuid4

import pytest
import pytest_asyncio
from langchain_core.documents import Document
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL

from sextant.domain.errors import EmbeddingModelChanged, OptionInvalid
from sextant.domain.retrieval import RetrievalError
from sextant.domain.scope import Scope
from sextant.evals.dataset import CorpusPassage
from sextant.evals.sets import load_corpus
from sextant.retrievers import HybridRetriever, HybridRetrieverOptions
from sextant.retrievers.hybrid_retriever.bm25 import BM25Indexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.langchain import ScopeVectorStore, open_vector_store
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.embedders import LangChainHash
from tests.integration.chunk_hits import keyword_hits
from tests.integration.foreign_table import WIDTH, Foreign, foreign_table

PASSAGES = [
    CorpusPassage("symptoms", "典型症状", "糖尿病患者的主要症状是多饮、多尿、多食和体重下降。"),
    CorpusPassage("insulin", "胰岛素", "胰岛素由胰腺的β细胞分泌，降低血糖。"),
    CorpusPassage("payment", "付款节点", "合同签订后支付 30%，终验合格后支付 15%。"),
    CorpusPassage("ownership", "Rust", "Each value in Rust has exactly one owner at a time."),
    CorpusPassage("weather", "Weather", "The weather in London was mild that week."),
]


@pytest_asyncio.fixture
async def own(database: Database, scope: Scope) -> AsyncIterator[ScopeVectorStore]:
    """Yield a knowledge base with `PASSAGES`, opened for LangChain, beside another user's with the same."""
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    await load_corpus(database, HashEmbedder(384), Scope(f"user-{uuid4()}"), PASSAGES)
    async with open_vector_store(database, HashEmbedder(384), scope) as store:
        yield store


@pytest_asyncio.fixture(params=["column", "json"])
async def foreign(database: Database, request: pytest.FixtureRequest) -> AsyncIterator[Foreign]:
    """Yield the user's number is a column of the table, or a key of its JSON metadata."""
    columns = ["user_id"] if request.param == "column" else []
    async with foreign_table(database, PASSAGES, users=(1, 2), columns=columns) as made:
        yield made


def retriever(
    store: PGVectorStore,
    user_id: int | str,
    indexes: BM25Indexes | None = None,
    *,
    user_field: str = "user_id",
    **options: object,
) -> HybridRetriever:
    return HybridRetriever(
        vector_store=store,
        user_id=user_id,
        user_field=user_field,
        options=HybridRetrieverOptions.model_validate({"min_similarity": -1, **options}),
        bm25=indexes or BM25Indexes(),
    )


async def test_both_lanes_over_our_own_rows_give_the_same_documents(
    own: ScopeVectorStore, scope: Scope
) -> None:
    search = await retriever(own, scope.user_id).search("糖尿病有哪些症状？")
    assert dict(search.found) == {"vector": 5, "keyword": 1}
    best = search.documents[0]
    assert "多饮" in best.page_content
    assert set(best.metadata["lanes"]) == {"vector", "keyword", "bm25"}
    alone = await own.asimilarity_search("糖尿病有哪些症状？", k=1)
    assert {**alone[0].metadata} == {
        name: value for name, value in best.metadata.items() if name not in {"score", "lanes"}
    }
    assert alone[0].id == best.id


async def test_another_user_finds_nothing_in_it(own: ScopeVectorStore) -> None:
    search = await retriever(own, f"user-{uuid4()}").search("糖尿病有哪些症状？")
    assert search.documents == ()


async def test_any_vector_store_is_searched_by_vector_and_keyword(foreign: Foreign) -> None:
    search = await retriever(foreign.store, 1).search("糖尿病 OWNER 支付 30%？")
    assert {name.split("-")[1] for name in files(search.documents)} == {"1.md"}
    assert search.found["vector"] == 5
    keyword = {
        one.metadata["filename"]: one.metadata["lanes"]["keyword"]["score"]
        for one in search.documents
        if "keyword" in one.metadata["lanes"]
    }
    assert set(keyword) == {"symptoms-1.md", "payment-1.md", "ownership-1.md"}
    assert all(one.metadata["user_id"] == 1 for one in search.documents)


async def test_a_key_of_the_seeds_name_says_whose_a_row_is(database: Database) -> None:
    async with foreign_table(database, PASSAGES, users=(1, 2), columns=[], key="userId") as made:
        search = await retriever(made.store, 1, user_field="userId").search("糖尿病")
    assert search.found == {"vector": 5, "keyword": 1}
    assert all(one.metadata["userId"] == 1 for one in search.documents)


@pytest.mark.parametrize("name", ["userId", "user"])
async def test_a_column_that_the_store_cannot_filter_by_is_refused(
    database: Database, name: str
) -> None:
    """The store's filter on `user` would compare the name of the role that asks: all rows, or none."""
    async with foreign_table(database, PASSAGES, users=(1,), columns=[name], key=name) as made:
        hybrid = retriever(made.store, 1, user_field=name)
        with pytest.raises(OptionInvalid, match=f"filter by the column `{name}`") as caught:
            await hybrid.search("糖尿病")
    assert caught.value.field == "user_field"


UUID_OF_A_NUMBER = "lpad(user_id::text, 32, '0')::uuid"


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
@pytest.mark.parametrize(
    ("kind", "value", "users"),
    [
        ("bigint", "user_id::bigint", (1, "1")),
        ("text", "user_id::text", (1, "1")),
        ("uuid", UUID_OF_A_NUMBER, ("00000000-0000-0000-0000-000000000001",)),
    ],
)
async def test_a_user_is_found_whatever_type_the_column_has(
    database: Database, kind: str, value: str, users: Sequence[int | str], driver: str
) -> None:
    """PostgreSQL compares no text with a number, and asyncpg sends neither for the other."""
    async with foreign_table(database, PASSAGES, users=(1, 2), columns=["user_id"]) as made:
        async with database.owner() as connection:
            await connection.execute(
                f"alter table public.{made.table} alter user_id type {kind} using {value}"
            )
        store = await made.opened(engine_of(database, driver))
        for user in users:
            search = await retriever(store, user).search("糖尿病有哪些症状？")
            assert dict(search.found) == {"vector": 5, "keyword": 1}
            assert search.warnings == ()
            assert {name.split("-")[1] for name in files(search.documents)} == {"1.md"}
        await store._engine.close()


async def test_a_name_is_no_user_where_the_column_holds_numbers(foreign: Foreign) -> None:
    hybrid = retriever(foreign.store, "alice")
    if not foreign.columns:
        assert (await hybrid.search("糖尿病")).documents == ()
        return
    with pytest.raises(OptionInvalid, match="`user_id` holds numbers") as caught:
        await hybrid.search("糖尿病")
    assert caught.value.field == "user_id"


async def test_the_log_names_files_as_langchains_loaders_do(
    foreign: Foreign, caplog: pytest.LogCaptureFixture
) -> None:
    """Scenario: 记录检索详情, of documents that have a `source` and no `filename`."""
    await foreign.store.aadd_documents(
        [Document("血糖仪", id=str(uuid4()), metadata={"user_id": 3, "source": "docs/meter.pdf"})]
    )
    caplog.set_level(logging.INFO, "sextant.retrievers.hybrid_retriever.retriever")
    await retriever(foreign.store, 3).search("血糖仪")
    # A search that was slow says so behind it.
    assert any("top=[('docs/meter.pdf', 1.0)]" in message for message in caplog.messages)


async def test_a_number_beyond_integer_is_a_user_of_json_metadata(database: Database) -> None:
    """For a number the store's filter would cast the key of every row to INTEGER."""
    users = (2**40, 2**40 + 1)
    async with foreign_table(database, PASSAGES, users=users, columns=[]) as made:
        search = await retriever(made.store, users[0]).search("糖尿病")
    assert dict(search.found) == {"vector": 5, "keyword": 1}
    assert search.warnings == ()


async def test_a_store_that_fuses_by_itself_is_asked_for_vectors_alone(foreign: Foreign) -> None:
    """Its fused scores are no distances, and it keeps the words of its first question."""
    fusing = await PGVectorStore.create(
        foreign.engine,
        LangChainHash(WIDTH),
        foreign.table,
        schema_name="public",
        metadata_columns=foreign.columns,
        hybrid_search_config=HybridSearchConfig(),
    )
    for question in ("糖尿病有哪些症状？", "the weather in London"):
        plain = await retriever(foreign.store, 1).search(question)
        assert (await retriever(fusing, 1).search(question)).documents == plain.documents


async def test_its_keyword_lane_counts_as_our_index_does(
    database: Database, own: ScopeVectorStore, foreign: Foreign, scope: Scope
) -> None:
    words = ["糖尿病", "症状", "rust", "30%", "支付", "_", "的", "london"]
    ours = await keyword_hits(ChunkStore(database), scope, words, 10)
    theirs = await retriever(foreign.store, 2)._store.rows.keyword_search(words, 10)
    assert {hit.chunk.text: int(hit.score) for hit in ours} == {
        document.page_content: int(score) for document, score in theirs
    }
    statement = retriever(foreign.store, 2)._store.rows.statement(words, 10)
    assert "ILIKE" in statement
    assert "30/%" in statement


async def test_debugging_logs_the_statement_that_our_index_is_asked(
    own: ScopeVectorStore, scope: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    """Scenario: 记录性能指标."""
    caplog.set_level(logging.INFO, "sextant.retrievers.hybrid_retriever.retriever")
    await retriever(own, scope.user_id, debug=True).search("糖尿病有哪些症状？")
    [statement] = [line for line in caplog.messages if "keyword statement" in line]
    assert "select keyword_matches(" in statement
    assert "糖尿病" in statement


async def test_debugging_logs_every_constant(
    own: ScopeVectorStore, scope: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    """Every weight and constant is a setting, and is reported in `debug`"."""
    caplog.set_level(logging.INFO, "sextant.retrievers.hybrid_retriever.retriever")
    await retriever(own, scope.user_id, debug=True, rrf_k=17).search("糖尿病有哪些症状？")
    [options] = [line for line in caplog.messages if "search options" in line]
    for told in ("'rrf_k': 17", "'vector_weight': 0.7", "'bm25_k1': 1.2", "'min_similarity': "):
        assert told in options


async def test_synchronous_calls_work_with_and_without_a_running_loop(
    own: ScopeVectorStore, foreign: Foreign, scope: Scope
) -> None:
    for hybrid in (retriever(own, scope.user_id), retriever(foreign.store, 1)):
        awaited = await hybrid.ainvoke("糖尿病症状")
        inside = hybrid.invoke("糖尿病症状")
        outside = await asyncio.to_thread(hybrid.invoke, "糖尿病症状")
        assert [one.id for one in awaited] == [one.id for one in inside]
        assert [one.id for one in awaited] == [one.id for one in outside]


async def test_an_engine_of_one_loop_serves_that_loop_and_says_so_elsewhere(
    foreign: Foreign,
) -> None:
    bound = await foreign.opened(PGEngine.from_engine(foreign.engine._pool))
    with pytest.raises(OptionInvalid, match="ainvoke") as caught:
        retriever(bound, 1).invoke("糖尿病")
    assert caught.value.field == "vector_store"


async def test_a_store_opened_with_another_model_is_told_apart_from_a_failing_one(
    foreign: Foreign,
) -> None:
    other = await foreign.opened(width=WIDTH + 8)
    with pytest.raises(EmbeddingModelChanged) as caught:
        await retriever(other, 1).search("糖尿病")
    assert caught.value.field == "vector_store"
    assert "SELECT" not in caught.value.message


async def test_a_table_that_is_gone_is_an_error_with_both_causes(
    database: Database, foreign: Foreign
) -> None:
    async with database.owner() as connection:
        name = sql.Identifier("public", foreign.table)
        await connection.execute(sql.SQL("alter table {} rename to gone").format(name))
    try:
        with pytest.raises(RetrievalError, match="知识库检索失败") as caught:
            await retriever(foreign.store, 1).search("糖尿病")
        assert set(caught.value.causes) == {"vector", "keyword"}
    finally:
        async with database.owner() as connection:
            await connection.execute(
                sql.SQL("alter table public.gone rename to {}").format(
                    sql.Identifier(foreign.table)
                )
            )


async def test_the_index_follows_what_is_added_and_deleted(foreign: Foreign) -> None:
    indexes = BM25Indexes()
    hybrid = retriever(foreign.store, 1, indexes, limit=10)
    rows = hybrid._store.rows
    before = await indexes.get(rows)
    assert len(before.rows) == 5
    fresh = Document(
        id=str(uuid4()), page_content="血糖仪", metadata={"user_id": 1, "filename": "f"}
    )
    await foreign.store.aadd_documents([fresh])
    after = await indexes.get(rows)
    assert len(after.rows) == 6
    assert str(fresh.id) in after.rows
    assert str(fresh.id) not in before.rows
    assert await indexes.get(rows) is after
    await foreign.store.adelete([str(fresh.id)])
    last = await indexes.get(rows)
    assert len(last.rows) == 5
    assert str(fresh.id) not in last.rows


async def test_the_index_of_a_knowledge_base_follows_its_documents(
    database: Database, own: ScopeVectorStore, scope: Scope
) -> None:
    indexes = BM25Indexes()
    rows = own.rows_of(scope.user_id)
    before = await indexes.get(rows)
    assert len(before.rows) == len(PASSAGES)
    documents = DocumentStore(database)
    [only] = await documents.list(scope)
    await documents.delete(scope, only.id)
    assert len((await indexes.get(rows)).rows) == 0
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES[1:3])
    after = await indexes.get(rows)
    assert len(after.rows) == 2


def engine_of(database: Database, driver: str) -> PGEngine:
    """Of a pool like that of a user's own program."""
    said = {name: str(value) for name, value in conninfo_to_dict(database.owner_conninfo).items()}
    url = URL.create(
        f"postgresql+{driver}",
        said["user"],
        database=said["dbname"],
        query={"host": said["host"]},
    )
    return PGEngine.from_connection_string(url)


def files(documents: tuple[Document, ...]) -> list[str]:
    return [str(one.metadata["filename"]) for one in documents]
