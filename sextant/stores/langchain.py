"""LangChain's `PGVectorStore` over the rows that Sextant itself searches. Reading only.

Traps of `langchain-postgres` that this takes care of: a filter that is empty or forgotten would show
every tenant (here the view shows one knowledge base), HNSW with a filter returns too few rows
(iterative scans are on), and its synchronous methods need a loop of their own in another thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from langchain_core.embeddings import Embeddings
from langchain_postgres import PGEngine, PGVectorStore
from psycopg import AsyncConnection

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import WatchedConnection
from sextant.stores.scope_rows import ScopeRows

_SQL = load_queries("langchain")

METADATA_COLUMNS = [
    *("user_id", "graph_id", "document_id", "source", "filename", "title", "section_id"),
    *("section_path", "page", "start_offset", "end_offset", "ordinal", "modality", "context"),
    *("external_id", "created_at"),
]


class TextEmbedder(Protocol):
    """The part of an embedder that LangChain needs."""

    async def embed_query(self, text: str) -> Vectors:
        """Return one question as a vector of shape (dimension,)."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return passages as a matrix of shape (len(texts), dimension), in order."""
        ...


class LangChainEmbeddings(Embeddings):
    """Our embedder as LangChain's interface; the synchronous methods are for callers without a loop."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder = embedder

    async def aembed_query(self, text: str) -> list[float]:
        """Return one question as a list of floats."""
        return [float(value) for value in await self._embedder.embed_query(text)]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return passages as lists of floats."""
        vectors = await self._embedder.embed_passages(texts)
        return [[float(value) for value in vector] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """Return one question as a list of floats."""
        return asyncio.run(self.aembed_query(text))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return passages as lists of floats."""
        return asyncio.run(self.aembed_documents(texts))


class ScopeVectorStore(PGVectorStore):
    """A knowledge base as LangChain's vector store; its keyword lane uses our index."""

    database: Database
    scope: Scope

    def rows_of(self, user_id: int | str) -> ScopeRows:
        """Return the knowledge base's texts, as this user may see them."""
        return ScopeRows(self.database, self.scope, str(user_id))


@asynccontextmanager
async def open_vector_store(
    database: Database, embedder: TextEmbedder, scope: Scope
) -> AsyncIterator[ScopeVectorStore]:
    """Open one knowledge base as a LangChain vector store, for reading.

    Synchronous and asynchronous searches, `filter=` on the metadata columns, and
    `as_retriever()` work; scores are cosine distances, smaller is nearer, of vectors rounded to
    halves (off by some 0.00001), which a large knowledge base has an index of. Adding and deleting is
    Sextant's own business (`DocumentStore`). Its connections serve this scope only, so the tenant is
    set once for each of them, as the role that row-level security binds.
    """

    async def connect() -> AsyncConnection[Any]:
        connection = await WatchedConnection.connect(database.app_conninfo, autocommit=True)
        settings = database.settings.retrieval
        await connection.execute(
            _SQL["open"],
            {
                "user_id": scope.user_id,
                "graph_id": scope.graph_id,
                "ef_search": str(settings.hnsw_ef_search),
            },
        )
        await connection.set_autocommit(False)
        return connection

    engine = PGEngine.from_connection_string(
        "postgresql+psycopg://", async_creator=connect, pool_size=2, pool_pre_ping=True
    )
    try:
        created = await ScopeVectorStore.create(
            engine,
            LangChainEmbeddings(embedder),
            "langchain_chunks",
            schema_name="sextant",
            id_column="id",
            content_column="content",
            embedding_column="embedding",
            metadata_columns=METADATA_COLUMNS,
        )
        assert isinstance(created, ScopeVectorStore)  # noqa: S101 - `create` is a class method
        created.database, created.scope = database, scope
        yield created
    finally:
        await engine.close()
