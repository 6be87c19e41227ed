"""Routes of the knowledge graph: entities, parts to draw, communities; and `POST /search` for passages."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Request

from sextant.domain.questions import in_range
from sextant.retrievers.chunk_search.search import ChunkSearchResponse
from sextant.retrievers.cursor import ListingKey
from sextant.retrievers.entity_search.response import SearchResponse
from sextant.server.answers import run_search
from sextant.server.openapi import problems
from sextant.server.routing import Reader, rag_of, search_turn
from sextant.server.routing import router as new_router
from sextant.server.schemas.answers import SearchBody
from sextant.server.schemas.graphs import (
    CommunityPage,
    CommunityQuery,
    DuplicatePage,
    DuplicatesQuery,
    EntityDetail,
    EntityQuery,
    EntitySearchBody,
    SubGraphBody,
    SubGraphQuery,
)
from sextant.stores.graph.communities.store import CommunityCursor

router = new_router("knowledge")

EntityId = Annotated[UUID, Path(alias="entityId")]


@router.post("/api/knowledge/entities/search", responses=problems(404, 409))
async def search_entities(
    request: Request, principal: Reader, body: EntitySearchBody
) -> SearchResponse:
    """Search entities by meaning, words and the graph."""
    rag = rag_of(request, principal)
    options = body.options()
    async with search_turn(request, principal):
        return await rag.search_entities(body.query, graph_id=body.graph_id, options=options)


@router.get("/api/knowledge/entities/duplicates", responses=problems(404))
async def list_duplicates(
    request: Request, principal: Reader, options: Annotated[DuplicatesQuery, Query()]
) -> DuplicatePage:
    """List pairs of entities that may be one thing, the likeliest first; `decision` lines of an import decide."""
    entities = await rag_of(request, principal).entities(options.graph_id)
    async with search_turn(request, principal):  # it compares the vectors of all names
        return DuplicatePage.from_domain(await entities.duplicates(options.limit, options.cursor))


@router.get("/api/knowledge/entities/{entityId}", responses=problems(404))
async def get_entity(
    request: Request,
    principal: Reader,
    entity_id: EntityId,
    options: Annotated[EntityQuery, Query()],
) -> EntityDetail:
    """Return an entity with its relations, the passages that mention it, and its communities."""
    entities = await rag_of(request, principal).entities(options.graph_id)
    return EntityDetail.of_view(await entities.get(entity_id, options.limit))


@router.get("/api/knowledge/graph", responses=problems(404))
async def get_graph(
    request: Request, principal: Reader, options: Annotated[SubGraphQuery, Query()]
) -> SubGraphBody:
    """Return a part of the graph that is small enough to draw."""
    graph = await rag_of(request, principal).graph(options.graph_id)
    part = await graph.part(options.seed, depth=options.depth, limit=options.limit)
    return SubGraphBody.of(part)


@router.get("/api/knowledge/communities", responses=problems(404))
async def list_communities(
    request: Request, principal: Reader, options: Annotated[CommunityQuery, Query()]
) -> CommunityPage:
    """List the communities of entities with their reports, the coarsest level first."""
    communities = await rag_of(request, principal).communities(options.graph_id)
    listing = ListingKey.of(
        "communities", principal.user_id, options.graph_id, options.level, options.parent_id
    )
    after = listing.after(options.cursor, CommunityCursor) if options.cursor else None
    if after is not None:
        in_range(after.level, "cursor", least=0)
    found = await communities.page(
        options.limit + 1,
        level=options.level,
        parent_id=options.parent_id,
        after=after,
    )
    page, next_cursor = listing.page(
        found, options.limit, lambda one: CommunityCursor(one.level, one.rating, one.id)
    )
    return CommunityPage(communities=page, next_cursor=next_cursor)


search_router = new_router("search")


@search_router.post("/search", responses=problems(404, 409))
async def search(request: Request, principal: Reader, body: SearchBody) -> ChunkSearchResponse:
    """Search the passages of a knowledge base; results have metadata and scores."""
    async with search_turn(request, principal):
        return await run_search(rag_of(request, principal), body)
