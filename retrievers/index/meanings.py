"""What questions are compared by besides passages: their common part, and the types of relations.

Both are computed once, off the event loop, and are refinements: a question that would have to wait
long for them, or whose embedder fails, is answered without.

Also here: questions about nothing in particular, in both languages.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

import numpy as np

from sextant.domain.errors import SextantError
from sextant.domain.versioned_cache import VersionedCache
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers.arrays import Floats, dot
from sextant.retrievers.index.relations import RelationTypes

_ENGLISH = (
    "Who wrote the book?",
    "When was the company founded?",
    "Where is the city?",
    "What is the capital of the country?",
    "How many people live in the town?",
    "Which of the films came out first?",
    "Why did the war begin?",
    "How does the machine work?",
    "What is the river called?",
    "Who was president at the time?",
    "In which year did the team win the championship?",
    "At which university did the author study?",
    "What are the symptoms of the disease?",
    "How is the medicine taken?",
    "What did the teacher say about the trip?",
    "When does the meeting take place?",
    "Who directed the film?",
    "Which language is spoken there?",
    "How much does the product cost?",
    "What caused the accident?",
    "Which band recorded the song?",
    "Where was the king born?",
    "What does the contract require?",
    "How long does it take?",
    "What is the purpose of the law?",
    "Who is responsible for the project?",
    "What happened after the battle?",
    "What is the difference between the two methods?",
    "Which animals live in the forest?",
    "How can the error be fixed?",
    "What kind of food does she like?",
    "What is the largest building of the region?",
)

_CHINESE = (
    "这本书的作者是谁？",
    "公司成立于哪一年？",
    "这座城市在哪里？",
    "这个国家的首都是什么？",
    "镇上有多少人口？",
    "哪一部电影最先上映？",
    "战争为什么爆发？",
    "这台机器是怎么工作的？",
    "这条河叫什么名字？",
    "当时的总统是谁？",
    "球队在哪一年夺得冠军？",
    "作者毕业于哪所大学？",
    "这种疾病有哪些症状？",
    "这种药怎么服用？",
    "老师对这次旅行说了什么？",
    "会议什么时候举行？",
    "这部电影的导演是谁？",
    "那里说什么语言？",
    "这个产品多少钱？",
    "事故的原因是什么？",
    "这首歌由哪个乐队录制？",
    "国王出生在哪里？",
    "合同有哪些要求？",
    "整个过程需要多长时间？",
    "这项法律的目的是什么？",
    "谁负责这个项目？",
    "战役之后发生了什么？",
    "这两种方法有什么区别？",
    "森林里生活着哪些动物？",
    "怎样修复这个错误？",
    "她喜欢吃什么？",
    "该地区最大的建筑是什么？",
)

GENERIC_QUESTIONS = _ENGLISH + _CHINESE


# Half of what all questions have in common is taken out: docs/experiments/ranking.md.
_CENTRING = np.float32(0.5)
_PATIENCE_SECONDS = 2.0
_AT_ONCE = 4
_KNOWN_TYPES = 4096
_KNOWN_SETS = 16


class QueryVectors:
    """Vectors of one embedder that many questions share.

    Args:
        embedder: gives the vectors.
        folder: keeps the common part of questions between runs; None: nothing is kept.
    """

    def __init__(self, embedder: Embedder, folder: Path | None) -> None:
        self._embedder = embedder
        self._folder = folder
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
            common = self._common = await self._patiently((), self._read_common)
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
        kept = ((one, self._types.at(one, None)) for one in types)
        known = {one: vector for one, vector in kept if vector is not None}
        unknown = [one for one in types if one not in known]
        texts = [one.replace("_", " ") for one in unknown]
        fresh = await self._embedder.embed_passages(texts) if texts else ()
        known.update(zip(unknown, fresh, strict=True))
        for one in unknown:
            self._types.put(one, None, known[one])
        return np.stack([known[one] for one in types])

    async def _read_common(self) -> Vectors:
        stored = await asyncio.to_thread(_load, self._file)
        if stored is not None and stored.shape == (self._embedder.dimension,):
            return stored
        turn = asyncio.Semaphore(_AT_ONCE)
        vectors = [self._embed_query(question, turn) for question in GENERIC_QUESTIONS]
        common: Vectors = np.mean(await asyncio.gather(*vectors), axis=0, dtype=np.float32)
        await asyncio.to_thread(_save, self._file, common)
        return common

    async def _embed_query(self, question: str, turn: asyncio.Semaphore) -> Vectors:
        async with turn:
            return await self._embedder.embed_query(question)

    @property
    def _file(self) -> Path | None:
        if self._folder is None:
            return None
        key = "\n".join([self._embedder.name, *GENERIC_QUESTIONS])
        return self._folder / f"questions-{hashlib.sha256(key.encode()).hexdigest()[:16]}.npy"


def _load(file: Path | None) -> Vectors | None:
    try:
        if file is None or not file.is_file():
            return None
        vector: Vectors = np.load(file, allow_pickle=False).astype(np.float32)
    except (OSError, ValueError, EOFError):
        return None
    return vector if np.isfinite(vector).all() else None


def _save(file: Path | None, vector: Vectors) -> None:
    """Keep a vector; where that is not possible it is computed again the next time."""
    if file is None:
        return
    part = file.with_name(f"{file.stem}.{os.getpid()}.npy")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(part, vector, allow_pickle=False)
        part.replace(file)
