"""Contents of passages, in memory, beside the knowledge bases that are searched there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sextant.domain.scope import Scope
from sextant.retrievers.content import PassageContent
from sextant.retrievers.memory.beside import PackedRows, ScopeRowCache
from sextant.retrievers.memory.json_rows import rows_as_json
from sextant.retrievers.memory.room import MemoryBoundedCache
from sextant.retrievers.memory.texts import ContentRows, passage_as_json
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.database import Database

# Rows at a time: some five milliseconds of the server, two of a thread.
_AT_ONCE = 512


class PackedTexts(PackedRows):
    """The contents of all chunks of a scope: its text and some 0.4 KB a chunk."""

    def of(self, ids: Sequence[str]) -> dict[str, PassageContent]:
        """Return the contents of some chunks; without those that are not there."""
        return ContentRows(self.rows, "section_path").of(ids)

    def at(self, row: int) -> PassageContent | None:
        """Return the content of the chunk of a row; None where it is not there."""
        return ContentRows(self.rows, "section_path").one(row)


class HotTexts(ScopeRowCache[PackedTexts]):
    """The texts of the scopes searched most."""

    def __init__(self, database: Database, room: MemoryBoundedCache) -> None:
        chunks = ChunkStore(database)

        async def read(scope: Scope, ids: Sequence[str]) -> tuple[bytes, list[int]]:
            return await rows_as_json(partial(chunks.contents, scope), passage_as_json, ids)

        super().__init__(database, room, PackedTexts, read, _AT_ONCE)
