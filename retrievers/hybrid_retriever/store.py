"""A LangChain vector store as `HybridRetriever` uses it: one user's vectors and texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from sextant.domain.errors import OptionInvalid
from sextant.stores.rows import KnowsRows, StoredTexts


class HybridStore(Protocol):
    """What the lanes ask."""

    @property
    def rows(self) -> StoredTexts:
        """Return the user's texts."""
        ...

    @property
    def any_loop(self) -> bool:
        """Return whether it can be asked from any event loop."""
        ...

    async def nearest(self, question: str, k: int) -> Sequence[tuple[Document, float]]:
        """Return the user's `k` documents nearest to a question, with their cosine similarities."""
        ...


@dataclass(frozen=True, slots=True)
class FilteredStore:
    """A vector store that is never asked without the user's filter: an empty one opens all rows.

    Attributes:
        store: the vector store.
        user_field: the filter's column or key.
        rows: the user's texts.
        similarity: makes a cosine similarity of what the store calls a score.
        any_loop: whether it can be asked from any event loop.
    """

    store: VectorStore
    user_field: str
    rows: StoredTexts
    similarity: Callable[[float], float] = lambda distance: 1 - distance
    any_loop: bool = True

    async def nearest(self, question: str, k: int) -> Sequence[tuple[Document, float]]:
        """Return `similarity_search_with_score`, whose "score" is a distance, turned round.

        A store with a hybrid search of its own is asked for vectors alone: what it fuses has scores that
        are no distances, and its `HybridSearchConfig` keeps the words of the first question for all others.
        """
        found = await self.store.asimilarity_search_with_score(
            question,
            k,
            filter={self.user_field: {"$eq": await self.rows.owner()}},
            hybrid_search_config=None,
        )
        return [(document, self.similarity(float(score))) for document, score in found]


def hybrid_store(store: VectorStore, user_id: int | str, user_field: str) -> HybridStore:
    """Return one user's part of a vector store.

    Raises:
        OptionInvalid: it is no `PGVectorStore`, or nobody is named.
    """
    if isinstance(user_id, bool) or not isinstance(user_id, int | str) or user_id == "":
        raise OptionInvalid(
            f"user_id is {user_id!r}; it must be the number or name of a user.",
            next_step="Say whose documents may be found.",
            field="user_id",
        )
    if not user_field.isidentifier():
        raise OptionInvalid(
            f"user_field is {user_field!r:.60}; it must be the name of a column or metadata key.",
            next_step="Name the one that says whose a row is, like `user_id`.",
            field="user_field",
        )
    if isinstance(store, KnowsRows):
        return FilteredStore(store, user_field, store.rows_of(user_id))
    from sextant.stores.langchain_rows import TableRows, is_supported, runs_its_loop, similarity_of

    if not is_supported(store):
        raise OptionInvalid(
            f"vector_store is a {type(store).__name__}; it must be a langchain_postgres PGVectorStore.",
            next_step="Open one with PGVectorStore.create or sextant.stores.langchain.open_vector_store.",
            field="vector_store",
        )
    rows = TableRows(store, user_id, user_field)
    return FilteredStore(store, user_field, rows, similarity_of(store), runs_its_loop(store))
