"""Contents of passages and entities, in memory, for the scopes that the graph modes are asked most.

A question then needs nothing of PostgreSQL but the scope's stamp, which can be read while it is ranked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from sextant.domain.memory import give_back
from sextant.domain.scope import Scope
from sextant.retrievers.content import PassageContent, of_entity, of_passage
from sextant.retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from sextant.retrievers.memory.json_rows import JsonRows, Row, read_rows, rows_as_json
from sextant.retrievers.memory.room import Fits, MemoryBoundedCache, together
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.rows import entity_of
from sextant.stores.stamps.stamp import Stamp


@dataclass(frozen=True, slots=True)
class ContentRows:
    """Contents by id, each as JSON.

    `listed` names what of the metadata is a tuple.
    """

    rows: JsonRows
    listed: str

    def of(self, wanted: Sequence[str]) -> dict[str, PassageContent]:
        """Return the contents of some ids; without those that are not there."""
        return {own: self._content(*row) for own, row in self.rows.of(wanted).items()}

    def at(self, rows: Sequence[int]) -> dict[int, PassageContent]:
        """Return the contents of some rows of the index."""
        return {own: self._content(*row) for own, row in self.rows.at(rows).items()}

    def one(self, row: int) -> PassageContent | None:
        """Return the content of one row; None where it is not there."""
        written = self.rows.written(row)
        return self._content(*orjson.loads(written)) if written else None

    def _content(
        self, text: str, document: str | None, external: str | None, said: dict[str, Any]
    ) -> PassageContent:
        said[self.listed] = tuple(said[self.listed])
        return PassageContent(text, document, external, said)

    @property
    def nbytes(self) -> int:
        """Return bytes of memory, without the ids, which are the index's."""
        return self.rows.nbytes


@dataclass(frozen=True, slots=True)
class ScopeTexts:
    """The contents of all passages and entities of an index, as it was at its stamp."""

    stamp: Stamp
    passages: ContentRows
    entities: ContentRows

    @property
    def nbytes(self) -> int:
        """Return bytes of memory."""
        return self.passages.nbytes + self.entities.nbytes


class Texts:
    """The texts of the scopes asked most, in a room that they share with others.

    Args:
        chunks: where passages are.
        indexes: whose passages and entities they are; it knows where a graph is.
        room: bounds them.
    """

    def __init__(self, chunks: ChunkStore, indexes: ScopeIndexes, room: MemoryBoundedCache) -> None:
        self._chunks = chunks
        self._indexes = indexes
        self._room = room

    def of(self, scope: Scope, stamp: Stamp, index: ScopeIndex) -> ScopeTexts | None:
        """Return the texts of all that an index can find, if they are at hand; counts as a question.

        Args:
            scope: whose.
            stamp: of the index, which is that of the texts: whether it is of now is to be asked.
            index: whose passages and entities.
        """
        read = partial(self._read, scope, stamp, index)
        texts = self._room.ask(ScopeTexts, scope, read)
        if texts is None or texts.stamp == stamp:
            return texts
        self._room.drop(scope, texts)
        return self._room.ask(ScopeTexts, scope, read)

    async def _read(
        self, scope: Scope, stamp: Stamp, index: ScopeIndex, fits: Fits
    ) -> ScopeTexts | None:
        """Return all of them, unless they take too much room or something has changed since the index was read.

        Both kinds at once: until they are there, questions wait for texts, and for the reading of these.
        """
        own, beside = together(fits, 2)
        chunks = partial(rows_as_json, partial(self._chunks.contents, scope), passage_as_json)
        entities_of = partial(self._indexes.whole(stamp).contents, scope)
        graph = partial(rows_as_json, entities_of, _entity)
        passages, entities = await asyncio.gather(
            read_rows(index.chunk_ids, chunks, own), read_rows(index.entities, graph, beside)
        )
        if passages is None or entities is None or await self._indexes.stamp(scope) != stamp:
            return None
        await asyncio.to_thread(give_back)
        return ScopeTexts(
            stamp, ContentRows(passages, "section_path"), ContentRows(entities, "aliases")
        )


def passage_as_json(row: Row) -> object:
    """Return a passage's row as `ContentRows` has it."""
    return tuple(of_passage(row))


def _entity(row: Row) -> object:
    return tuple(of_entity(entity_of(row)))
