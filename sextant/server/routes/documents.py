"""Routes of documents: upload, list, watch, read, retry, cancel, delete (docs/workers.md)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel

from sextant.domain.documents import storable
from sextant.domain.errors import DocumentNotFound
from sextant.retrievers.cursor import ListingKey
from sextant.server.connections import EventStream, frame
from sextant.server.lifespan import serving_of
from sextant.server.openapi import problems
from sextant.server.problems import problem_of, request_id_of
from sextant.server.routing import DocumentId, Language, ReaderRag, WriterRag
from sextant.server.routing import router as new_router
from sextant.server.schemas import documents as bodies
from sextant.server.schemas.wire import OfAnyGraph
from sextant.server.uploading import watch
from sextant.stores.queue import UploadStatus

router = new_router("documents")

DocumentName = Annotated[
    str | None,
    AfterValidator(storable),
    Query(
        min_length=1,
        max_length=1000,
        description="Which of its names goes: its `source` (the default), or one of its `copies`.",
    ),
]
# The two forms of an upload's body.
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "additionalProperties": False,
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                        "graphId": {"type": "string", "minLength": 1, "maxLength": 200},
                        "externalId": {"type": "string", "minLength": 1, "maxLength": 200},
                        "metadata": {"type": "string", "description": "A JSON object."},
                        "replace": {
                            "type": "string",
                            "enum": ["true", "false"],
                            "description": "Whether files take the place of documents of their names.",
                        },
                    },
                }
            },
            "application/json": {"schema": bodies.TextUpload.model_json_schema()},
        },
    }
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `progress`, at least every two seconds, then `done` or `failed`.",
    }
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file, to be saved: no browser shows it as a page of this server.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The page as WebP, its longer edge `SEXTANT_LIMITS__PAGE_EDGE` pixels at most.",
        "content": {"image/webp": {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "The page is the one of that `If-None-Match`."},
}
PageNumber = Annotated[int, Path(ge=1, le=1_000_000, description="From 1 to the last one.")]
IfNoneMatch = Annotated[
    str | None,
    Header(alias="If-None-Match", description="The `ETag` of the picture that you have."),
]


@router.post(
    "/documents",
    status_code=202,
    responses=problems(400, 408, 409, 415),
    openapi_extra=_UPLOAD,
)
async def upload(request: Request, rag: WriterRag) -> bodies.UploadBody:
    """Upload files or a text to a knowledge base; workers ingest them, and `events` reports their progress."""
    async with serving_of(request).uploads.receive(request, rag.user_id) as received:
        uploads, refused = received.uploads, received.refused
        if len(refused) == len(uploads):
            raise refused[0]
        taken = [index for index in range(len(uploads)) if index not in refused]
        chosen = [uploads[index] for index in taken]
        registered = await rag.library().add(chosen, received.graph_id)
    became = {
        index: bodies.UploadedBody.from_domain(one, filename=uploads[index].filename)
        for index, one in zip(taken, registered, strict=True)
    }
    for index, error in refused.items():
        problem = problem_of(error, request_id_of(request))
        became[index] = bodies.UploadedBody(filename=uploads[index].filename, problem=problem)
    return bodies.UploadBody(
        graph_id=received.graph_id, documents=tuple(became[index] for index in sorted(became))
    )


@router.get("/documents", responses=problems(404))
async def list_documents(
    rag: ReaderRag, options: Annotated[bodies.DocumentsQuery, Query()], language: Language
) -> bodies.DocumentPage:
    """List the documents of a knowledge base, oldest first, each with its newest ingestion."""
    listing = ListingKey.of("documents", rag.user_id, options.graph_id, options.name)
    after = listing.after(options.cursor or None, tuple[datetime, UUID])
    library = rag.library()
    found = await library.page(options.graph_id, after, options.limit + 1, options.name)
    page, next_cursor = listing.page(found, options.limit, lambda one: [one.created_at, one.id])
    statuses = await library.statuses([one.id for one in page])
    return bodies.DocumentPage(
        documents=tuple(
            bodies.DocumentBody.of(options.graph_id, one, statuses.get(one.id), language)
            for one in page
        ),
        next_cursor=next_cursor,
    )


@router.get("/documents/{documentId}", responses=problems(404))
async def get_document(
    rag: ReaderRag, document_id: DocumentId, language: Language
) -> bodies.DocumentBody:
    """Return a document with the progress of its ingestion."""
    document, status = await rag.library().get(document_id)
    return bodies.DocumentBody.of(status.graph_id, document, status, language)


@router.delete(
    "/documents/{documentId}",
    status_code=204,
    response_model=None,
    responses={
        200: {
            "model": bodies.DocumentBody,
            "description": "It stays under another name.",
        },
        **problems(404),
    },
)
async def delete_document(
    rag: WriterRag,
    document_id: DocumentId,
    response: Response,
    language: Language,
    name: DocumentName = None,
) -> bodies.DocumentBody | Response:
    """Delete a document with everything derived from it, also while it is being ingested.

    A document with `copies` only loses a name (200), by default its own, and stays under that of the oldest copy.
    """
    if await rag.library().delete(document_id, name) is None:
        return Response(status_code=204)
    response.status_code = 200
    return await get_document(rag, document_id, language)


@router.post(
    "/documents/{documentId}/retry",
    status_code=202,
    responses=problems(404, 409),
)
async def retry_document(
    rag: WriterRag, document_id: DocumentId, language: Language
) -> bodies.ProgressBody:
    """Queue a document again whose ingestion failed."""
    await rag.library().retry(document_id)
    return bodies.ProgressBody.of(await rag.library().status(document_id), language)


@router.post("/documents/{documentId}/cancel", responses=problems(404, 409))
async def cancel_document(
    rag: WriterRag, document_id: DocumentId, language: Language
) -> bodies.ProgressBody:
    """Stop the ingestion of a document; an older version stays searchable."""
    await rag.library().cancel(document_id)
    return bodies.ProgressBody.of(await rag.library().status(document_id), language)


@router.get(
    "/documents/{documentId}/events", response_class=Response, responses=_EVENTS | problems(404)
)
async def document_events(
    request: Request, rag: ReaderRag, document_id: DocumentId, language: Language
) -> EventStream:
    """Stream the progress of a document's ingestion as server-sent events until it ends."""
    library, serving = rag.library(), serving_of(request)
    first = await library.status(document_id)
    slot = ExitStack()
    slot.enter_context(serving.watching.slot(rag.user_id))
    parts = _frame_events(slot, watch(library, first), request_id_of(request), language)
    return EventStream(parts, write_seconds=serving.settings.runs.write_seconds, on_left=slot.close)


