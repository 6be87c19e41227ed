"""What questions are compared by besides passages: their common part, and the types of relations.

Both are computed once, off the event loop, and are refinements: a question that would have to wait
long for them, or whose embedder fails, is answered without.

Also here: questions about nothing in particular, in both languages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import numpy as np

from sextant.domain.errors import SextantError
from sextant.domain.versioned_cache import VersionedCache
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers.arrays import Floats, dot
from sextant.retrievers.index.relations import RelationTypes

_ENGLISH = (
    "What is the river called?",
    "Who was president at the time?",
    "In which year did the team win the championship?",
    "At which university did the author study?",
    "What are the symptoms of the disease?",
    "How is the medicine taken?",
    "What did the teacher say about the trip?",
    "When does the meeting take place?",
)

_CHINESE = (
    "这条河叫什么名字？",
    "当时的总统是谁？",
    "球队在哪一年夺得冠军？",
    "作者毕业于哪所大学？",
    "这种疾病有哪些症状？",
    "这种药怎么服用？",
    "老师对这次旅行说了什么？",
    "会议什么时候举行？",
)

GENERIC_QUESTIONS = _ENGLISH + _CHINESE


# Half of what all questions have in common is taken out: docs/experiments/ranking.md.
_CENTRING = np.float32(0.5)
_PATIENCE_SECONDS = 2.0
_KNOWN_TYPES = 4096
_KNOWN_SETS = 16


class QueryVectors:
    """Vectors of one embedder that many questions share.

    Args:
        embedder: gives the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._common: Vectors | None = None
        self._types: VersionedCache[str, None, Vectors] = VersionedCache(_KNOWN_TYPES)
        # Of sets of types; of none, what all questions have in common.
        self._sets: VersionedCache[tuple[str, ...], None, Vectors] = VersionedCache(_KNOWN_SETS)

    async def centred(self, question: Vectors) -> Vectors:
        """Return the question's vector without half of what all questions have in common, normalised.

        Vectors of questions share a direction that says no more than "a question in this language";
        passages that happen to lie there would be near every question.

        Args:
            question: shape (dimension,), normalised.
        """
        common = self._common
        if common is None:
            common = self._common = await self._patiently((), self._embed_common)
        if common is None:
            return question
        rest = question - _CENTRING * common
        length = float(np.linalg.norm(rest))
        return (rest / length).astype(np.float32) if length else question

    async def type_similarity(self, types: RelationTypes, question: Vectors) -> Floats | None:
        """Return the cosine of each relation type to a question, shape (types,); None while the types have no vectors.

        A type is embedded as a passage, its words parted. See `RelationTypes.similarity`.
        """
        key = types.common
        if not key:
            return None
        vectors = self._sets.at(key, None)
        if vectors is None:
            vectors = await self._patiently(key, lambda: self._embed_types(key))
        return None if vectors is None else types.similarity(dot(vectors, question))

    async def _patiently(
        self, key: tuple[str, ...], compute: Callable[[], Coroutine[None, None, Vectors]]
    ) -> Vectors | None:
        """Wait a little for what is computed once for all who ask; the computing goes on."""
        try:
            vectors, _ = await asyncio.wait_for(
                self._sets.get(key, None, lambda _: compute()), _PATIENCE_SECONDS
            )
        except (TimeoutError, SextantError):
            return None
        return vectors

    async def _embed_types(self, types: tuple[str, ...]) -> Vectors:
        cached = ((one, self._types.at(one, None)) for one in types)
        known = {one: vector for one, vector in cached if vector is not None}
        unknown = [one for one in types if one not in known]
        texts = [one.replace("_", " ") for one in unknown]
        fresh = await self._embedder.embed_passages(texts) if texts else ()
        known.update(zip(unknown, fresh, strict=True))
        for one in unknown:
            self._types.put(one, None, known[one])
        return np.stack([known[one] for one in types])

    async def _embed_common(self) -> Vectors:
        vectors = await asyncio.gather(*map(self._embedder.embed_query, GENERIC_QUESTIONS))
        common: Vectors = np.mean(vectors, axis=0, dtype=np.float32)
        return common
