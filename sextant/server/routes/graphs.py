"""Routes of knowledge bases: list, import, export, delete, examples; of their graphs; and `POST /search`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from sextant.domain.errors import speak_in
from sextant.domain.questions import in_range
from sextant.domain.scope import LONGEST_NAME
from sextant.ingestion.progress import OnStage, silent
from sextant.retrievers.chunk_search.search import ChunkSearchResponse
from sextant.retrievers.cursor import ListingKey
from sextant.retrievers.entity_search.response import SearchResponse
from sextant.server.answers import run_search
from sextant.server.connections import (
    MEDIA_TYPE,
    EventStream,
    content_type_of,
    is_encoded,
    lines_of,
)
from sextant.server.lifespan import serving_of
from sextant.server.openapi import problems
from sextant.server.routing import AdminRag, Language, Reader, ReaderRag, WriterRag, search_turn
from sextant.server.routing import router as new_router
from sextant.server.schemas import graphs as bodies
from sextant.server.schemas.answers import SearchBody
from sextant.stores.graph.community_store import CommunityCursor

knowledge_router = new_router("knowledge")

EntityId = Annotated[UUID, Path(alias="entityId")]


@knowledge_router.post("/api/knowledge/entities/search", responses=problems(404, 409))
async def search_entities(
    request: Request, principal: Reader, rag: ReaderRag, body: bodies.EntitySearchBody
) -> SearchResponse:
    """Search entities by meaning, words and the graph."""
    options = body.options()
    async with search_turn(request, principal):
        return await rag.search_entities(body.query, graph_id=body.graph_id, options=options)


@knowledge_router.get("/api/knowledge/entities/duplicates", responses=problems(404))
async def list_duplicates(
    request: Request,
    principal: Reader,
    rag: ReaderRag,
    options: Annotated[bodies.DuplicatesQuery, Query()],
) -> bodies.DuplicatePage:
    """List pairs of entities that may be one thing, the likeliest first; `decision` lines of an import decide."""
    entities = await rag.entities(options.graph_id)
    async with search_turn(request, principal):  # it compares the vectors of all names
        return bodies.DuplicatePage.from_domain(
            await entities.duplicates(options.limit, options.cursor)
        )


@knowledge_router.get("/api/knowledge/entities/{entityId}", responses=problems(404))
async def get_entity(
    rag: ReaderRag, entity_id: EntityId, options: Annotated[bodies.EntityQuery, Query()]
) -> bodies.EntityDetail:
    """Return an entity with its relations, the passages that mention it, and its communities."""
    entities = await rag.entities(options.graph_id)
    view = await entities.get(entity_id, options.limit)
    return bodies.EntityDetail.from_domain(view.entity, view)


@knowledge_router.get("/api/knowledge/graph", responses=problems(404))
async def get_graph(
    rag: ReaderRag, options: Annotated[bodies.SubGraphQuery, Query()]
) -> bodies.SubGraphBody:
    """Return a part of the graph that is small enough to draw."""
    graph = await rag.graph(options.graph_id)
    part = await graph.part(options.seed, depth=options.depth, limit=options.limit)
    return bodies.SubGraphBody.from_domain(part)


@knowledge_router.get("/api/knowledge/communities", responses=problems(404))
async def list_communities(
    rag: ReaderRag, options: Annotated[bodies.CommunityQuery, Query()]
) -> bodies.CommunityPage:
    """List the communities of entities with their reports, the coarsest level first."""
    communities = await rag.communities(options.graph_id)
    listing = ListingKey.of(
        "communities", rag.user_id, options.graph_id, options.level, options.parent_id
    )
    after = listing.after(options.cursor or None, CommunityCursor)
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
    return bodies.CommunityPage(communities=page, next_cursor=next_cursor)


search_router = new_router("search")


@search_router.post("/search", responses=problems(404, 409))
async def search(
    request: Request, principal: Reader, rag: ReaderRag, body: SearchBody
) -> ChunkSearchResponse:
    """Search the passages of a knowledge base; results have metadata and scores."""
    async with search_turn(request, principal):
        return await run_search(rag, body)


router = new_router("graphs")

LINES = "application/x-ndjson"
_LINES = frozenset({LINES, "application/jsonl", "application/jsonlines"})

GraphId = Annotated[str, Path(alias="graphId", min_length=1, max_length=LONGEST_NAME)]
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "JSON Lines (docs/import.md), read as they come.",
        "content": {LINES: {"schema": {"type": "string"}}},
    }
}
_IMPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What was brought; with `Accept: text/event-stream` as the event `done`, after events "
        "`progress` that say how far it is.",
    }
}
_EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "JSON Lines as an import takes them; a transfer that breaks off was a failure.",
        "content": {LINES: {"schema": {"type": "string"}}},
    }
}


@router.get("/api/graphs")
async def list_graphs(
    rag: ReaderRag, options: Annotated[bodies.GraphQuery, Query()], language: Language
) -> bodies.GraphPage:
    """List the knowledge bases with their sizes, by name."""
    listing = ListingKey.of("graphs", rag.user_id)
    after = listing.after(options.cursor or None, str) or ""
    known = sorted(await rag.graphs(), key=lambda one: one.graph_id)
    rest = [one for one in known if one.graph_id > after]
    page, next_cursor = listing.page(rest, options.limit, lambda one: one.graph_id)
    graphs = tuple(bodies.GraphBody.of(one, language) for one in page)
    return bodies.GraphPage(graphs=graphs, next_cursor=next_cursor)


@router.get("/api/graphs/{graphId:path}/questions", responses=problems(404))
async def example_questions(
    rag: ReaderRag, graph_id: GraphId, options: Annotated[bodies.ExamplesQuery, Query()]
) -> bodies.ExamplesBody:
    """Suggest questions from headings of the documents; empty without documents."""
    found = await rag.examples(graph_id, language=options.language or "", limit=options.limit)
    return bodies.ExamplesBody(questions=tuple(found))


@router.post(
    "/api/graphs/{graphId:path}/import",
    response_model=bodies.ImportBody,
    responses=_IMPORTED | problems(404, 409, 415),
    openapi_extra=_BODY,
)
async def import_graph(
    request: Request,
    rag: WriterRag,
    graph_id: GraphId,
    options: Annotated[bodies.ImportQuery, Query()],
    *,
    language: Language,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> bodies.ImportBody | Response:
    """Import documents, passages, entities and relations; importing the same again changes nothing."""
    if content_type_of(request) not in _LINES or is_encoded(request):
        raise HTTPException(415, f"An import is plain {LINES}: one JSON object a line.")
    serving, read = serving_of(request), asyncio.Event()

    async def work(on_stage: OnStage) -> bodies.ImportBody:
        longest = serving.settings.limits.file_bytes
        with speak_in(language), serving.uploads.shares.slot(rag.user_id):
            async with aclosing(lines_of(request.stream(), longest)) as lines:
                report = await rag.import_graph(
                    _set_at_end(lines, read),
                    graph_id,
                    strict=options.strict,
                    facts_as_passages=options.facts_as_passages,
                    on_progress=on_stage,
                    patience=serving.settings.http.import_patience,
                )
        return bodies.ImportBody.of(report, graph_id, language)

    if MEDIA_TYPE not in accept:
        return await work(silent)
    stream = serving.imports.begin(work)
    stream.task.add_done_callback(lambda _: read.set())
    await read.wait()  # the whole body is read before the response begins
    runs = serving.settings.runs
    done, _ = await asyncio.wait({stream.task}, timeout=runs.hold_seconds)
    for task in done:
        task.result()  # an early failure is answered with its own status
    return EventStream(stream.events(runs.ping_seconds), write_seconds=runs.write_seconds)


async def _set_at_end(lines: AsyncIterator[bytes], read: asyncio.Event) -> AsyncIterator[bytes]:
    async for line in lines:
        yield line
    read.set()


@router.get(
    "/api/graphs/{graphId:path}/export",
    responses=_EXPORT | problems(404),
    response_class=StreamingResponse,
)
async def export_graph(rag: ReaderRag, graph_id: GraphId) -> StreamingResponse:
    """Return a whole knowledge base as the lines that import it again."""
    lines = rag.export_graph(graph_id)
    # The first line is read before the response begins, so that a missing knowledge base is a 404.
    first = await anext(lines, None)
    return StreamingResponse(_write_export(first, lines), media_type=LINES)


@router.delete(
    "/api/graphs/{graphId:path}", status_code=204, response_class=Response, responses=problems(404)
)
async def delete_graph(rag: AdminRag, graph_id: GraphId) -> None:
    """Delete a knowledge base with everything in it; there is no way back."""
    await rag.delete_graph(graph_id)


async def _write_export(
    first: dict[str, Any] | None, rest: AsyncIterator[dict[str, Any]]
) -> AsyncIterator[bytes]:
    if first is not None:
        yield orjson.dumps(first) + b"\n"
    async for line in rest:
        yield orjson.dumps(line) + b"\n"
