"""Our searches through PostgreSQL, each of a question by its number."""

from __future__ import annotations

from benchmarks.hybrid.corpus import Question
from benchmarks.hybrid.rivals import WANTED
from benchmarks.hybrid.store import GivenVectors, scope_of
from sextant.domain.retrieval import Retrieval
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import Scored


class Ours:
    """The lanes and the hybrid search over a stored library.

    Args:
        database: where it is stored.
        questions: what is asked.
    """

    def __init__(self, database: Database, questions: list[Question]) -> None:
        self.database = database
        self.questions = questions
        self.chunks = ChunkStore(database)
        self.retriever = GraphRetriever(
            chunks=self.chunks, embedder=GivenVectors(questions), settings=database.settings
        )

    async def backends(self) -> list[int]:
        """Return the server processes of all connections; with a server of one's own, of that login."""
        async with self.database.transaction("anybody") as connection:
            cursor = await connection.execute(
                "select pid from pg_stat_activity where usename = session_user"
            )
            return [row[0] async for row in cursor]

    async def vector_ids(self, number: int) -> Scored:
        """Return the vector lane, ids and cosines."""
        question = self.questions[number]
        return await self.chunks.nearest(scope_of(question.tenant), question.vector, 10)

    async def keyword_ids(self, number: int, limit: int = WANTED) -> Scored:
        """Return the keyword lane, ids and scores."""
        question = self.questions[number]
        scope = scope_of(question.tenant)
        return await self.chunks.keyword_matches(scope, question.keywords, limit)

    async def hybrid(self, number: int) -> Retrieval:
        """Return both lanes at once, fused by weighted RRF, with texts."""
        question = self.questions[number]
        return await self.retriever.search(
            scope_of(question.tenant), question.text, lanes=("vector", "keyword"), top_k=10
        )
