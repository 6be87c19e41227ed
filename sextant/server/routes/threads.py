"""Conversations: listed, read, forgotten. Questions with a `threadId` make them (docs/conversations.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query, Request, Response

from sextant.graph.threads import LONGEST_THREAD, Thread
from sextant.retrievers.cursor import ListingKey
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
    after = None
    if options.cursor:
        last_at, thread_id = listing.after(options.cursor, tuple[datetime, str])
        after = Thread(thread_id, "", last_at, last_at)
    known = await rag_of(request, principal).conversations().known(options.limit + 1, after)
    page = known[: options.limit]
    more = len(known) > len(page)
    return ThreadPage(
        threads=tuple(page),
        next_cursor=listing.cursor([page[-1].updated_at, page[-1].thread_id]) if more else None,
    )


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
