"""The protocols by which retrieval reads a graph; the record and every projection pass one test suite.

An entity is visible if a title, an alias, a model or an import confirms it, or if at least two chunks
mention it. Merged entities are one entity; the id of a merged one finds its root.

Also here: convert rows of either graph store to domain objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import Community, Entity, Finding
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.postgresql.queries import Embedded

Row = Mapping[str, Any]


def as_uuid(value: UUID | str) -> UUID:
    """Return an id as a UUID."""
    return value if isinstance(value, UUID) else UUID(value)


def entity_of(row: Row) -> Entity:
    """Return the entity of a row with columns or properties of the same names."""
    return Entity(
        id=as_uuid(row["id"]),
        name=row["name"],
        entity_type=row["entity_type"],
        description=row["description"],
        aliases=tuple(row["aliases"]),
        degree=row["degree"],
        mention_count=row["mention_count"],
        external_id=row["external_id"],
    )


def community_of(row: Row, findings: Iterable[Row], members: Iterable[UUID | str]) -> Community:
    """Return the community of a row, with its findings and members."""
    return Community(
        id=as_uuid(row["id"]),
        level=row["level"],
        parent_id=as_uuid(row["parent_id"]) if row["parent_id"] else None,
        title=row["title"],
        summary=row["summary"],
        findings=read_findings(findings),
        rating=row["rating"],
        entity_ids=tuple(map(as_uuid, members)),
    )


def read_findings(rows: Iterable[Row]) -> tuple[Finding, ...]:
    """Return the findings of the column `communities.findings`."""
    return tuple(Finding(row["text"], tuple(map(UUID, row["chunk_ids"]))) for row in rows)


Vector = npt.NDArray[np.float32]

# Walks do not pass through entities with more relations: they connect everything with everything, and
# a graph database without an index by weight has to read all their relations.
HUB_DEGREE = 200


@dataclass(frozen=True, slots=True)
class EntityHit:
    """An entity that a search found. The search defines `score`."""

    entity: Entity
    score: float


@dataclass(frozen=True, slots=True)
class Hop:
    """A relation found on a walk; at `depth` 1 it touches a start. `weight` is the sum of its evidence."""

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
class EntityFilter:
    """Restrict the entities that a search may find; by default all.

    Attributes:
        entity_types: of one of these types, in lower case.
        created_after: created then or later.
        created_before: created earlier.
    """

    entity_types: tuple[str, ...] = ()
    created_after: datetime | None = None
    created_before: datetime | None = None

    def at(self, moment: datetime) -> EntityFilter:
        """Return the filter for what existed at a moment."""
        later = moment + timedelta(microseconds=1)
        return replace(self, created_before=min(self.created_before or later, later))

    def bounds(self) -> dict[str, object]:
        """Return the parameters of the filter, for SQL and Cypher."""
        return {
            "types": list(self.entity_types) or None,
            "since": self.created_after,
            "until": self.created_before,
        }


EVERY_ENTITY = EntityFilter()


class GraphStore(Protocol):
    """The read side of a scope's graph.

    Every method raises `GraphStoreUnavailable` or `DatabaseUnavailable` if the store does not answer,
    and finds nothing in a scope without a graph.
    """

    async def entities_by_alias(self, scope: Scope, names: Sequence[str]) -> list[EntityHit]:
        """Return entities with one of these names or aliases, in any spelling; score 1.

        Results are in the order of `names`, then by id, and include all homonyms.
        """
        ...

    async def entities_by_words(
        self, scope: Scope, words: Sequence[str], k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """Return the `k` entities whose name or description contains all of these words, by full text.

        If none contains all, return those that contain any. Results are best first, then by id; the
        name counts ten times as much as the description. English is stemmed and without stop words;
        Chinese is found inside longer words. score: cover density (`ts_rank_cd`) in PostgreSQL, BM25
        in Neo4j, so only the order is comparable. Any word is valid.
        """
        ...

    async def entities_by_vector(
        self, scope: Scope, vector: Vector, k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """Return the `k` nearest entities with vectors; score = cosine similarity, best first."""
        ...

    async def get_entities(
        self, scope: Scope, ids: Sequence[UUID], only: EntityFilter = EVERY_ENTITY
    ) -> list[Entity]:
        """Return entities in the order of `ids`, each once; unknown ids are skipped."""
        ...

    async def neighbourhood(
        self, scope: Scope, ids: Sequence[UUID], *, depth: int = 1, per_node: int = 10
    ) -> list[Hop]:
        """Return the heaviest relations around entities.

        These are the `per_node` heaviest relations of each start (ties by relation id). With `depth` 2
        they include those of each end reached so, unless it has more than `HUB_DEGREE` relations or is
        a start. A relation is listed once, at its least depth, ordered by depth, descending weight, id.
        """
        ...


class WholeGraph(Protocol):
    """Read whole graphs for indexes in memory; raises as `GraphStore` does."""

    async def arrays(self, scope: Scope) -> GraphArrays:
        """Return entities, relations, and their evidence."""
        ...

    async def reports(self, scope: Scope) -> tuple[list[Community], Embedded]:
        """Return every community with a report, and the vectors of reports."""
        ...


class GraphCopies(WholeGraph, Protocol):
    """Copies of graphs in a graph database, from which indexes in memory are read while current."""

    async def state(self, scope: Scope) -> str:
        """Return a text that changes with the copy; empty if the record must answer."""
        ...
