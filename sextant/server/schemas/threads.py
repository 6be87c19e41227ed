"""Conversations over the wire."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from pydantic import Field

from sextant.facade.conversations import ConversationTurn
from sextant.server.paging import Cursor
from sextant.server.schemas.answers import CitationOut, on_wire
from sextant.server.schemas.wire import Wire


class ThreadQuery(Wire):
    """Which page of the list."""

    limit: int = Field(100, ge=1, le=1000, description="Conversations on a page.")
    cursor: Cursor = None


class ThreadBody(Wire):
    """A conversation; `title` is how its first question begins."""

    thread_id: str
    title: str
    created_at: datetime
    updated_at: datetime


class ThreadPage(Wire):
    """A page of conversations, the latest first."""

    threads: tuple[ThreadBody, ...]
    next_cursor: str | None


class StoredSource(Wire):
    """A source as a conversation keeps it; its text is at `GET /documents/{documentId}/text`."""

    marker: int
    document_id: str
    filename: str
    chunk_id: str
    title: str
    section_path: tuple[str, ...]
    page: int | None
    score: float
    kind: Literal["document", "image", "table"]
    label: str
    external_id: str | None = None


class TurnBody(Wire):
    """What was said once; a user's turn has but `role` and `text`."""

    role: Literal["user", "assistant", "system"]
    text: str
    mode: str
    grounded: bool
    declined: bool
    citations: tuple[CitationOut, ...]
    sources: tuple[StoredSource, ...]
    warnings: tuple[str, ...]


_NOT_KEPT = ("text", "lanes")


class TurnsBody(Wire):
    """A conversation, the oldest turn first."""

    thread_id: str
    turns: tuple[TurnBody, ...]

    @classmethod
    def of(cls, thread_id: str, turns: Iterable[ConversationTurn]) -> TurnsBody:
        """Return the body for the turns of a conversation."""
        bodies = [on_wire(turn) for turn in turns]
        for source in (source for body in bodies for source in body["sources"]):
            for name in _NOT_KEPT:
                del source[name]
        return cls.model_validate({"threadId": thread_id, "turns": bodies})
