"""Finding passages: lanes, fusion, modes, and the retriever that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.lazy import lazily

if TYPE_CHECKING:
    from retrievers.chunk_search.search import ChunkSearch, SearchRequest
    from retrievers.context import assemble_graph_context, assemble_vector_context
    from retrievers.entity_search.options import FusionWeights, SearchOptions
    from retrievers.entity_search.response import SearchResponse
    from retrievers.entity_search.search import EntitySearch
    from retrievers.graph_retriever import GraphRetriever
    from retrievers.hybrid_retriever.options import HybridRetrieverOptions
    from retrievers.hybrid_retriever.retriever import HybridRetriever
    from retrievers.lanes.keywords import extract_keywords
    from retrievers.ranking.fusion import fuse, rrf
    from retrievers.ranking.reranking import RerankLimits
    from retrievers.ranking.result_ranker import RankOptions, ResultRanker, rank_results

__all__ = [
    "ChunkSearch",
    "EntitySearch",
    "FusionWeights",
    "GraphRetriever",
    "HybridRetriever",
    "HybridRetrieverOptions",
    "RankOptions",
    "RerankLimits",
    "ResultRanker",
    "SearchOptions",
    "SearchRequest",
    "SearchResponse",
    "assemble_graph_context",
    "assemble_vector_context",
    "extract_keywords",
    "fuse",
    "rank_results",
    "rrf",
]
__getattr__ = lazily(
    __name__,
    {
        "ChunkSearch": "retrievers.chunk_search.search",
        "EntitySearch": "retrievers.entity_search.search",
        "FusionWeights": "retrievers.entity_search.options",
        "GraphRetriever": "retrievers.graph_retriever",
        "HybridRetriever": "retrievers.hybrid_retriever.retriever",
        "HybridRetrieverOptions": "retrievers.hybrid_retriever.options",
        "RankOptions": "retrievers.ranking.result_ranker",
        "RerankLimits": "retrievers.ranking.reranking",
        "ResultRanker": "retrievers.ranking.result_ranker",
        "SearchOptions": "retrievers.entity_search.options",
        "SearchRequest": "retrievers.chunk_search.search",
        "SearchResponse": "retrievers.entity_search.response",
        "assemble_graph_context": "retrievers.context",
        "assemble_vector_context": "retrievers.context",
        "extract_keywords": "retrievers.lanes.keywords",
        "fuse": "retrievers.ranking.fusion",
        "rank_results": "retrievers.ranking.result_ranker",
        "rrf": "retrievers.ranking.fusion",
    },
)
