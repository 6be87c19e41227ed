"""Answers questions over a team's own documents, Chinese and English, with citations that hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.system import load_lazily

if TYPE_CHECKING:
    from sextant.facade import Sextant
    from sextant.graph import create_query_workflow
    from sextant.nodes import AnswerGenerator
    from sextant.retrievers import (
        ChunkSearch,
        EntitySearch,
        FusionWeights,
        GraphRetriever,
        HybridRetriever,
        HybridRetrieverOptions,
        RankOptions,
        RerankLimits,
        ResultRanker,
        SearchOptions,
        SearchRequest,
        SearchResponse,
        assemble_graph_context,
        assemble_vector_context,
        extract_keywords,
        fuse,
        rank_results,
        rrf,
    )

__all__ = [
    "AnswerGenerator",
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
    "Sextant",
    "assemble_graph_context",
    "assemble_vector_context",
    "create_query_workflow",
    "extract_keywords",
    "fuse",
    "rank_results",
    "rrf",
]
__version__ = "0.1.0"
_HOMES = {
    "AnswerGenerator": "sextant.nodes",
    "Sextant": "sextant.facade",
    "create_query_workflow": "sextant.graph",
}
__getattr__, __dir__ = load_lazily(__name__, dict.fromkeys(__all__, "sextant.retrievers") | _HOMES)
