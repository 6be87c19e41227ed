"""What agents call, whoever's protocol brings the call: the passages that fit, and those around one.

The answer to a question is `sextant.server.mcp.results.answer_result` of what `Sextant.query` returns.
"""

from __future__ import annotations

from sextant.facade import Sextant
from sextant.server.answers import run_search
from sextant.server.mcp import texts
from sextant.server.mcp.results import FoundPage, RelatedPassages, related_items
from sextant.server.schemas.answers import SearchBody


async def find_passages(rag: Sextant, body: SearchBody) -> FoundPage:
    """Return a page of passages, as many as a host takes.

    Raises:
        What `run_search` raises.
    """
    page = await run_search(rag, body)
    results = texts.fitting(page.results)
    hint = texts.left_out_text(len(results), len(page.results))
    structured = page.model_dump() | {"results": results, "graph_id": body.graph_id, "hint": hint}
    if hint:
        structured["next_cursor"] = None  # it would pass over what was left out
    return FoundPage(**structured)


async def find_related(rag: Sextant, chunk_id: str, graph_id: str, limit: int) -> RelatedPassages:
    """Return the passages around one, as many as a host takes.

    Raises:
        GraphNotFound, ChunkNotFound, OptionInvalid: the request is at fault.
    """
    chunks = await rag.chunks(graph_id)
    around = [related_items(one) for one in await chunks.reading.related(chunk_id, limit)]
    results = texts.fitting(around)
    return RelatedPassages(
        graph_id=graph_id,
        chunk_id=chunk_id,
        results=results,
        hint=texts.left_out_text(len(results), len(around)),
    )
