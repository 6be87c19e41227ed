"""Answers questions over a team's own documents, Chinese and English, with citations that hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant import facade, graph, nodes, retrievers
from sextant.domain.system import load_lazily

if TYPE_CHECKING:
    from sextant.domain.retrieval import assemble_graph_context as assemble_graph_context
    from sextant.domain.retrieval import assemble_vector_context as assemble_vector_context
    from sextant.facade.sextant import Sextant as Sextant
    from sextant.graph.workflow import create_query_workflow as create_query_workflow
    from sextant.nodes.answers.answer_generator import AnswerGenerator as AnswerGenerator
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

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = load_lazily(
    __name__, {one.__name__: one.__all__ for one in (facade, graph, nodes, retrievers)}
)
