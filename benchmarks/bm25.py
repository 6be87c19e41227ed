"""The BM25 rerank of forty candidates beside cutting and counting them for every question.

    python -m benchmarks.bm25 [TEXTS] [SEED]

The plain design is seed 003's layer without an index: the candidates are cut and BM25 is computed over
them alone, whose idf is wrong; with the same tokeniser, and with jieba where it is installed. The gate
comes first: the index gives the scores of BM25 over all texts to 1e-6, before and after a third of the
texts was deleted and as many were added. Goals (anchors: performance §7): 40 times less CPU; adding
and deleting at most 0.05 ms a text, cutting excluded.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from benchmarks.hybrid.corpus import Question, make_library
from evals.arguments import numbers
from retrievers.hybrid_retriever.bm25_index import BM25Index, bm25_terms
from stores.rows import Text

CANDIDATES, QUESTIONS, CHECKED = 40, 200, 10
ALONE = 200  # texts that come and go one by one
K1, B = 1.2, 0.75

Cut = Callable[[str], list[str]]
Candidates = list[list[Text]]


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
    """BM25 as the paper writes it, with the idf of what is known."""
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


def alone(question: str, candidates: Sequence[Text], cut: Cut) -> list[float]:
    """The candidates cut, counted and scored as if there were no other texts."""
    asked = set(cut(question))
    counts = [Counter(cut(one.searched)) for one in candidates]
    return scored(Known.of(counts, asked), asked, counts)


def gate(index: BM25Index, texts: list[Text], asked: list[Question], chosen: Candidates) -> None:
    """Print the largest difference to BM25 over all texts."""
    checked = [
        (question.text, set(bm25_terms(question.text)), candidates)
        for question, candidates in list(zip(asked, chosen, strict=True))[:CHECKED]
    ]
    every = set[str]().union(*(terms for _, terms, _ in checked))
    known = Known.of((Counter(bm25_terms(one.searched)) for one in texts), every)
    worst = 0.0
    for text, terms, candidates in checked:
        true = scored(known, terms, [Counter(bm25_terms(one.searched)) for one in candidates])
        ours = index.score(text, [(one.id, "") for one in candidates])
        worst = max(worst, float(np.abs(np.subtract(true, ours)).max()))
    print(
        f"gate {'held' if worst <= 1e-6 else 'FAILED'}: largest difference {worst:.1e}", flush=True
    )


def changed(index: BM25Index, texts: list[Text], batch: int) -> tuple[BM25Index, list[Text]]:
    """The index with as many of its texts gone, and as many new ones; prints what each cost."""
    gone, kept = texts[:batch], texts[batch:]
    fresh = [Text(("new", one.id), f"new-{one.id}", one.searched[::-1]) for one in gone]
    turns = max(1, ALONE // batch)
    cutting = spent(turns, lambda: [bm25_terms(one.searched) for one in fresh])
    deleting = spent(turns, lambda: index.updated([one.part for one in gone], []))
    less = index.updated([one.part for one in gone], [])
    more = less.updated([], fresh)
    adding = spent(turns, lambda: less.updated([], fresh)) - cutting
    print(
        f"{batch} texts at once: delete {deleting / batch:.3f} ms a text, "
        f"add {adding / batch:.3f} ms, cutting {cutting / batch:.3f} ms"
    )
    return more, [*kept, *fresh]


def spent(turns: int, work: Callable[[], object]) -> float:
    """CPU milliseconds of doing something, on average over some turns."""
    started = time.process_time()
    for _ in range(turns):
        work()
    return 1000 * (time.process_time() - started) / turns


def compare(index: BM25Index, asked: list[Question], chosen: Candidates) -> None:
    """Print the CPU of every design, in turns, and how many times the index's it is."""
    designs: dict[str, Callable[[str, list[Text]], object]] = {
        "index": lambda question, found: index.score(question, [(one.id, "") for one in found]),
        "index again (A/A)": lambda question, found: index.score(
            question, [(one.id, "") for one in found]
        ),
        "candidates cut and counted": lambda question, found: alone(question, found, bm25_terms),
    }
    if find_spec("jieba"):
        import jieba

        jieba.initialize()
        designs["the same, cut by jieba"] = lambda question, found: alone(
            question, found, jieba.lcut
        )
    seconds = dict.fromkeys(designs, 0.0)
    for number, (question, candidates) in enumerate(zip(asked, chosen, strict=True)):
        turns = list(designs.items())
        at = number % len(turns)
        for name, design in [*turns[at:], *turns[:at]]:
            started = time.process_time()
            design(question.text, candidates)
            seconds[name] += time.process_time() - started
    for name, own in seconds.items():
        ratio = own / seconds["index"]
        print(f"{name:28} {1000 * own / len(asked):8.3f} ms CPU a question, {ratio:6.1f}x")


def main(size: int, seed: int) -> None:
    """A made-up library of one tenant: build, check, compare, change, check."""
    library = make_library(size, QUESTIONS, seed, number_of_tenants=1)
    own = library.rows_of(0)
    texts = [Text(row, str(row), library.texts[row]) for row in own]
    started = time.process_time()
    index = BM25Index().updated([], texts)
    built = time.process_time() - started
    print(
        f"{len(texts):,} texts: built in {1000 * built / len(texts):.3f} ms CPU a text, "
        f"{index.memory / len(texts):.0f} bytes a text",
        flush=True,
    )
    asked, rng = library.questions[:QUESTIONS], np.random.default_rng(seed)

    def drawn(some: list[Text]) -> Candidates:
        return [[some[at] for at in rng.choice(len(some), CANDIDATES)] for _ in asked]

    chosen = drawn(texts)
    gate(index, texts, asked, chosen)
    compare(index, asked, chosen)
    changed(index, texts, 1)
    changed(index, texts, 100)
    index, texts = changed(index, texts, len(texts) // 3)
    gate(index, texts, asked, drawn(texts))


if __name__ == "__main__":
    main(*numbers(__doc__, texts=10_000, seed=2))
