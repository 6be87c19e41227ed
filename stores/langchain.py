"""LangChain's `PGVectorStore` over the rows that Sextant itself searches. Reading only.

Traps of `langchain-postgres` that this takes care of: a filter that is empty or forgotten would show
every tenant (here the view shows one knowledge base), HNSW with a filter returns too few rows
(iterative scans are on), and its synchronous methods need a loop of their own in another thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from psycopg import AsyncConnection

from domain.scope import Scope
from stores.chunks.chunk_store import ChunkStore, Vectors
from stores.chunks.stored import StoredChunk
from stores.postgresql.database import Database
from stores.postgresql.queries import load_queries
from stores.postgresql.watched import WatchedConnection
from stores.rows import Text

try:
    from langchain_postgres import PGEngine, PGVectorStore
except ImportError as missing:
    raise ImportError(
        "LangChain's vector store needs the extra: pip install 'sextant[langchain]'."
    ) from missing

_SQL = load_queries("langchain")

METADATA_COLUMNS = [
    *("user_id", "graph_id", "document_id", "source", "filename", "title", "section_id"),
    *("section_path", "page", "start_offset", "end_offset", "ordinal", "modality", "context"),
    *("external_id", "created_at"),
]


class TextEmbedder(Protocol):
    """The part of an embedder that LangChain needs."""

    async def embed_query(self, text: str) -> Vectors:
        """One question as a vector of shape (dimension,)."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages as a matrix of shape (len(texts), dimension), in order."""
        ...


class LangChainEmbeddings(Embeddings):
    """Our embedder as LangChain's interface; the synchronous methods are for callers without a loop."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder = embedder

    async def aembed_query(self, text: str) -> list[float]:
        """One question as a list of floats."""
        return [float(value) for value in await self._embedder.embed_query(text)]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Passages as lists of floats."""
        vectors = await self._embedder.embed_passages(texts)
        return [[float(value) for value in vector] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """One question as a list of floats."""
        return asyncio.run(self.aembed_query(text))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Passages as lists of floats."""
        return asyncio.run(self.aembed_documents(texts))


@dataclass(frozen=True, slots=True)
class ScopeRows:
    """The chunks of a knowledge base as `stores.rows.Rows`; none for another user than its own."""

    database: Database
    scope: Scope
    user_id: str

    @property
    def key(self) -> Hashable:
        """The database, the knowledge base, and the user who asks."""
        return (self.database.app_conninfo, self.scope, self.user_id)

    async def owner(self) -> str:
        """The user who asks."""
        return self.user_id

    async def keyword_search(
        self, keywords: Sequence[str], k: int
    ) -> Sequence[tuple[Document, float]]:
        """From the gram index; the documents are those that the vector store gives."""
        if self._foreign:
            return []
        hits = await self._chunks.keyword_search(self.scope, keywords, k)
        return [(as_document(hit.chunk, self.scope), hit.score) for hit in hits]

    def statement(self, keywords: Sequence[str], k: int) -> str:
        """The server's function and its values."""
        return self._chunks.keyword_statement(self.scope, keywords, k)

    async def stamp(self) -> str:
        """That of the scope's passages."""
        return "" if self._foreign else (await self._chunks.stamp(self.scope)).passages

    async def states(self) -> Mapping[Hashable, str]:
        """By document."""
        found = {} if self._foreign else await self._chunks.documents(self.scope)
        return dict[Hashable, str](found.items())

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[Text]:
        """Titles, table header and text of every chunk of these documents."""
        documents = [part for part in parts if isinstance(part, UUID)]
        if self._foreign or not documents:
            return []
        passages = await self._chunks.passages(self.scope, documents)
        return [Text(one.document_id, str(one.id), one.searched) for one in passages]

    @property
    def _chunks(self) -> ChunkStore:
        return ChunkStore(self.database)

    @property
    def _foreign(self) -> bool:
        return self.user_id != self.scope.user_id


def as_document(chunk: StoredChunk, scope: Scope) -> Document:
    """A chunk as the vector store's own searches return it."""
    metadata = {
        "user_id": scope.user_id,
        "graph_id": scope.graph_id,
        "document_id": str(chunk.document_id),
        "source": chunk.source,
        "filename": chunk.filename,
        "title": chunk.document_title,
        "section_id": str(chunk.section_id),
        "section_path": " > ".join(chunk.section_path),
        "page": chunk.page,
        "start_offset": chunk.start,
        "end_offset": chunk.end,
        "ordinal": chunk.ordinal,
        "modality": str(chunk.modality),
        "context": chunk.context,
        "external_id": chunk.external_id,
        "created_at": chunk.created_at,
    }
    return Document(id=str(chunk.id), page_content=chunk.text, metadata=metadata)


class ScopeVectorStore(PGVectorStore):
    """A knowledge base as LangChain's vector store; its keyword lane uses our index."""

    database: Database
    scope: Scope

    def rows_of(self, user_id: int | str) -> ScopeRows:
        """The knowledge base's texts, as this user may see them."""
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
