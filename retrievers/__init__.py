"""Finding passages: lanes, fusion, modes, and the retriever that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.system import load_lazily

if TYPE_CHECKING:
    from sextant.domain.retrieval import assemble_graph_context, assemble_vector_context
    from sextant.retrievers.chunk_search.search import ChunkSearch, SearchRequest
    from sextant.retrievers.entity_search.options import FusionWeights, SearchOptions
    from sextant.retrievers.entity_search.response import SearchResponse
    from sextant.retrievers.entity_search.search import EntitySearch
    from sextant.retrievers.graph_retriever import GraphRetriever
    from sextant.retrievers.hybrid_retriever.options import HybridRetrieverOptions
    from sextant.retrievers.hybrid_retriever.retriever import HybridRetriever
    from sextant.retrievers.ranking.fusion import fuse, rrf
    from sextant.retrievers.ranking.reranking import RerankLimits
    from sextant.retrievers.ranking.result_ranker import RankOptions, ResultRanker, rank_results
    from sextant.text.analysis import extract_keywords

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
__getattr__, __dir__ = load_lazily(
    __name__,
    {
        "ChunkSearch": "sextant.retrievers.chunk_search.search",
        "EntitySearch": "sextant.retrievers.entity_search.search",
        "FusionWeights": "sextant.retrievers.entity_search.options",
        "GraphRetriever": "sextant.retrievers.graph_retriever",
        "HybridRetriever": "sextant.retrievers.hybrid_retriever.retriever",
        "HybridRetrieverOptions": "sextant.retrievers.hybrid_retriever.options",
        "RankOptions": "sextant.retrievers.ranking.result_ranker",
        "RerankLimits": "sextant.retrievers.ranking.reranking",
        "ResultRanker": "sextant.retrievers.ranking.result_ranker",
        "SearchOptions": "sextant.retrievers.entity_search.options",
        "SearchRequest": "sextant.retrievers.chunk_search.search",
        "SearchResponse": "sextant.retrievers.entity_search.response",
        "assemble_graph_context": "sextant.domain.retrieval",
        "assemble_vector_context": "sextant.domain.retrieval",
        "extract_keywords": "sextant.text.analysis",
        "fuse": "sextant.retrievers.ranking.fusion",
        "rank_results": "sextant.retrievers.ranking.result_ranker",
        "rrf": "sextant.retrievers.ranking.fusion",
    },
)
