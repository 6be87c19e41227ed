"""Reads around a chunk in its document and in the graph, and quotes the sentences behind graph items."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sextant.domain import CAMEL_CASE
from sextant.domain.documents import Section
from sextant.domain.errors import ChunkNotFound
from sextant.domain.questions import in_range
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import (
    ChunkEntity,
    StoredChunk,
    entities_of,
    load_linked_chunks,
    neighbour_chunks,
)
from sextant.stores.documents.document_reader import DocumentReader
from sextant.stores.graph.name_decisions import MentioningPassage
from sextant.stores.postgresql.database import Database
from sextant.text.sentences import sentence_spans

STATES = "states"


@dataclass(frozen=True, slots=True)
class EntityQuote:
    """A sentence of a passage that mentions an entity or states a relation.

    `sentence` is on one line with at most 300 characters; `start` and `end` are the character offsets of the whole
    sentence in the document's text; `kind` is the kind of the mention, or `states` for a relation.
    """

    __pydantic_config__ = CAMEL_CASE

    sentence: str
    filename: str
    page: int | None
    section_path: tuple[str, ...]
    kind: str
    chunk_id: UUID
    document_id: UUID
    start: int
    end: int


def quote_mention(found: MentioningPassage) -> EntityQuote:
    """Return the sentence of a mention, or the first one of a passage that has the entity in its title only."""
    spans = _spans(found.text)
    start, end = next((span for span in spans if span[0] <= found.start < span[1]), spans[0])
    return EntityQuote(
        _in_one_line(found.text[start:end]),
        found.filename,
        found.page,
        tuple(found.section_path),
        found.kind,
        found.chunk_id,
        found.document_id,
        found.offset + start,
        found.offset + end,
    )


def quote_relation(chunk: StoredChunk, names: Iterable[str]) -> EntityQuote:
    """Return the first sentence with the most of the two ends of a relation."""
    wanted = [name.casefold() for name in names]

    def named(span: tuple[int, int]) -> int:
        sentence = chunk.text[slice(*span)].casefold()
        return sum(name in sentence for name in wanted)

    start, end = max(_spans(chunk.text), key=named)
    return EntityQuote(
        _in_one_line(chunk.text[start:end]),
        chunk.filename,
        chunk.page,
        chunk.section_path,
        STATES,
        chunk.id,
        chunk.document_id,
        chunk.start + start,
        chunk.start + end,
    )


def _spans(text: str) -> list[tuple[int, int]]:
    return list(sentence_spans(text)) or [(0, len(text))]


def _in_one_line(sentence: str) -> str:
    return " ".join(sentence.split())[:300]


LINKED = "linked"
MOST_RELATED = 50
MOST_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class NeighbourChunk:
    """A chunk near another one: `previous`, `next`, `section`, `parent`, or only `linked`.

    `shared` are the entities that both mention, the rarest first.
    """

    chunk: StoredChunk
    relation: str
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """A chunk, its section, and the document's text right before and after it."""

    chunk: StoredChunk
    section: Section | None
    entities: tuple[ChunkEntity, ...]
    before: str
    after: str
    previous_id: UUID | None
    next_id: UUID | None


