"""The texts behind a vector store, as a hybrid search asks for them beside the vectors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from uuid import UUID

from langchain_core.documents import Document

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.postgresql.database import Database


@dataclass(frozen=True, slots=True)
class StoredText:
    """A searchable text: the part it belongs to, and the id of its document in LangChain's sense."""

    part: Hashable
    id: str
    searched: str


class StoredTexts(Protocol):
    """The texts that one user has in a vector store."""

    @property
    def key(self) -> Hashable:
        """Return the user and the store that the texts are of."""
        ...

    async def owner(self) -> int | str:
        """Return the user, as the vector store's filter has to be given it."""
        ...

    async def keyword_search(
        self, keywords: Sequence[str], k: int
    ) -> Sequence[tuple[Document, float]]:
        """Return texts that hold keywords in the sense of ILIKE: most distinct ones first, then densest.

        The score is the number of keywords plus density ÷ (1 + density).
        """
        ...

    def statement(self, keywords: Sequence[str], k: int) -> str:
        """Return what `keyword_search` asks the database, for a log."""
        ...

    async def stamp(self) -> str:
        """Return changes whenever a text does."""
        ...

    async def states(self) -> Mapping[Hashable, str]:
        """Return the parts that texts come in (files, or single rows), each with what changes when it does."""
        ...

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[StoredText]:
        """Return all texts of these parts."""
        ...


@runtime_checkable
class KnowsRows(Protocol):
    """A vector store that finds its texts by itself."""

    def rows_of(self, user_id: int | str) -> StoredTexts:
        """Return the texts that a user has in it."""
        ...


@dataclass(frozen=True, slots=True)
class ScopeRows:
    """The chunks of a knowledge base as `sextant.stores.rows.StoredTexts`; none for another user than its own."""

    database: Database
    scope: Scope
    user_id: str

    @property
    def key(self) -> Hashable:
        """Return the database, the knowledge base, and the user who asks."""
        return (self.database.app_conninfo, self.scope, self.user_id)

    async def owner(self) -> str:
        """Return the user who asks."""
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
        """Return the server's function and its values."""
        return self._chunks.keyword_statement(self.scope, keywords, k)

    async def stamp(self) -> str:
        """Return the stamp of the scope's passages."""
        return "" if self._foreign else (await self._chunks.stamp(self.scope)).passages

    async def states(self) -> Mapping[Hashable, str]:
        """By document."""
        found = {} if self._foreign else await self._chunks.documents(self.scope)
        return dict[Hashable, str](found.items())

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[StoredText]:
        """Return titles, table header and text of every chunk of these documents."""
        documents = [part for part in parts if isinstance(part, UUID)]
        if self._foreign or not documents:
            return []
        passages = await self._chunks.passages(self.scope, documents)
        return [StoredText(one.document_id, str(one.id), one.searched) for one in passages]

    @property
    def _chunks(self) -> ChunkStore:
        return ChunkStore(self.database)

    @property
    def _foreign(self) -> bool:
        return self.user_id != self.scope.user_id


def as_document(chunk: StoredChunk, scope: Scope) -> Document:
    """Return a chunk as the vector store's own searches return it."""
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
