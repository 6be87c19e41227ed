"""Compare the BM25 rerank of forty candidates with tokenizing and counting them for every question.

The plain design is a reranking layer without an index: the candidates are cut and BM25 is computed over them alone,
whose idf is wrong; with the same tokeniser, and with jieba where it is installed. The gate comes first: the index gives
the scores of BM25 over all texts to 1e-6, before and after a third of the texts, drawn at random, was deleted and as
many were added.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.hybrid.corpus import Library
from benchmarks.hybrid.gates import Gate
from benchmarks.hybrid.goals import Goal, Measure, again
from benchmarks.hybrid.measuring import Search, side_by_side
from benchmarks.hybrid.report import Group
from benchmarks.hybrid.rivals import installed
from sextant.retrievers.hybrid_retriever.bm25 import BM25Index
from sextant.stores.rows import StoredText
from sextant.text.analysis import SEGMENTED

CANDIDATES, CHECKED = 40, 10
ALONE = 200  # texts that come and go one by one
K1, B = 1.2, 0.75
# What scores may differ by from those over all texts.
EXACT = 1e-6
_INDEX, _JIEBA = "BM25 index", "cut by jieba and counted"

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


def gate(index: BM25Index, texts: Sequence[StoredText], asked: Sequence[Asked], when: str) -> Gate:
    """Return the largest difference to BM25 over all texts, of some questions spread over all."""
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
    told = (
        f"BM25 index, {when}: {worst:.0e} from BM25 over all {len(texts):,} texts at most, "
        f"{len(checked)} questions, {telling} scores above 0"
    )
    return Gate(told, worst <= EXACT and telling > 0)


def changed(
    index: BM25Index, texts: Sequence[StoredText], rows: Sequence[int]
) -> tuple[BM25Index, list[StoredText]]:
    """Return the index with some of its texts gone and as many new ones; prints what each cost."""
    gone, after, batch = [texts[row] for row in rows], list(texts), len(rows)
    fresh = [StoredText(("new", one.id), f"new-{one.id}", one.searched[::-1]) for one in gone]
    turns = max(1, ALONE // batch)
    cutting = spent(turns, lambda: [SEGMENTED.terms(one.searched) for one in fresh])
    deleting = spent(turns, lambda: index.updated([one.part for one in gone], []))
    less = index.updated([one.part for one in gone], [])
    adding = spent(turns, lambda: less.updated([], fresh)) - cutting
    print(
        f"{batch} texts at once: delete {deleting / batch:.3f} ms a text, "
        f"add {adding / batch:.3f} ms, cutting {cutting / batch:.3f} ms"
    )
    for row, text in zip(rows, fresh, strict=True):
        after[row] = text
    return less.updated([], fresh), after


def spent(turns: int, work: Callable[[], object]) -> float:
    """Return CPU milliseconds of doing something, on average over some turns."""
    started = time.process_time()
    for _ in range(turns):
        work()
    return 1000 * (time.process_time() - started) / turns


async def rerank(library: Sequence[str], asked: Sequence[Asked]) -> tuple[Group, list[str]]:
    """Build the index, check it before and after changes, measure it; also what is not installed."""
    texts = [StoredText(row, str(row), text) for row, text in enumerate(library)]
    started = time.process_time()
    index = BM25Index().updated([], texts)
    built = time.process_time() - started
    print(
        f"{len(texts):,} texts: built in {1000 * built / len(texts):.3f} ms CPU a text, "
        f"{index.nbytes / len(texts):.0f} bytes a text",
        flush=True,
    )
    order = np.random.default_rng(len(texts)).permutation(len(texts)).tolist()
    gates = [gate(index, texts, asked, "as built")]
    for batch in (1, 100, len(texts) // 3):
        other, others = changed(index, texts, order[:batch])
    gates.append(gate(other, others, asked, "a third deleted, as many added"))
    print("\n".join(map(str, gates)), flush=True)

    def of(score: Callable[[str, list[StoredText]], object]) -> Search:
        async def search(number: int) -> object:
            return score(asked[number].question, asked[number].among(texts))

        return search

    ours = of(lambda question, found: indexed(index, question, found))
    designs = {
        _INDEX: ours,
        "cut by our tokeniser and counted": of(
            lambda question, found: alone(question, found, SEGMENTED.terms)
        ),
        again(_INDEX): ours,
    }
    if not installed("jieba"):
        return Group.of(_INDEX, await side_by_side(designs, len(asked), _no_server), []), [_JIEBA]
    import jieba

    jieba.setLogLevel(60)
    jieba.initialize()
    designs = {_JIEBA: of(lambda question, found: alone(question, found, jieba.lcut)), **designs}
    goal = Goal("BM25 rerank of 40", _INDEX, _JIEBA, Measure.CPU, 40, tuple(gates))
    return Group.of("BM25 rerank", await side_by_side(designs, len(asked), _no_server), [goal]), []


async def _no_server() -> Sequence[int]:
    return ()
