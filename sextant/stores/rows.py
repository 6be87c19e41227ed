"""The texts behind a vector store, as a hybrid search asks for them beside the vectors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from langchain_core.documents import Document


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
