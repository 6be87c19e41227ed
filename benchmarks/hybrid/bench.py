"""Our searches and those of the rivals over one library, by the number of a question; and their recall."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

import numpy as np

from benchmarks.hybrid.corpus import Library, Question
from benchmarks.hybrid.gates import RECALL, Gate, Recall
from benchmarks.hybrid.measuring import Search
from benchmarks.hybrid.ours import Ours
from benchmarks.hybrid.rivals import BUILT_IN, WANTED, WIDTHS, Naive, PlainTables
from benchmarks.hybrid.store import scope_of
from sextant.domain.retrieval import Retrieval
from sextant.retrievers.ranking.fusion import rrf
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import Scored
from sextant.text.analysis import extract_keywords

_BUILT_IN = ", built-in case rules"


class Bench(Ours):
    """Everything that is measured, over one library.

    Args:
        library: with the questions that are asked.
        ids: of its chunks, by row.
        database: where our chunks are stored.
        plain, wide: the rivals' tables; the second looks at more candidates.
        worded: questions of whose keywords the gates are, those that are asked first.
    """

    def __init__(
        self,
        library: Library,
        ids: list[UUID],
        database: Database,
        plain: PlainTables,
        wide: PlainTables,
        *,
        worded: list[Question],
    ) -> None:
        super().__init__(database, library.questions)
        self.library, self.plain, self.wide, self.worded = library, plain, wide, worded
        self._rows = {one: row for row, one in enumerate(ids)}

    async def backends(self) -> list[int]:
        """Return the server processes of all connections, the rivals' too."""
        return [*{self.plain.backend, self.wide.backend, *await super().backends()}]

    async def one_table(self, number: int) -> list[int]:
        """Return the rival's vector lane."""
        return await self.plain.nearest(self.questions[number], 10)

    async def one_table_wide(self, number: int) -> list[int]:
        """Return the same, looking at as many candidates as it takes to be as exact as ours."""
        return await self.wide.nearest(self.questions[number], 10)

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

    async def widened(self) -> tuple[int, Recall]:
        """Return the least width at which the one table's recall is what it must be; the widest if none is."""
        for width in WIDTHS:
            await self.wide.look_at(width)
            recall = await self.recall(self.one_table_wide)
            if recall.least >= RECALL:
                break
        return width, recall

    async def keyword_gate(self) -> Gate:
        """Return the best 20 have the counts that ILIKE gives them, no others have more, and none is missing."""
        right = [await self._same_counts(question) for question in self.worded]
        return Gate.all_of(
            "ours: best 20, all chunks and counts as by ILIKE", sum(right), len(right)
        )

    async def overlap_gate(self, whose: str, search: Callable[[int], Awaitable[Retrieval]]) -> Gate:
        """Return the hybrid search's ten are those of exact lanes, as often as the vector lane must be right."""
        shares = []
        for number in range(len(self.questions)):
            found = {self._rows[UUID(item.id)] for item in (await search(number)).results}
            exact = await self._exact(number)
            shares.append(len(found & exact) / max(len(exact), 1))
        overlap = float(np.mean(shares))
        return Gate(f"{whose}: {overlap:.4f} of the ten of exact lanes", overlap >= RECALL)

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
