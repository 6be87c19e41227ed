"""The protocol by which a hybrid search reads the texts of a vector store.

Also here: the chunks of a knowledge base as a hybrid search and BM25 ask for them.
"""

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
    """A searchable text with the part it belongs to and the id of its LangChain document."""

    part: Hashable
    id: str
    searched: str


class StoredTexts(Protocol):
    """The texts that one user has in a vector store."""

    @property
    def key(self) -> Hashable:
        """Return a key for the user and the store."""
        ...

    async def owner(self) -> int | str:
        """Return the user as the vector store's filter takes it."""
        ...

    async def keyword_search(
        self, keywords: Sequence[str], k: int
    ) -> Sequence[tuple[Document, float]]:
        """Return texts that contain keywords as ILIKE finds them: most distinct ones first, then densest.

        The score is the number of keywords plus density ÷ (1 + density).
        """
        ...

    def statement(self, keywords: Sequence[str], k: int) -> str:
        """Return the statement of `keyword_search`, for a log."""
        ...

    async def stamp(self) -> str:
        """Return a stamp that changes whenever a text does."""
        ...

    async def states(self) -> Mapping[Hashable, str]:
        """Return the parts of the texts (files or single rows), each with a state that changes with it."""
        ...

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[StoredText]:
        """Return all texts of these parts."""
        ...


@runtime_checkable
class KnowsRows(Protocol):
    """A vector store that provides its texts."""

    def rows_of(self, user_id: int | str) -> StoredTexts:
        """Return the texts of a user."""
        ...


@dataclass(frozen=True, slots=True)
class ScopeRows:
    """The chunks of a knowledge base as `StoredTexts`; empty for any user but its owner."""

    database: Database
    scope: Scope
    user_id: str

    @property
    def key(self) -> Hashable:
        """Return the database, the knowledge base, and the requesting user."""
        return (self.database.app_conninfo, self.scope, self.user_id)

    async def owner(self) -> str:
        """Return the requesting user."""
        return self.user_id

    async def keyword_search(
        self, keywords: Sequence[str], k: int
    ) -> Sequence[tuple[Document, float]]:
        """Search the gram index; return the documents that the vector store would."""
        if self._is_elsewhere:
            return []
        found = await self._chunks.keyword_matches(self.scope, keywords, k)
        scores = dict(zip(found.ids, found.scores, strict=True))
        chunks = await self._chunks.get(self.scope, list(map(UUID, found.ids)))
        return [(as_document(chunk, self.scope), scores[str(chunk.id)]) for chunk in chunks]

    def statement(self, keywords: Sequence[str], k: int) -> str:
        """Return the server's function and its values."""
        return self._chunks.keyword_statement(self.scope, keywords, k)

    async def stamp(self) -> str:
        """Return the stamp of the scope's passages."""
        return "" if self._is_elsewhere else (await self._chunks.stamp(self.scope)).passages

    async def states(self) -> Mapping[Hashable, str]:
        """Return the state of each document."""
        found = {} if self._is_elsewhere else await self._chunks.documents(self.scope)
        return dict[Hashable, str](found.items())

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[StoredText]:
        """Return titles, table header and text of every chunk of these documents."""
        documents = [part for part in parts if isinstance(part, UUID)]
        if self._is_elsewhere or not documents:
            return []
        passages = await self._chunks.passages(self.scope, documents)
        return [StoredText(one.document_id, str(one.id), one.searched) for one in passages]

    @property
    def _chunks(self) -> ChunkStore:
        return ChunkStore(self.database)

    @property
    def _is_elsewhere(self) -> bool:
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
