"""What results say: lanes over the index find by id, and what was found is told once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from domain.errors import ConflictError, InputError, SextantError
from domain.graph import Entity
from domain.retrieval import ItemKind, RetrievedItem
from retrievers.lanes.lane import LaneQuery
from retrievers.memory.texts import ScopeTexts
from stores.chunks import ChunkStore
from stores.graph.protocol import GraphStore
from stores.graph.rows import entity_of
from stores.stamps import Stamp

NO_GRAPH_STORE = "图数据库暂不可用，结果不含实体与关系"

_OF_THEIR_OWN = frozenset({"id", "place", "text", "document_id", "external_id"})


def told_from(
    texts: ScopeTexts, passages: Sequence[RetrievedItem], around: Sequence[RetrievedItem]
) -> tuple[list[RetrievedItem], list[RetrievedItem]]:
    """The same items with their texts, from what is in memory; as `Contents.read` tells them."""
    chunks = texts.passages.of([item.id for item in passages if not item.text])
    rows = texts.entities.of(_entity_ids(around))
    entities = {own: entity_of(row) for own, row in rows.items()}
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

    async def _chunks(self, items: Sequence[RetrievedItem]) -> dict[str, dict[str, Any]]:
        ids = [item.id for item in items if not item.text]
        rows = await self.chunks.told(self.query.scope, ids) if ids else []
        return {row["id"]: row for row in rows}

    async def _entities(self, items: Sequence[RetrievedItem]) -> dict[str, Entity]:
        ids = [UUID(own) for own in _entity_ids(items)]
        if self.graph is None or not ids:
            return {}
        try:
            found = await self.graph.get_entities(self.query.scope, ids)
        except (InputError, ConflictError):
            raise
        except SextantError:
            self.query.warn(NO_GRAPH_STORE)
            return {}
        return {str(entity.id): entity for entity in found}

    async def _stamp(self) -> Stamp | None:
        return await self.chunks.stamp(self.query.scope) if self.stamped else None


def _entity_ids(items: Sequence[RetrievedItem]) -> list[str]:
    return [item.id for item in items if item.kind is ItemKind.ENTITY and not item.text]


def _passages(
    items: Sequence[RetrievedItem], chunks: Mapping[str, Mapping[str, Any]]
) -> list[RetrievedItem]:
    told = (item if item.text else _passage(item, chunks.get(item.id)) for item in items)
    return [item for item in told if item]


def _around(items: Sequence[RetrievedItem], entities: Mapping[str, Entity]) -> list[RetrievedItem]:
    told = (_told(item, entities) for item in items)
    return [item for item in told if item]


def _passage(item: RetrievedItem, row: Mapping[str, Any] | None) -> RetrievedItem | None:
    if row is None:
        return None
    return RetrievedItem(
        ItemKind.CHUNK,
        item.id,
        row["text"],
        item.score,
        row["document_id"],
        row["external_id"],
        item.lanes,
        {
            **{name: value for name, value in row.items() if name not in _OF_THEIR_OWN},
            "section_path": tuple(row["section_path"]),
        },
    )


def _told(item: RetrievedItem, entities: Mapping[str, Entity]) -> RetrievedItem | None:
    """An entity with its text, or a relation if both its ends are told."""
    if item.kind is ItemKind.RELATION:
        said = item.metadata
        return item if said["source"] in entities and said["target"] in entities else None
    if item.text:
        return item
    entity = entities.get(item.id)
    return _entity(item, entity) if entity is not None else None


def _entity(item: RetrievedItem, entity: Entity) -> RetrievedItem:
    return RetrievedItem(
        ItemKind.ENTITY,
        item.id,
        f"{entity.name}: {entity.description}" if entity.description else entity.name,
        item.score,
        external_id=entity.external_id,
        metadata={
            "name": entity.name,
            "type": entity.entity_type,
            "aliases": entity.aliases,
            "degree": entity.degree,
            **item.metadata,
        },
    )
