"""What a result tells of a passage or an entity, beside where a search put it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from domain.graph import Entity
from domain.retrieval import RetrievedItem

_OF_THEIR_OWN = frozenset({"id", "text", "document_id", "external_id"})


class Told(NamedTuple):
    """The parts of a result that follow from its id."""

    text: str
    document_id: str | None
    external_id: str | None
    metadata: dict[str, Any]


def of_passage(row: Mapping[str, Any]) -> Told:
    """What is told of a passage (`ChunkStore.told`)."""
    said = {name: value for name, value in row.items() if name not in _OF_THEIR_OWN}
    said["section_path"] = tuple(row["section_path"])
    return Told(row["text"], row["document_id"], row["external_id"], said)


def of_entity(entity: Entity) -> Told:
    """What is told of an entity."""
    text = f"{entity.name}: {entity.description}" if entity.description else entity.name
    said = {
        "name": entity.name,
        "type": entity.entity_type,
        "aliases": entity.aliases,
        "degree": entity.degree,
    }
    return Told(text, None, entity.external_id, said)


def with_told(item: RetrievedItem, told: Told) -> RetrievedItem:
    """A passage found by its id, with what is told of it."""
    return RetrievedItem(
        item.kind,
        item.id,
        told.text,
        item.score,
        told.document_id,
        told.external_id,
        item.lanes,
        told.metadata,
    )
