"""A vector store whose lanes answer from a script, and a retriever over it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from sextant.retrievers import HybridRetriever, HybridRetrieverOptions
from sextant.stores.rows import StoredText

Found = Sequence[tuple[str, float]]


@dataclass
class ScriptedRows:
    """A user's texts, of which the keyword lane finds what it is told to."""

    found: Found = ()
    error: Exception | None = None
    texts_by_id: Mapping[str, str] = field(default_factory=dict[str, str])
    key: Hashable = "rows"
    asked: list[tuple[list[str], int]] = field(default_factory=list[tuple[list[str], int]])
    meeting: asyncio.Barrier | None = None
    blocked: asyncio.Event | None = None

    async def owner(self) -> str:
        return "7"

    async def keyword_search(
        self, keywords: Sequence[str], k: int
    ) -> Sequence[tuple[Document, float]]:
        self.asked.append((list(keywords), k))
        await met(self.meeting)
        if self.error:
            raise self.error
        return [(document(name), score) for name, score in self.found]

    def statement(self, keywords: Sequence[str], k: int) -> str:
        return f"select … {list(keywords)} limit {k}"

    async def stamp(self) -> str:
        if self.blocked:
            await self.blocked.wait()
        return str(sorted(self.texts_by_id.items()))

    async def states(self) -> Mapping[Hashable, str]:
        return dict[Hashable, str](self.texts_by_id.items())

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[StoredText]:
        return [StoredText(part, str(part), self.texts_by_id[str(part)]) for part in parts]


class ScriptedStore(VectorStore):
    """A vector store that finds what it is told to, as (name, cosine similarity)."""

    def __init__(
        self,
        found: Found = (),
        rows: ScriptedRows | None = None,
        error: Exception | None = None,
        meeting: asyncio.Barrier | None = None,
    ) -> None:
        self.found = found
        self.rows = rows or ScriptedRows()
        self.error = error
        self.meeting = meeting
        self.asked: list[dict[str, Any]] = []

    def rows_of(self, user_id: int | str) -> ScriptedRows:
        return self.rows

    async def asimilarity_search_with_score(
        self, *args: Any, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        question, k = args
        self.asked.append({"question": question, "k": k, **kwargs})
        await met(self.meeting)
        if self.error:
            raise self.error
        return [(document(name), 1 - similarity) for name, similarity in self.found]

    def similarity_search(self, query: str, k: int = 4, **_: Any) -> list[Document]:
        raise NotImplementedError

    @classmethod
    def from_texts(cls, *_: Any, **__: Any) -> ScriptedStore:
        raise NotImplementedError


async def met(meeting: asyncio.Barrier | None) -> None:
    """Wait for the other lane, which must be running at the same time."""
    if meeting:
        async with asyncio.timeout(5):
            await meeting.wait()


def document(name: str) -> Document:
    return Document(id=name, page_content=f"text of {name}", metadata={"filename": f"{name}.md"})


def retriever(
    store: ScriptedStore, options: Mapping[str, Any] | None = None, **more: Any
) -> HybridRetriever:
    """Without the rerank, so that the order is that of RRF; `options` may say otherwise."""
    chosen = {"bm25_rerank": False, **(options or {})}
    return HybridRetriever(
        vector_store=store,
        user_id=7,
        options=HybridRetrieverOptions.model_validate(chosen),
        **more,
    )


def names(documents: Sequence[Document]) -> list[str | None]:
    return [one.id for one in documents]
