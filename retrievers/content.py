"""The content of a passage or an entity in a result, beside its rank and score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sextant.domain.graph import Entity
from sextant.domain.retrieval import RetrievedItem

_OF_THEIR_OWN = frozenset({"id", "text", "document_id", "external_id"})


class PassageContent(NamedTuple):
    """The parts of a result that follow from its id."""

    text: str
    document_id: str | None
    external_id: str | None
    metadata: dict[str, Any]


def of_passage(row: Mapping[str, Any]) -> PassageContent:
    """Return the content of a passage, from a row of `ChunkStore.contents`."""
    said = {name: value for name, value in row.items() if name not in _OF_THEIR_OWN}
    said["section_path"] = tuple(row["section_path"])
    return PassageContent(row["text"], row["document_id"], row["external_id"], said)


def of_entity(entity: Entity) -> PassageContent:
    """Return the content of an entity."""
    text = f"{entity.name}: {entity.description}" if entity.description else entity.name
    said = {
        "name": entity.name,
        "type": entity.entity_type,
        "aliases": entity.aliases,
        "degree": entity.degree,
    }
    return PassageContent(text, None, entity.external_id, said)


def with_content(item: RetrievedItem, content: PassageContent) -> RetrievedItem:
    """Return a passage found by its id, with its content."""
    return RetrievedItem(
        item.kind,
        item.id,
        content.text,
        item.score,
        content.document_id,
        content.external_id,
        item.lanes,
        content.metadata,
    )
