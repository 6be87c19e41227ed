"""`POST /search`: chunks with all that is known of them."""

from __future__ import annotations

from fastapi import Request

from sextant.retrievers.chunk_search.search import ChunkSearchResponse
from sextant.server.answers import run_search
from sextant.server.openapi import problems
from sextant.server.routing import Reader, rag_of, search_turn
from sextant.server.routing import router as new_router
from sextant.server.schemas.answers import SearchBody

router = new_router("search")


@router.post("/search", responses=problems(404, 409))
async def search(request: Request, principal: Reader, body: SearchBody) -> ChunkSearchResponse:
    """Search the passages of a knowledge base, with their metadata and scores."""
    async with search_turn(request, principal):
        return await run_search(rag_of(request, principal), body)
