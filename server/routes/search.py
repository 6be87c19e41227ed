"""`POST /search`: chunks with all that is known of them (seed 004)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, Request

from retrievers.chunk_search.search import SearchResponse
from server.openapi import answers
from server.routing.guards import Reader, rag_of, search_turn
from server.routing.router import router as new_router
from server.schemas import examples
from server.schemas.search import SearchBody
from server.searching import searched

router = new_router("search")

Asked = Annotated[SearchBody, Body(examples=[examples.SEARCH])]


@router.post("/search", responses=answers(examples.FOUND, 404, 409))
async def search(request: Request, principal: Reader, asked: Asked) -> SearchResponse:
    """Search the passages of a knowledge base, with their metadata and scores."""
    async with search_turn(request, principal):
        return await searched(rag_of(request, principal), asked)
