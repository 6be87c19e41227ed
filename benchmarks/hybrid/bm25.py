"""Compare the BM25 rerank of forty candidates with tokenizing and counting them for every question.

The plain design is a reranking layer without an index: the candidates are cut and BM25 is computed over them alone,
whose idf is wrong; with the same tokeniser, and with jieba where it is installed. The times count while the index gives
the scores of BM25 over all texts to 1e-6.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.figures import record
from benchmarks.hybrid.corpus import Library
from benchmarks.hybrid.measuring import CPU, OURS, Limits, Search, report, side_by_side
from benchmarks.hybrid.rivals import installed
from sextant.retrievers.hybrid_retriever.bm25 import BM25Index
from sextant.stores.rows import StoredText
from sextant.text.analysis import SEGMENTED

CANDIDATES, CHECKED = 40, 10
K1, B = 1.2, 0.75
# What scores may differ by from those over all texts.
EXACT = 1e-6
_JIEBA = "jieba and counting"

Cut = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the numbers of the texts that are to be ordered."""

    question: str
    candidates: tuple[int, ...]

    def among(self, texts: Sequence[StoredText]) -> list[StoredText]:
        """Return its candidates."""
        return [texts[number] for number in self.candidates]


def asked_of(library: Library, count: int) -> list[Asked]:
    """Return the first questions of a library, each with the forty chunks of its tenant that lie nearest."""
    asked = []
    for question in library.questions[:count]:
        rows = library.rows_of(question.tenant)
        cosines = library.vectors[rows.start : rows.stop] @ question.vector
        nearest = rows.start + np.argsort(-cosines, kind="stable")[:CANDIDATES]
        asked.append(Asked(question.text, tuple(nearest.tolist())))
    return asked


@dataclass(frozen=True, slots=True)
class Known:
    """What BM25 asks of all texts: how many there are, how long, and how many hold a term."""

    size: int
    mean: float
    holders: Counter[str]

    @classmethod
    def of(cls, counts: Iterable[Counter[str]], asked: set[str]) -> Known:
        """Of texts counted one after another: 100,000 of them counted at once are gigabytes."""
        size, length, holders = 0, 0, Counter[str]()
        for own in counts:
            size, length = size + 1, length + own.total()
            holders.update(asked & own.keys())
        return cls(size, length / size, holders)


def scored(known: Known, asked: set[str], counts: Iterable[Counter[str]]) -> list[float]:
    """Return BM25 as the paper writes it, with the idf of what is known."""
    scores = []
    for own in counts:
        score = 0.0
        for term in asked & own.keys():
            held = known.holders[term]
            idf = math.log(1 + (known.size - held + 0.5) / (held + 0.5))
            norm = K1 * (1 - B + B * own.total() / known.mean)
            score += idf * own[term] * (K1 + 1) / (own[term] + norm)
        scores.append(score)
    return scores


def alone(question: str, candidates: Sequence[StoredText], cut: Cut) -> list[float]:
    """Return the candidates cut, counted and scored as if there were no other texts."""
    asked = set(cut(question))
    counts = [Counter(cut(one.searched)) for one in candidates]
    return scored(Known.of(counts, asked), asked, counts)


def indexed(index: BM25Index, question: str, candidates: Sequence[StoredText]) -> list[float]:
    """Return the candidates scored by the index, which knows their terms."""
    return index.score(question, [one.id for one in candidates])


def difference(
    index: BM25Index, texts: Sequence[StoredText], asked: Sequence[Asked]
) -> tuple[float, int]:
    """Return the largest difference to BM25 over all texts, of some questions spread over all; scores above 0."""
    checked = [
        (one.question, set(SEGMENTED.terms(one.question)), one.among(texts))
        for one in asked[:: max(1, len(asked) // CHECKED)]
    ]
    every = set[str]().union(*(terms for _, terms, _ in checked))
    known = Known.of((Counter(SEGMENTED.terms(one.searched)) for one in texts), every)
    worst, telling = 0.0, 0
    for question, terms, candidates in checked:
        true = scored(known, terms, [Counter(SEGMENTED.terms(one.searched)) for one in candidates])
        ours = indexed(index, question, candidates)
        worst = max(worst, float(np.abs(np.subtract(true, ours)).max()))
        telling += sum(score > 0 for score in true)
    return worst, telling


async def rerank(library: Library, queries: int) -> None:
    """Build the index, check its scores, and measure it."""
    print("\n## BM25 rerank of 40")
    texts = [StoredText(row, str(row), text) for row, text in enumerate(library.texts)]
    asked = asked_of(library, queries)
    started = time.process_time()
    index = BM25Index().updated([], texts)
    record("BM25 index built", 1000 * (time.process_time() - started) / len(texts), "ms CPU a text")
    record("BM25 index", index.nbytes / len(texts), "bytes a text")
    worst, telling = difference(index, texts, asked)
    record("BM25 index: largest difference of a score", worst, "", most=EXACT)
    record("BM25 index: scores above 0 compared", telling, "", least=1)

    def of(score: Callable[[str, list[StoredText]], object]) -> Search:
        async def search(number: int) -> object:
            return score(asked[number].question, asked[number].among(texts))

        return search

    designs = {
        OURS: of(partial(indexed, index)),
        "our tokeniser and counting": of(partial(alone, cut=SEGMENTED.terms)),
    }
    limits = dict[str, Limits]()
    if installed("jieba"):
        import jieba

        jieba.setLogLevel(60)
        jieba.initialize()
        designs[_JIEBA] = of(partial(alone, cut=jieba.lcut))
        limits[_JIEBA] = {CPU: 40}
    report("BM25 rerank of 40", await side_by_side(designs, len(asked), _no_server), limits)


async def _no_server() -> Sequence[int]:
    return ()
