"""Searching passages, over HTTP and by the tools for agents alike."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from sextant.domain.elapsed import milliseconds_since
from sextant.domain.errors import OptionInvalid
from sextant.domain.options import in_range
from sextant.domain.retrieval import AUTO, ItemKind, Mode, Retrieval
from sextant.facade import Sextant
from sextant.retrievers.chunk_search.search import MOST, ChunkSearchResponse
from sextant.retrievers.modes import constants_of
from sextant.retrievers.pages.listing import ListingKey
from sextant.server.schemas.search import SearchBody

# Passages that these rank whatever the page: of two rankings joined, and behind reports, of which a longer
# ranking has more, the first passages depend on how many are asked for. `auto` may choose `global`.
_RANKED: Mapping[str | None, int] = dict.fromkeys((AUTO, Mode.GLOBAL, Mode.HYBRID), 100)


async def run_search(rag: Sextant, asked: SearchBody) -> ChunkSearchResponse:
    """Return the passages that fit a request best, ranked by their metadata or as a mode does.

    Raises:
        What `Sextant.search` and `Sextant.search_chunks` raise.
    """
    if asked.mode is not None:
        return await _by_mode(rag, asked)
    return await rag.search_chunks(asked.request(), asked.graph_id)


async def _by_mode(rag: Sextant, asked: SearchBody) -> ChunkSearchResponse:
    """Return a search ranked as a mode ranks; each page is cut from a ranking that is made again."""
    for field in ("ranking", "bm25_rerank"):
        if getattr(asked, field) is not None:
            raise OptionInvalid(
                "A mode has its own ranking.", next_step="Leave one out.", field=to_camel(field)
            )
    started = time.perf_counter()
    said = asked.model_dump(exclude={"cursor", "debug", "include_neighbors", "limit"})
    listing = ListingKey.of("search", rag.user_id, said)
    skip = (
        in_range(listing.after(asked.cursor, (int,))[0], "cursor", most=MOST) if asked.cursor else 0
    )
    end = skip + asked.limit
    found = await rag.search(
        asked.query,
        graph_id=asked.graph_id,
        mode=str(asked.mode),
        limit=_RANKED.get(asked.mode) or min(end + 1, MOST),
        filters=asked.filters.model_dump(exclude_defaults=True) if asked.filters else None,
        rerank=asked.rerank,
    )
    passages = [one for one in found.results if one.kind is ItemKind.CHUNK]
    chunks = await rag.chunks(asked.graph_id)
    hits, warnings = await chunks.shown(
        passages[skip:end], neighbors=asked.include_neighbors, debug=asked.debug
    )
    return ChunkSearchResponse(
        results=hits,
        next_cursor=listing.cursor([end]) if len(passages) > end else None,
        total=len(passages),
        search_time_ms=milliseconds_since(started),
        warnings=(*found.warnings, *warnings),
        debug=_debug(found, rag) if asked.debug else None,
    )


def _debug(found: Retrieval, rag: Sextant) -> dict[str, Any]:
    constants = constants_of(found.mode, rag.settings.retrieval, reranked="rerank" in found.timings)
    return {"mode": found.mode, "constants": constants, "timings": dict(found.timings)}
