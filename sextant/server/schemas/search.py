"""`POST /search`: chunks with their metadata (seed 004)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from sextant.domain.scope import DEFAULT_GRAPH
from sextant.retrievers.chunk_search.search import SearchRequest
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.server.paging import Cursor
from sextant.server.schemas.answers import ModeName
from sextant.server.schemas.wire import Filters, GraphName, Wire

MOST_RESULTS = 100


_Ranking = str | dict[str, float] | None


def _check_filters(given: _Ranking) -> _Ranking:
    """As given; refused by the rules of rankings, which name what is wrong as a union's do not."""
    MetadataWeights.read(given)
    return given


class SearchBody(Wire):
    """What is searched for, where, and within which bounds."""

    query: str = Field(min_length=1, max_length=20_000, description="In Chinese or English.")
    graph_id: GraphName = DEFAULT_GRAPH
    mode: ModeName | None = Field(
        None,
        description="Rank as this mode does (`auto` chooses one); without, by vector, keyword, section, time, topic, "
        "modality and neighbours.",
    )
    limit: int = Field(10, ge=1, le=MOST_RESULTS, strict=True, description="Results on a page.")
    filters: Filters = None
    include_neighbors: bool = Field(
        default=False, description="Give each result the chunks beside and linked to it."
    )
    rerank: bool = Field(
        default=True, description="Let the reranking model have its share, where one is configured."
    )
    bm25_rerank: bool | None = Field(
        None,
        description="Whether BM25 has its share in the order; without, as the server is set (yes). Not with `mode`.",
    )
    ranking: Annotated[_Ranking, BeforeValidator(_check_filters)] = Field(
        None, description="A preset, or weights of single signals; not with `mode`."
    )
    cursor: Cursor = None
    debug: bool = Field(default=False, description="Say how each score came about.")

    def request(self) -> SearchRequest:
        """Return the request to the search of chunks."""
        return SearchRequest(**{name: getattr(self, name) for name in SearchRequest.model_fields})
