"""Our searches and those of the rivals over one library, by the number of a question; and their recall."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from benchmarks.figures import record
from benchmarks.hybrid.corpus import Library, Question
from benchmarks.hybrid.measuring import Search
from benchmarks.hybrid.rivals import BUILT_IN, WANTED, WIDTHS, Naive, PlainTables
from benchmarks.hybrid.store import GivenVectors, scope_of
from sextant.domain.retrieval import Retrieval
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.retrievers.ranking.fusion import rrf
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import Scored
from sextant.text.analysis import extract_keywords

_BUILT_IN = ", built-in case rules"
# The recall of the vector lane for tenants of every size, in their topics and off them, and
# how much of the hybrid search's ten must be those of exact lanes, of which one has that recall.
RECALL = 0.99


@dataclass
class Recall:
    """Shares of the ten nearest that were found, by size and kind; how often there were fewer than ten."""

    of_kind: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    short: int = 0

    def add(
        self,
        question: Question,
        found: Collection[object],
        nearer: Collection[object],
        equal: Collection[object],
    ) -> None:
        """Collect what was found for a question; what is nearer than the tenth nearest, and what is as near."""
        kind = f"{question.bucket} {'off' if question.off else 'in'}"
        wanted = min(len(nearer) + len(equal), 10)
        right = min(len(set(found) & set(equal)), wanted - len(nearer))
        self.of_kind[kind].append((len(set(found) & set(nearer)) + right) / wanted)
        self.short += len(found) < wanted

    @property
    def least(self) -> float:
        """Of the size and kind that fares worst."""
        return min(float(np.mean(shares)) for shares in self.of_kind.values())

    def report(self, whose: str) -> None:
        """Record the recall of the kind that fares worst, and how often there were too few."""
        record(f"{whose}: recall@10, worst kind", self.least, "", least=RECALL)
        record(f"{whose}: results too short", self.short, "", most=0)


class Bench:
    """Everything that is measured, over one library.

    Args:
        library: with the questions that are asked.
        ids: of its chunks, by row.
        database: where our chunks are stored.
        plain: the rivals' tables.
    """

    def __init__(
        self, library: Library, ids: list[UUID], database: Database, plain: PlainTables
    ) -> None:
        self.library, self.questions, self.plain = library, library.questions, plain
        self.database = database
        self.chunks = ChunkStore(database)
        self._retriever = GraphRetriever(
            chunks=self.chunks, embedder=GivenVectors(self.questions), settings=database.settings
        )
        self._rows = {one: row for row, one in enumerate(ids)}

    async def backends(self) -> list[int]:
        """Return the server processes of all connections, the rivals' too; those of our login."""
        async with self.database.transaction("anybody") as connection:
            cursor = await connection.execute(
                "select pid from pg_stat_activity where usename = session_user"
            )
            return [self.plain.backend, *[row[0] async for row in cursor]]

    async def vector_ids(self, number: int) -> Scored:
        """Return our vector lane, ids and cosines."""
        question = self.questions[number]
        return await self.chunks.nearest(scope_of(question.tenant), question.vector, 10)

    async def keyword_ids(self, number: int) -> Scored:
        """Return our keyword lane, ids and scores."""
        question = self.questions[number]
        scope = scope_of(question.tenant)
        return await self.chunks.keyword_matches(scope, question.keywords, WANTED)

    async def hybrid(self, number: int) -> Retrieval:
        """Return both lanes at once, fused by weighted RRF, with texts."""
        question = self.questions[number]
        return await self._retriever.search(
            scope_of(question.tenant), question.text, lanes=("vector", "keyword"), top_k=10
        )

    async def one_table(self, number: int) -> list[int]:
        """Return the rival's vector lane."""
        return await self.plain.nearest(self.questions[number], 10)

    async def vector_rows(self, number: int) -> list[int]:
        """Return our vector lane, by row."""
        return self.rows(await self.vector_ids(number))

    def ilike(self, collation: str) -> Search:
        """Return the rival's keyword lane."""

        async def search(number: int) -> dict[int, int]:
            return await self.plain.counted(self.questions[number], collation=collation)

        return search

    def naive(self, collation: str) -> Search:
        """Return the naive build's hybrid search."""
        naive = Naive(self.plain, collation)
        return lambda number: naive.search(self.questions[number])

    @property
    def case_rules(self) -> dict[str, str]:
        """Return the collations by which ILIKE is measured, by what is added to a design's name."""
        return {**({"": self.plain.libc} if self.plain.libc else {}), _BUILT_IN: BUILT_IN}

    def rows(self, found: Scored) -> list[int]:
        """Return the rows of chunks."""
        return [self._rows[UUID(one)] for one in found.ids]

    async def recall(self, search: Search) -> Recall:
        """Return Recall@10 of every size and kind; short results."""
        recall = Recall()
        for number, question in enumerate(self.questions):
            found = await search(number)
            assert isinstance(found, list)
            recall.add(question, found, *self.library.nearest(question))
        return recall

    async def widen(self) -> int:
        """Have the one table look at as many candidates as its recall takes, and return how many."""
        for width in WIDTHS:
            await self.plain.look_at(width)
            if (await self.recall(self.one_table)).least >= RECALL:
                break
        return width

    async def equal_counts(self) -> float:
        """Return the share of queries whose chunks have the counts that ILIKE gives, none missing or added."""
        return float(np.mean([await self._same_counts(question) for question in self.questions]))

    async def overlap(self) -> float:
        """Return how many of the hybrid search's ten are those of exact lanes."""
        shares = []
        for number in range(len(self.questions)):
            found = {self._rows[UUID(item.id)] for item in (await self.hybrid(number)).results}
            exact = await self._exact(number)
            shares.append(len(found & exact) / max(len(exact), 1))
        return float(np.mean(shares))

    async def _exact(self, number: int) -> set[int]:
        """Return the ten best of all the tenant's cosines and all its texts that hold a keyword."""
        question, settings = self.questions[number], self.database.settings.retrieval
        rows = self.library.rows_of(question.tenant)
        cosines = self.library.vectors[rows.start : rows.stop] @ question.vector
        near = (rows.start + np.argsort(-cosines, kind="stable")[:WANTED]).tolist()
        words = extract_keywords(question.text, settings.max_keywords)
        held = self.rows(await self.chunks.keyword_matches(scope_of(question.tenant), words, 10**6))
        rankings = {"vector": list(map(str, near)), "keyword": list(map(str, held[:WANTED]))}
        weights = {"vector": settings.vector_weight, "keyword": settings.keyword_weight}
        return {int(row) for row, _ in rrf(rankings, weights, settings.rrf_k)[:10]}

    async def _same_counts(self, question: Question) -> bool:
        scope = scope_of(question.tenant)
        true = await self.plain.counted(question, None)
        best_matches = await self.chunks.keyword_matches(scope, question.keywords, WANTED)
        held = await self.chunks.keyword_matches(scope, question.keywords, 10**6)
        best = dict(zip(self.rows(best_matches), map(int, best_matches.scores), strict=True))
        scores = map(int, held.scores)
        everything = dict(zip(self.rows(held), scores, strict=True))
        right = all(true.get(row) == count for row, count in best.items())
        most = sorted(true.values(), reverse=True)[:WANTED]
        return right and sorted(best.values(), reverse=True) == most and everything == true
