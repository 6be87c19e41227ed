"""The section tree of a document over the wire (seed 004)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from sextant.facade.knowledge.chunks import StructureNode
from sextant.server.schemas.wire import Wire


class SectionBody(Wire):
    """A section; `start` and `end` are offsets into the document's text, in characters."""

    section_id: UUID
    parent_section_id: UUID | None
    title: str
    summary: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    level: int
    page: int | None
    start: int
    end: int


class StructureBody(Wire):
    """The sections in reading order, each after the one it lies in; the first is the whole document."""

    document_id: UUID
    graph_id: str
    sections: tuple[SectionBody, ...]

    @classmethod
    def of(cls, document_id: UUID, graph_id: str, root: StructureNode) -> StructureBody:
        """Return the body for the section tree of a document."""
        return cls(document_id=document_id, graph_id=graph_id, sections=tuple(_sections(root)))


def _sections(node: StructureNode) -> Iterator[SectionBody]:
    yield SectionBody.shown(node)
    for child in node.children:
        yield from _sections(child)