async def _frame_events(
    slot: ExitStack, statuses: AsyncIterator[UploadStatus], request_id: str | None, language: str
) -> AsyncIterator[bytes]:
    """Yield the events of a stream; its slot is released at the end."""
    number = 0
    with slot:
        try:
            async for status in statuses:
                number += 1
                name = "failed" if status.stage == "failed" else "done"
                yield frame(
                    name if status.is_settled else "progress",
                    _as_json(bodies.ProgressBody.of(status, language)),
                    str(number),
                )
        except DocumentNotFound as error:
            yield frame("failed", _as_json(problem_of(error, request_id)), str(number + 1))


@router.get("/documents/{documentId}/structure", responses=problems(404))
async def get_structure(
    rag: ReaderRag, document_id: DocumentId, options: Annotated[OfAnyGraph, Query()]
) -> bodies.StructureBody:
    """Return the sections of a document with their descriptions."""
    graph_id = options.graph_id or (await rag.library().status(document_id)).graph_id
    sections = await (await rag.chunks(graph_id)).structure(document_id)
    shown = tuple(map(bodies.SectionBody.of_section, sections))
    return bodies.StructureBody(document_id=document_id, graph_id=graph_id, sections=shown)


@router.get("/documents/{documentId}/text", responses=problems(404))
async def get_text(
    rag: ReaderRag, document_id: DocumentId, options: Annotated[bodies.SliceQuery, Query()]
) -> bodies.SliceBody:
    """Return a part of a document's text, such as the context of a citation."""
    start, end = options.bounds
    text = await rag.library().text(document_id, start, end)
    return bodies.SliceBody(document_id=document_id, start=start, end=start + len(text), text=text)


@router.get("/documents/{documentId}/boxes", responses=problems(404))
async def get_boxes(
    rag: ReaderRag, document_id: DocumentId, options: Annotated[bodies.SliceQuery, Query()]
) -> bodies.BoxesBody:
    """Return the positions of a span of text on the pages of the file, such as of a citation's quote."""
    start, end = options.bounds
    boxes = await rag.library().boxes(document_id, start, end)
    return bodies.BoxesBody(document_id=document_id, start=start, end=end, boxes=tuple(boxes))


@router.get(
    "/documents/{documentId}/pages/{page}",
    response_class=Response,
    responses=_PICTURE | problems(404, 413, 415),
)
async def get_page_picture(
    rag: ReaderRag, document_id: DocumentId, page: PageNumber, if_none_match: IfNoneMatch = None
) -> Response:
    """Return the picture of a page of the file.

    PDF files and images have pages; for other files, and beyond the last page, the answer is 404 `page_not_found`.
    """
    picture = await rag.library().page_picture(document_id, page)
    headers = {"ETag": picture.etag, "Cache-Control": "private, no-cache"}
    known = {tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")}
    if picture.etag in known:
        return Response(status_code=304, headers=headers)
    return Response(await picture.draw(), media_type="image/webp", headers=headers)


@router.get(
    "/documents/{documentId}/file",
    response_class=StreamingResponse,
    responses=_FILE | problems(404),
)
async def get_file(rag: ReaderRag, document_id: DocumentId) -> StreamingResponse:
    """Return the uploaded file of a document, byte for byte."""
    file = await rag.library().file(document_id)
    # Old clients get an ASCII form of the name (RFC 6266, appendix D).
    plain = re.sub(r"[^A-Za-z0-9 ._-]", "_", file.filename)
    headers = {
        "Content-Length": str(file.size_bytes),
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file.filename, safe='')}",
    }
    return StreamingResponse(file.parts, media_type="application/octet-stream", headers=headers)


def _as_json(body: BaseModel) -> dict[str, Any]:
    return body.model_dump(mode="json", by_alias=True, exclude_none=True)
