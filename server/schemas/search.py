"""`POST /search`: chunks with their metadata (seed 004)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from domain.filters import ChunkFilters
from domain.retrieval import Mode
from domain.scope import DEFAULT_GRAPH
from retrievers.chunk_search.search import SearchRequest
from server.paging import Cursor
from server.schemas.wire import GraphName, Wire

MOST_RESULTS = 100

# Read by its own rules, which say what a misspelt filter was probably meant to be.
Filters = Annotated[ChunkFilters | None, BeforeValidator(ChunkFilters.read)]


class SearchBody(Wire):
    """What is searched for, where, and within which bounds."""

    query: str = Field(min_length=1, max_length=20_000, description="In Chinese or English.")
    graph_id: GraphName = DEFAULT_GRAPH
    mode: Mode | None = Field(
        None,
        description="Rank as this mode does; without, by vector, keyword, section, time, topic, "
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
    ranking: str | dict[str, float] | None = Field(
        None, description="A preset, or weights of single signals; not with `mode`."
    )
    cursor: Cursor = None
    debug: bool = Field(default=False, description="Say how each score came about.")

    def request(self) -> SearchRequest:
        """The same for the search of chunks.

        Raises:
            OptionInvalid: the ranking is none that there is.
        """
        return SearchRequest(
            query=self.query,
            limit=self.limit,
            filters=self.filters,
            include_neighbors=self.include_neighbors,
            rerank=self.rerank,
            ranking=self.ranking,
            cursor=self.cursor,
            debug=self.debug,
        )
