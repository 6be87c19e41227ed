"""A knowledge base whose entities lie at known angles from every question."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np

from sextant.domain.errors import ModelUnavailable
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.models.protocols import Reranker, Vectors
from sextant.retrievers import EntitySearch
from sextant.stores.graph.evidence import (
    AliasRow,
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
)
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.world import ReadSide

QUERY = "Rust内存安全特性"


# Name → type, description, cosine to the query.
ENTITIES = {
    "所有权系统": ("concept", "Rust的核心内存管理机制，保证内存安全。", 0.9),
    "Rust": ("language", "A language with memory safety and no garbage collector.", 0.8),
    "借用检查器": ("tool", "检查引用的有效性。", 0.6),
    "Cargo": ("tool", "Builds packages.", 0.4),
    "生命周期": ("concept", "引用有效的范围。", 0.3),
    "LLVM": ("tool", "Optimises code.", 0.2),
}


RELATIONS = [
    ("借用检查器", "part_of", "所有权系统", 2.0),
    ("Rust", "uses", "Cargo", 3.0),
    ("生命周期", "checked_by", "借用检查器", 4.0),
    ("Cargo", "calls", "LLVM", 5.0),
]


class Pointing(HashEmbedder):
    """Every question points along the first axis; of `length` dimensions."""

    def __init__(self, length: int = 384, *, broken: bool = False) -> None:
        super().__init__(length)
        self.broken = broken
        self.asked = 0

    async def embed_query(self, text: str) -> Vectors:
        self.asked += 1
        if self.broken:
            raise ModelUnavailable(f"no vector for {len(text)} characters")
        return at(1.0, self.dimension)


def at(cosine: float, length: int = 384) -> Vectors:
    vector = np.zeros(length, np.float32)
    vector[0], vector[1] = cosine, math.sqrt(1 - cosine**2)
    return vector


@dataclass
class World:
    """A knowledge base to search, and what changes it."""

    scope: Scope
    reading: ReadSide
    record: GraphRecord
    database: Database
    embedder: Pointing = field(default_factory=Pointing)

    def search(self, reranker: Reranker | None = None, **more: Any) -> EntitySearch:
        own = self.database.settings
        if more:
            updated = own.entity_search.model_copy(update=more)
            own = own.model_copy(update={"entity_search": updated})
        return EntitySearch(
            self.database, self.reading.graph, self.embedder, own, reranker=reranker
        )

    async def add(
        self,
        entities: dict[str, tuple[str, str, float]],
        relations: Sequence[tuple[str, str, str, float]] = (),
    ) -> None:
        await self.record.add(
            self.scope,
            GraphEvidence(
                [
                    MentionRow(self.id(name), None, MentionKind.IMPORT, name, kind, said)
                    for name, (kind, said, _) in entities.items()
                ],
                [RelationRow(self.id(a), self.id(b), kind, None, w) for a, kind, b, w in relations],
            ),
        )
        vectors = EntityVectors(self.database)
        cosines = {**ENTITIES, **entities}
        if waiting := await vectors.to_embed(self.scope):
            rows = [at(cosines[one.text.split("\n")[0]][2]) for one in waiting]
            await vectors.store(self.scope, waiting, np.stack(rows))
        await self.reading.catch_up(self.scope)

    async def alias(self, name: str, alias: str) -> None:
        rows = [AliasRow(self.id(name), alias, "manual")]
        await self.record.add(self.scope, GraphEvidence(aliases=rows))
        await self.reading.catch_up(self.scope)

    def id(self, name: str) -> UUID:
        return entity_id(self.scope, name)


Build = Callable[[], Awaitable[World]]
