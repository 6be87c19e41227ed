"""Conversations: listed, read, forgotten. Questions with a `threadId` make them (docs/conversations.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query, Request, Response

from sextant.graph.threads import LONGEST_THREAD, Thread
from sextant.retrievers.cursor import ListingKey, not_a_cursor
from sextant.server.openapi import problems
from sextant.server.routing import Reader, rag_of
from sextant.server.routing import router as new_router
from sextant.server.schemas.answers import ThreadPage, ThreadQuery, TurnsBody

router = new_router("threads", prefix="/api/threads")

ThreadId = Annotated[
    str,
    Path(alias="threadId", min_length=1, max_length=LONGEST_THREAD),
]


@router.get("")
async def list_threads(
    request: Request, principal: Reader, options: Annotated[ThreadQuery, Query()]
) -> ThreadPage:
    """Return the conversations of the caller, the latest first."""
    listing = ListingKey.of("threads", principal.user_id)
    after = _read_page(listing, options.cursor) if options.cursor else None
    known = await rag_of(request, principal).conversations().known(options.limit + 1, after)
    page = known[: options.limit]
    key = (page[-1].updated_at.isoformat(), page[-1].thread_id) if len(known) > len(page) else None
    return ThreadPage(threads=tuple(page), next_cursor=listing.cursor(key) if key else None)


@router.get("/{threadId:path}", responses=problems(404))
async def get_thread(request: Request, principal: Reader, thread_id: ThreadId) -> TurnsBody:
    """Return what was said in a conversation, the oldest first."""
    turns = await rag_of(request, principal).conversations().turns(thread_id)
    return TurnsBody.of(thread_id, turns)


@router.delete(
    "/{threadId:path}", status_code=204, response_class=Response, responses=problems(404)
)
async def forget_thread(request: Request, principal: Reader, thread_id: ThreadId) -> None:
    """Remove a conversation with all that was said in it; there is no way back."""
    await rag_of(request, principal).conversations().forget(thread_id)


def _read_page(listing: ListingKey, cursor: str) -> Thread:
    """Return the entry that a page ended with, as far as the order needs it."""
    updated_at, thread_id = listing.after(cursor, (str, str))
    try:
        at = datetime.fromisoformat(str(updated_at))
    except ValueError:
        raise not_a_cursor() from None
    return Thread(str(thread_id), "", at, at)
