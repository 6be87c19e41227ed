"""Finding passages: lanes, fusion, modes, and the retriever that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.system import load_lazily

if TYPE_CHECKING:
    from sextant.domain.retrieval import assemble_graph_context as assemble_graph_context
    from sextant.domain.retrieval import assemble_vector_context as assemble_vector_context
    from sextant.retrievers.chunk_search.search import ChunkSearch as ChunkSearch
    from sextant.retrievers.chunk_search.search import SearchRequest as SearchRequest
    from sextant.retrievers.entity_search.options import FusionWeights as FusionWeights
    from sextant.retrievers.entity_search.options import SearchOptions as SearchOptions
    from sextant.retrievers.entity_search.response import SearchResponse as SearchResponse
    from sextant.retrievers.entity_search.search import EntitySearch as EntitySearch
    from sextant.retrievers.graph_retriever import GraphRetriever as GraphRetriever
    from sextant.retrievers.hybrid_retriever.options import (
        HybridRetrieverOptions as HybridRetrieverOptions,
    )
    from sextant.retrievers.hybrid_retriever.retriever import HybridRetriever as HybridRetriever
    from sextant.retrievers.ranking.fusion import fuse as fuse
    from sextant.retrievers.ranking.fusion import rrf as rrf
    from sextant.retrievers.ranking.reranking import RerankLimits as RerankLimits
    from sextant.retrievers.ranking.result_ranker import RankOptions as RankOptions
    from sextant.retrievers.ranking.result_ranker import ResultRanker as ResultRanker
    from sextant.retrievers.ranking.result_ranker import rank_results as rank_results
    from sextant.text.analysis import extract_keywords as extract_keywords

__getattr__, __dir__, __all__ = load_lazily(
    __name__,
    {
        "sextant.domain.retrieval": ["assemble_graph_context", "assemble_vector_context"],
        "sextant.retrievers.chunk_search.search": ["ChunkSearch", "SearchRequest"],
        "sextant.retrievers.entity_search.options": ["FusionWeights", "SearchOptions"],
        "sextant.retrievers.entity_search.response": ["SearchResponse"],
        "sextant.retrievers.entity_search.search": ["EntitySearch"],
        "sextant.retrievers.graph_retriever": ["GraphRetriever"],
        "sextant.retrievers.hybrid_retriever.options": ["HybridRetrieverOptions"],
        "sextant.retrievers.hybrid_retriever.retriever": ["HybridRetriever"],
        "sextant.retrievers.ranking.fusion": ["fuse", "rrf"],
        "sextant.retrievers.ranking.reranking": ["RerankLimits"],
        "sextant.retrievers.ranking.result_ranker": ["RankOptions", "ResultRanker", "rank_results"],
        "sextant.text.analysis": ["extract_keywords"],
    },
)