class ChunkReader:
    """Reads around the chunks of one knowledge base.

    Args:
        database: holds the chunks.
        scope: the knowledge base.
    """

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._documents = DocumentReader(database)
        self._chunks = ChunkStore(database)
        self._scope = scope

    async def chunk(self, chunk_id: UUID | str) -> StoredChunk:
        """Return one chunk.

        Raises:
            ChunkNotFound: the knowledge base has no such chunk.
        """
        found = await self._chunks.get(self._scope, [_chunk_id(chunk_id)])
        if not found:
            raise _not_found(chunk_id)
        return found[0]

    async def related(self, chunk_id: UUID | str, limit: int = 10) -> list[NeighbourChunk]:
        """Return the chunks related to one: first the nearest in the section tree, then those linked by the graph.

        The graph gets a third of the results if there are enough of both kinds.

        Args:
            chunk_id: the chunk.
            limit: results at most, 1 to 50.

        Raises:
            ChunkNotFound: the knowledge base has no such chunk.
            OptionInvalid: the limit is out of range.
        """
        limit = in_range(limit, "limit", most=MOST_RELATED)
        start = await self.chunk(chunk_id)
        near, linked = await asyncio.gather(
            neighbour_chunks(self._database, self._scope, start.id, limit),
            load_linked_chunks(self._database, self._scope, [start.id], limit),
        )
        others = [other for other in linked.get(start.id, ()) if other not in near]
        by_tree = list(near)[: max(limit - len(others), limit - limit // 3)]
        by_graph = others[: limit - len(by_tree)]
        ids = [*by_tree, *by_graph]
        shared, stored = await asyncio.gather(
            self._shared_entities(start.id, ids), self._chunks.get(self._scope, ids)
        )
        return [
            NeighbourChunk(chunk, near.get(chunk.id, LINKED), shared.get(chunk.id, ()))
            for chunk in stored
        ]

    async def preview(self, chunk_id: UUID | str, chars: int = 1000) -> Preview:
        """Return a chunk with its section and the text around it.

        Args:
            chunk_id: the chunk.
            chars: characters of the document's text before it, and as many after it; 0 to 20,000.

        Raises:
            ChunkNotFound: the knowledge base has no such chunk.
            OptionInvalid: `chars` is out of range.
        """
        chars = in_range(chars, "contextChars", least=0, most=MOST_CHARS)
        chunk = await self.chunk(chunk_id)
        near, entities, sections, before, after = await asyncio.gather(
            neighbour_chunks(self._database, self._scope, chunk.id, 2),
            entities_of(self._database, self._scope, [chunk.id]),
            self._documents.structure(self._scope, chunk.document_id),
            self._text(chunk, max(0, chunk.start - chars), chunk.start),
            self._text(chunk, chunk.end, chunk.end + chars),
        )
        ids = {relation: id_ for id_, relation in near.items()}
        return Preview(
            chunk=chunk,
            section=next((one for one in sections if one.id == chunk.section_id), None),
            entities=entities.get(chunk.id, ()),
            before=before,
            after=after,
            previous_id=ids.get("previous"),
            next_id=ids.get("next"),
        )

    async def text(self, document_id: UUID, chars: int) -> str:
        """Return the first characters of a document.

        Raises:
            DocumentNotFound: the knowledge base has no such document.
        """
        return await self._documents.text(self._scope, document_id, 0, chars)

    async def _text(self, chunk: StoredChunk, start: int, end: int) -> str:
        if start >= end:
            return ""
        return await self._documents.text(self._scope, chunk.document_id, start, end)

    async def _shared_entities(
        self, chunk_id: UUID, others: Sequence[UUID]
    ) -> dict[UUID, tuple[str, ...]]:
        """Return the entities that each of the others shares with the chunk, the rarest first."""
        if not others:
            return {}
        # The 50 rarest of each chunk, since entities that all chunks mention relate none.
        entities_in = await entities_of(self._database, self._scope, [chunk_id, *others], 50)
        names = {id_: [one.name for one in entities_in.get(id_, ())] for id_ in (chunk_id, *others)}
        return {
            other: tuple(name for name in names[chunk_id] if name in names[other])
            for other in others
        }


def _chunk_id(given: UUID | str) -> UUID:
    try:
        return UUID(str(given))
    except ValueError:
        raise _not_found(given) from None


def _not_found(chunk_id: UUID | str) -> ChunkNotFound:
    """Return the same error for an unknown chunk and for one of another user."""
    return ChunkNotFound(
        f"No passage {str(chunk_id)[:80]} in this knowledge base.",
        next_step="Search again, in the same knowledge base: a changed document has other passages.",
        field="chunkId",
    )
