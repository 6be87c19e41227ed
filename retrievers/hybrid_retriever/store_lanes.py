"""The two lanes of a hybrid search over a LangChain vector store."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_core.documents import Document

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.retrieval import LEAST_SCORE, ItemKind, RetrievedItem
from sextant.retrievers.hybrid_retriever.options import HybridStore
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery
from sextant.stores.rows import StoredTexts

# What pgvector says when a vector does not fit its column or the stored ones.
_DIMENSIONS = ("different vector dimensions", "different halfvec dimensions")
_EXPECTED = ("expected", "dimensions")


@dataclass(frozen=True, slots=True)
class StoreVectorLane:
    """Documents nearest to the question by the store's own search; the score is cosine similarity.

    Raises:
        EmbeddingModelChanged: question and stored vectors differ in length.
    """

    store: HybridStore
    min_similarity: float
    name: str = VECTOR

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Return the nearest of the user's documents, without those below `min_similarity`."""
        try:
            found = await self.store.nearest(query.text, query.limit)
        except Exception as error:
            if _is_about_dimensions(error):
                reason, *_ = str(error).splitlines()  # the rest is SQL, with the question's vector
                raise EmbeddingModelChanged(
                    f"The question's vector does not have the length of the stored ones: {reason}.",
                    next_step="Open the vector store with the embedding model it was filled with.",
                    field="vector_store",
                ) from error
            raise
        return [
            document_item(document, similarity)
            for document, similarity in found
            if similarity >= self.min_similarity
        ]


@dataclass(frozen=True, slots=True)
class StoreKeywordLane:
    """Documents that contain the most of the question's keywords."""

    rows: StoredTexts
    name: str = KEYWORD

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Search the user's texts; a question of stop words only finds nothing."""
        if not query.keywords:
            return []
        found = await self.rows.keyword_search(query.keywords, query.limit)
        return [document_item(document, score) for document, score in found]


def document_item(document: Document, score: float) -> RetrievedItem:
    """Return a LangChain document as a retrieved item; its id is what tells documents apart."""
    owner = document.metadata.get("document_id")
    return RetrievedItem(
        kind=ItemKind.CHUNK,
        id=str(document.id),
        text=document.page_content,
        score=max(score, LEAST_SCORE),
        document_id=None if owner is None else str(owner),
        external_id=document.metadata.get("external_id"),
        metadata=document.metadata,
    )


def _is_about_dimensions(error: BaseException) -> bool:
    message = str(error)
    return any(words in message for words in _DIMENSIONS) or all(
        part in message for part in _EXPECTED
    )
