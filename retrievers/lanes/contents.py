"""Contents of results: lanes over the index find by id, and what all of them found is read once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from sextant.domain.errors import ConflictError, InputError, SextantError
from sextant.domain.retrieval import (
    PassageContent,
    RetrievedItem,
    of_entity,
    of_passage,
    with_content,
)
from sextant.domain.scope import Scope
from sextant.domain.warnings import WarningCode
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.surroundings import Surroundings
from sextant.retrievers.lanes.warnings import go_without
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.stamps.stamp_lines import Stamp


@dataclass(frozen=True, slots=True)
class Contents:
    """Reads passages and entities by id.

    Args:
        chunks, graph: where they are.
        query: whose they are; it is warned of a graph store that does not answer.
        stamp: asks for the scope's stamp, where it is wanted with them. It is read last: what it
            stands for was so when the rest was read.
    """

    chunks: ChunkStore
    graph: GraphStore | None
    query: LaneQuery
    stamp: Callable[[Scope], Awaitable[Stamp]] | None

    async def read(
        self, passages: Sequence[RetrievedItem], around: Surroundings | None
    ) -> tuple[list[RetrievedItem], list[RetrievedItem], Stamp | None, bool]:
        """Return passages with their contents, without those that are gone; what goes with them; the stamp; is `hot` current?

        Passages that have a text stay as they are. Without a graph store that answers there are neither
        entities nor relations, which come with both their ends or not at all.
        """
        chunks, items = await asyncio.gather(self._chunks(passages), self._items(around))
        stamp = None if self.stamp is None else await self.stamp(self.query.scope)
        current = await self.query.is_current()
        return _with_contents(passages, chunks), items, stamp, current

    async def _chunks(self, items: Sequence[RetrievedItem]) -> dict[str, PassageContent]:
        ids, hot = _bare(items), self.query.hot
        if not ids:
            return {}
        if hot is not None:
            return hot.index.contents(ids)
        rows = await self.chunks.contents(self.query.scope, ids)
        return {row["id"]: of_passage(row) for row in rows}

    async def _items(self, around: Surroundings | None) -> list[RetrievedItem]:
        if self.graph is None or around is None:
            return []
        rows = {around.index.entities[row]: row for row in around.entities}
        try:
            found = await self.graph.get_entities(self.query.scope, list(rows))
        except (InputError, ConflictError):
            raise
        except SextantError as error:
            go_without("graph", error, self.query, WarningCode.GRAPH_STORE_FAILED)
            return []
        # One that was merged into another meanwhile comes as that, which the index did not find.
        return around.items({rows[one.id]: of_entity(one) for one in found if one.id in rows})


def _bare(passages: Sequence[RetrievedItem]) -> list[str]:
    """Return the ids of those that have no text yet."""
    return [item.id for item in passages if not item.text]


def _with_contents(
    passages: Sequence[RetrievedItem], contents: Mapping[str, PassageContent]
) -> list[RetrievedItem]:
    return [
        item if item.text else with_content(item, contents[item.id])
        for item in passages
        if item.text or item.id in contents
    ]
