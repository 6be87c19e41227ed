"""Answers questions over a team's own documents, Chinese and English, with citations that hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.lazy import lazily

if TYPE_CHECKING:
    from sextant.facade import Sextant
    from sextant.graph import create_query_workflow
    from sextant.nodes import AnswerGenerator
    from sextant.retrievers import (
        ChunkSearch,
        EntitySearch,
        GraphRetriever,
        HybridRetriever,
        ResultRanker,
        assemble_graph_context,
        rank_results,
    )

__all__ = [
    "AnswerGenerator",
    "ChunkSearch",
    "EntitySearch",
    "GraphRetriever",
    "HybridRetriever",
    "ResultRanker",
    "Sextant",
    "assemble_graph_context",
    "create_query_workflow",
    "rank_results",
]
__version__ = "0.1.0"
__getattr__ = lazily(
    __name__,
    {
        "AnswerGenerator": "sextant.nodes",
        "ChunkSearch": "sextant.retrievers",
        "EntitySearch": "sextant.retrievers",
        "GraphRetriever": "sextant.retrievers",
        "HybridRetriever": "sextant.retrievers",
        "ResultRanker": "sextant.retrievers",
        "Sextant": "sextant.facade",
        "assemble_graph_context": "sextant.retrievers",
        "create_query_workflow": "sextant.graph",
        "rank_results": "sextant.retrievers",
    },
)
