"""A small knowledge base for the graph modes, and a retriever over it."""

from __future__ import annotations

from typing import Any

from sextant.domain.retrieval import ItemKind, Retrieval
from sextant.domain.settings import Settings
from sextant.evals.dataset import CorpusPassage
from sextant.models.protocols import Embedder
from sextant.retrievers import GraphRetriever
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases

PASSAGES = [
    CorpusPassage(
        "mounds", "Pocahontas Mounds", "The mounds are an archaeological site in Mississippi."
    ),
    CorpusPassage(
        "state", "Mississippi", "It joined the Union on December 10, 1817, as the twentieth."
    ),
    CorpusPassage(
        "river", "Meramec River", "A waterway that drains the hills of Missouri in spring."
    ),
    CorpusPassage("missouri", "Missouri", "The Meramec River and many springs lie in this state."),
    CorpusPassage(
        "rust", "Rust", "Each value has one owner; memory is freed when it goes out of scope."
    ),
    CorpusPassage(
        "bread", "Sourdough", "Flour, water and salt; the dough rests overnight in the cold."
    ),
    CorpusPassage(
        "chess", "Openings", "The Sicilian answers the king's pawn by a fight for the centre."
    ),
    CorpusPassage("chess2", "Endgames", "A king and a pawn against a king: the opposition wins."),
]
QUESTION = "When did the place where Pocahontas Mounds lies join the Union?"


def over(
    database: Database,
    embedder: Embedder,
    settings: Settings,
    graph: PostgresGraph | None = None,
    **more: Any,
) -> GraphRetriever:
    chunks = ChunkStore(database)
    return GraphRetriever(
        chunks=chunks,
        embedder=embedder,
        settings=settings,
        knowledge_bases=KnowledgeBases(database),
        indexes=ScopeIndexes(chunks, GraphRecord(database), passages=1000),
        graph=graph or PostgresGraph(database),
        **more,
    )


def files(found: Retrieval) -> list[str]:
    return [str(item.external_id) for item in found.results if item.kind is ItemKind.CHUNK]
