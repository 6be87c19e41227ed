"""What results say: lanes over the index find by id, and what was found is told once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.errors import ConflictError, InputError, SextantError
from domain.retrieval import ItemKind, RetrievedItem
from retrievers.lanes.lane import LaneQuery
from retrievers.memory.texts import ScopeTexts
from retrievers.telling import Told, of_entity, of_passage, with_told
from stores.chunks import ChunkStore
from stores.graph.protocol import GraphStore
from stores.stamps import Stamp

NO_GRAPH_STORE = "图数据库暂不可用，结果不含实体与关系"


def told_from(
    texts: ScopeTexts, passages: Sequence[RetrievedItem], around: Sequence[RetrievedItem]
) -> tuple[list[RetrievedItem], list[RetrievedItem]]:
    """The same items with their texts, from what is in memory; as `Contents.read` tells them."""
    chunks = texts.passages.of(_bare(passages, ItemKind.CHUNK))
    entities = texts.entities.of(_bare(around, ItemKind.ENTITY))
    return _passages(passages, chunks), _around(around, entities)


@dataclass(frozen=True, slots=True)
class Contents:
    """Reads passages and entities by id, in one round trip where one database holds both.

    Args:
        chunks, graph: where they are.
        query: whose they are; it is warned of a graph store that does not answer.
        stamped: whether the scope's stamp is wanted with them. It is read last: whatever it tells of
            was so when the rest was read.
    """

    chunks: ChunkStore
    graph: GraphStore | None
    query: LaneQuery
    stamped: bool

    async def read(
        self, passages: Sequence[RetrievedItem], around: Sequence[RetrievedItem]
    ) -> tuple[list[RetrievedItem], list[RetrievedItem], Stamp | None, bool]:
        """The same items with their texts, without those that are gone; the stamp; is `hot` current?

        Those that have a text stay as they are. Without a graph store that answers there are neither
        entities nor relations, which are told with both their ends or not at all.
        """
        chunks, entities, stamp, current = await asyncio.gather(
            self._chunks(passages), self._entities(around), self._stamp(), self.query.is_current()
        )
        return _passages(passages, chunks), _around(around, entities), stamp, current

    async def _chunks(self, items: Sequence[RetrievedItem]) -> dict[str, Told]:
        ids = _bare(items, ItemKind.CHUNK)
        rows = await self.chunks.told(self.query.scope, ids) if ids else []
        return {row["id"]: of_passage(row) for row in rows}

    async def _entities(self, items: Sequence[RetrievedItem]) -> dict[str, Told]:
        ids = [UUID(own) for own in _bare(items, ItemKind.ENTITY)]
        if self.graph is None or not ids:
            return {}
        try:
            found = await self.graph.get_entities(self.query.scope, ids)
        except (InputError, ConflictError):
            raise
        except SextantError:
            self.query.warn(NO_GRAPH_STORE)
            return {}
        return {str(entity.id): of_entity(entity) for entity in found}

    async def _stamp(self) -> Stamp | None:
        return await self.chunks.stamp(self.query.scope) if self.stamped else None


def _bare(items: Sequence[RetrievedItem], kind: ItemKind) -> list[str]:
    """The ids of those that have no text yet."""
    return [item.id for item in items if item.kind is kind and not item.text]


def _passages(items: Sequence[RetrievedItem], told: Mapping[str, Told]) -> list[RetrievedItem]:
    return [
        item if item.text else with_told(item, told[item.id])
        for item in items
        if item.text or item.id in told
    ]


def _around(items: Sequence[RetrievedItem], told: Mapping[str, Told]) -> list[RetrievedItem]:
    """Entities that are told, relations both of whose ends are, and what has a text."""
    around: list[RetrievedItem] = []
    for item in items:
        if item.kind is ItemKind.RELATION:
            if item.metadata["source"] in told and item.metadata["target"] in told:
                around.append(item)
        elif item.text:
            around.append(item)
        elif item.id in told:
            around.append(with_told(item, told[item.id]))
    return around
