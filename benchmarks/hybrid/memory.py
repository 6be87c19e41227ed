"""Our searches over knowledge bases that are in memory, each as sure to be current as in the product."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.hybrid.corpus import Question
from benchmarks.hybrid.gates import Gate
from benchmarks.hybrid.measuring import Server
from benchmarks.hybrid.rivals import WANTED
from sextant.domain.retrieval import Retrieval
from sextant.domain.scope import Scope
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.retrievers.index.scope_cache import CachedScope, ScopeCache
from sextant.retrievers.lazy_hits import LazyHits
from sextant.stores.graph.arrays import halves_of_texts
from sextant.stores.postgresql.values import Nearest

# Everything is to be in memory; the default holds a part of it.
ROOM = 4_000_000_000


class InMemory:
    """The lanes and the hybrid search over memory.

    Args:
        scopes: the knowledge bases in memory.
        retriever: our search from PostgreSQL, of the same chunks.
        questions: what is asked, and then those of which only the keywords are.
        scope_of: the knowledge base of a tenant.
    """

    def __init__(
        self,
        scopes: ScopeCache,
        retriever: GraphRetriever,
        questions: Sequence[Question],
        scope_of: Callable[[int], Scope],
    ) -> None:
        self._scopes = scopes
        self._cold = retriever
        self._hot = retriever.model_copy(update={"hot": scopes})
        self._questions = questions
        self._scope_of = scope_of

    async def pack(self, backends: Sequence[int]) -> str:
        """Bring every tenant into memory; says what that takes."""
        server = Server()
        server.follow(backends)
        client, before = time.process_time(), server.seconds()
        for tenant in dict.fromkeys(question.tenant for question in self._questions):
            scope = self._scope_of(tenant)
            while self._scopes.of(scope) is None:
                await self._scopes.memory.settle()
        client, served = time.process_time() - client, server.seconds() - before
        chunks = sum([await self._cold.chunks.count(scope) for scope in self._scopes.sizes])
        octets = sum(self._scopes.memory.sizes.values())
        return (
            f"{chunks} chunks of {len(self._scopes.sizes)} tenants in memory: "
            f"{octets / chunks:.0f} bytes a chunk, packed in "
            f"{client / chunks * 1000:.3f} + {served / chunks * 1000:.3f} ms CPU a chunk"
        )

    async def vector(self, number: int) -> Nearest:
        """Return the ten nearest, every vector compared; whether they are current is not asked."""
        question, _, hot = self._asked(number)
        return _as_arrays(await hot.nearest(question.vector, 10))

    async def keyword(self, number: int) -> Nearest:
        """Return the best by keywords; whether they are current is not asked."""
        question, _, hot = self._asked(number)
        return _as_arrays(hot.matching(question.keywords, WANTED))

    async def vector_current(self, number: int) -> Nearest:
        """Return the same, and a trip of its own to be sure, which a search shares with reading texts."""
        found = await self.vector(number)
        await self._asked(number)[2].is_current()
        return found

    async def hybrid(self, number: int) -> Retrieval:
        """Return lanes and texts in memory, the stamp from PostgreSQL."""
        question = self._questions[number]
        scope = self._scope_of(question.tenant)
        lanes = ("vector", "keyword")
        return await self._hot.search(scope, question.text, lanes=lanes, top_k=10)

    async def keyword_gate(self) -> Gate:
        """Return memory and PostgreSQL find the same by keywords, in the same order."""
        right = [await self._same_words(number) for number in range(len(self._questions))]
        told = "ours, in memory: chunks, scores and order by keywords as from PostgreSQL"
        return Gate.all_of(told, sum(right), len(right))

    async def _same_words(self, number: int) -> bool:
        question, scope, hot = self._asked(number)
        here = _as_arrays(hot.matching(question.keywords, 10**6))
        there = await self._cold.chunks.keyword_arrays(scope, question.keywords, 10**6)
        return bool(
            np.array_equal(here.ids, there.ids) and np.allclose(here.cosines, there.cosines)
        )

    def _asked(self, number: int) -> tuple[Question, Scope, CachedScope]:
        question = self._questions[number]
        scope = self._scope_of(question.tenant)
        hot = self._scopes.of(scope)
        assert hot is not None, "nothing is changed meanwhile"
        return question, scope, hot


def _as_arrays(hits: LazyHits) -> Nearest:
    return Nearest(halves_of_texts(hits.ids), np.array(hits.scores, np.float32))
