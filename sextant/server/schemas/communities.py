"""Communities over the wire."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from sextant.server.paging import Cursor
from sextant.server.schemas.wire import OfGraph, Wire


class CommunityQuery(OfGraph):
    """Which communities."""

    level: int | None = Field(
        None, ge=0, le=100, description="Of this level only; 0 is the coarsest.", examples=[0]
    )
    parent_id: UUID | None = Field(None, description="Only those right inside of this one.")
    limit: int = Field(20, ge=1, le=100, description="Communities on a page.")
    cursor: Cursor = None


class FindingBody(Wire):
    """A statement of a report, and the passages that it rests on."""

    text: str
    chunk_ids: tuple[UUID, ...]


class CommunityBody(Wire):
    """A community of entities with its report; `size` counts the entities, `rating` is 0 to 10."""

    id: UUID
    level: int
    parent_id: UUID | None
    title: str
    summary: str
    findings: tuple[FindingBody, ...]
    rating: float
    size: int


class CommunityPage(Wire):
    """A page of communities, by level, then rating falling."""

    communities: tuple[CommunityBody, ...]
    next_cursor: str | None
