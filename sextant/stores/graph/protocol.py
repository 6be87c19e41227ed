"""What retrieval reads of a graph; the record (PostgreSQL) and every projection of it pass one suite.

Readers see entities that a title, an alias, a model or an import vouches for, or that at least two
chunks mention. Merged entities are one entity; the id of a merged one finds what it was merged into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import Community, Entity, Relation
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.postgresql.binary import Embedded

Vector = npt.NDArray[np.float32]

# An entity that has more relations is not walked through: it joins everything to everything, and in
# a graph database without an index by weight it costs its whole degree (anchors: graph §e).
HUB_DEGREE = 200


@dataclass(frozen=True, slots=True)
class EntityHit:
    """An entity that a search found; `name` is the one that matched, what `score` means is its matter."""

    entity: Entity
    score: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Hop:
    """A relation met on a walk: `depth` 1 touches a start. `weight` is the sum of its evidence."""

    relation_id: UUID
    source_id: UUID
    target_id: UUID
    relation_type: str
    weight: float
    depth: int

    def other_end(self, end: UUID) -> UUID:
        """Return the end that is not this one."""
        return self.target_id if self.source_id == end else self.source_id


@dataclass(frozen=True, slots=True)
class ChunkLink:
    """A chunk that mentions some of the entities asked for, by their ids."""

    chunk_id: UUID
    entity_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class CommunityHit:
    """A community whose report a search found; score = cosine similarity."""

    community: Community
    score: float


@dataclass(frozen=True, slots=True)
class EntityFilter:
    """Which entities a search may find; with nothing set, all.

    Attributes:
        entity_types: any of these, in lower case.
        created_after: came then or later.
        created_before: came earlier.
        known_at: had come by then; what has come since is not seen.
    """

    entity_types: tuple[str, ...] = ()
    created_after: datetime | None = None
    created_before: datetime | None = None
    known_at: datetime | None = None

    def bounds(self) -> dict[str, object]:
        """Return the values of the statements that look only among some entities, in SQL and in Cypher."""
        return {
            "types": list(self.entity_types) or None,
            "since": self.created_after,
            "until": self.created_before,
            "known_at": self.known_at,
        }


EVERY_ENTITY = EntityFilter()


class GraphStore(Protocol):
    """The read side of a scope's graph.

    Every method raises `GraphStoreUnavailable` or `DatabaseUnavailable` when the store does not
    answer, and finds nothing in a scope that has no graph.
    """

    async def entities_by_alias(self, scope: Scope, names: Sequence[str]) -> list[EntityHit]:
        """Return entities that bear one of these names or aliases, in any spelling; score 1.

        In the order of `names`, then by id; `name` is the name as it was given. Homonyms all come.
        """
        ...

    async def entities_by_text(self, scope: Scope, text: str, k: int) -> list[EntityHit]:
        """Return the `k` entities whose names share most words with `text`, best first, then by id.

        Words are Chinese character pairs and whole words otherwise, without stop words. score =
        2 × shared words ÷ (words of the name + words of the text), so a name that the text contains
        comes before one that it contains in part. No text is a syntax error.
        """
        ...

    async def entities_by_words(
        self, scope: Scope, words: Sequence[str], k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """Return full text: the `k` entities whose name or description holds all of these words.

        Where none holds all, those that hold any. Best first, then by id; the name counts ten times
        as much as the description. English is stemmed and without stop words, Chinese is found
        inside longer words. score: cover density (`ts_rank_cd`) in PostgreSQL, BM25 in Neo4j; only the
        order means something. No word is a syntax error.
        """
        ...

    async def entities_by_vector(
        self, scope: Scope, vector: Vector, k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """Return the `k` nearest entities that have a vector; score = cosine similarity, best first."""
        ...

    async def get_entities(
        self, scope: Scope, ids: Sequence[UUID], only: EntityFilter = EVERY_ENTITY
    ) -> list[Entity]:
        """Return entities in the order of `ids`, each once; ids that are not there are left out."""
        ...

    async def get_relations(self, scope: Scope, ids: Sequence[UUID]) -> list[Relation]:
        """Return relations with description and chunks in the order of `ids`; absent ids are left out."""
        ...

    async def neighbourhood(
        self, scope: Scope, ids: Sequence[UUID], *, depth: int = 1, per_node: int = 10
    ) -> list[Hop]:
        """Return the heaviest relations around entities.

        From each start its `per_node` heaviest relations (ties by relation id), and with `depth` 2
        the same from each end reached so, unless it has more than `HUB_DEGREE` relations or was a
        start. A relation is listed once, at its least depth; ordered by depth, weight falling, id.
        """
        ...

    async def chunks_of(self, scope: Scope, entity_ids: Sequence[UUID], k: int) -> list[ChunkLink]:
        """Return the `k` chunks that mention most of these entities, then by chunk id."""
        ...

    async def communities(self, scope: Scope, level: int | None = None) -> list[Community]:
        """Return communities of one level (0 is the coarsest) or of all, by level, rating falling, id."""
        ...

    async def communities_by_vector(
        self, scope: Scope, vector: Vector, k: int, *, level: int | None = None
    ) -> list[CommunityHit]:
        """Return the `k` communities with the nearest reports, best first."""
        ...


class WholeGraph(Protocol):
    """Whole graphs, for indexes in memory; errors as of `GraphStore`."""

    async def arrays(self, scope: Scope) -> GraphArrays:
        """Return entities, relations, and the evidence for them."""
        ...

    async def reports(self, scope: Scope) -> tuple[list[Community], Embedded]:
        """Return every community that has a report, and the vectors that reports have."""
        ...

    async def contents(self, scope: Scope, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return what results show of entities, as rows (`sextant.stores.graph.rows.entity_of`)."""
        ...


class GraphCopies(WholeGraph, Protocol):
    """Copies of graphs in a graph database, from which indexes in memory are read where they are current."""

    async def state(self, scope: Scope) -> str:
        """Return a text that is another one when the copy has changed; empty where the record has to answer."""
        ...
