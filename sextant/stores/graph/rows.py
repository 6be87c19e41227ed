"""Convert rows of either graph store to domain objects; ids are UUIDs, or texts in Neo4j."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from sextant.domain.graph import Community, Entity, Finding

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
        findings=tuple(
            Finding(found["text"], tuple(map(UUID, found["chunk_ids"]))) for found in findings
        ),
        rating=row["rating"],
        entity_ids=tuple(map(as_uuid, members)),
    )
