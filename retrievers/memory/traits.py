"""What ranking asks of chunks, in memory, beside the knowledge bases that are searched there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sextant.retrievers.memory.beside import PackedRows, ScopeRowCache
from sextant.retrievers.memory.room import MemoryBoundedCache
from sextant.stores.chunks.metadata import ChunkMetadata, metadata_from_json, read_packed_metadata
from sextant.stores.postgresql.database import Database

# Rows at a time: some ten milliseconds of the server, two of the event loop.
_AT_ONCE = 2048


class PackedTraits(PackedRows):
    """The traits of all chunks of a scope: some 0.4 KB a chunk."""

    def of(self, ids: Sequence[str]) -> list[ChunkMetadata] | None:
        """Return the traits of these chunks in their order; None if one of them is not here."""
        found = self.rows.of(ids)
        if len(found) < len(ids):
            return None
        return [metadata_from_json(row) for row in found.values()]


class HotTraits(ScopeRowCache[PackedTraits]):
    """The traits of the scopes searched most."""

    def __init__(self, database: Database, room: MemoryBoundedCache) -> None:
        super().__init__(
            database, room, PackedTraits, partial(read_packed_metadata, database), _AT_ONCE
        )
