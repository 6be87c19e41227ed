"""`GET /documents/{documentId}/structure`: the section tree."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from sextant.server.openapi import answers
from sextant.server.routing.router import DocumentId, Reader, rag_of
from sextant.server.routing.router import router as new_router
from sextant.server.schemas import examples
from sextant.server.schemas.documents import StructureBody
from sextant.server.schemas.wire import OfAnyGraph

router = new_router("documents")


@router.get("/documents/{documentId}/structure", responses=answers(examples.STRUCTURE, 404))
async def get_structure(
    request: Request,
    principal: Reader,
    document_id: DocumentId,
    options: Annotated[OfAnyGraph, Query()],
) -> StructureBody:
    """Return the sections of a document, and what each is about."""
    rag = rag_of(request, principal)
    graph_id = options.graph_id or (await rag.library().standing(document_id)).graph_id
    root = await (await rag.chunks(graph_id)).structure(document_id)
    return StructureBody.of(document_id, graph_id, root)
