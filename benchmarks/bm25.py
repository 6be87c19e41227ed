"""The BM25 rerank of forty candidates beside cutting and counting them for every question.

    python -m benchmarks.bm25 [CHUNKS] [SEED]

The plain design is seed 003's layer without an index: the candidates are cut and BM25 is computed over
them alone, whose idf is wrong; with the same tokeniser, and with jieba where it is installed. The gate
comes first: the index gives the scores of BM25 over all texts to 1e-6, before and after a third of the
texts was deleted and as many were added. Goals (anchors: performance §7): 40 times less CPU; adding
and deleting at most 0.05 ms a text, cutting excluded.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from benchmarks.hybrid.corpus import Question, make_library
from retrievers.index.bm25_index import BM25Index, bm25_terms
from stores.rows import Text

CANDIDATES, QUESTIONS, CHECKED = 40, 200, 10
ALONE = 200  # texts that come and go one by one
K1, B = 1.2, 0.75

Cut = Callable[[str], list[str]]
Candidates = list[list[Text]]


def over(
    corpus: Sequence[Text], question: str, candidates: Sequence[Text], cut: Cut
) -> list[float]:
    """BM25 as the paper writes it, with the idf of `corpus`."""
    counts = {one.id: Counter(cut(one.searched)) for one in corpus}
    mean = sum(map(Counter.total, counts.values())) / len(counts)
    asked = set(cut(question))
    holders = {term: sum(term in other for other in counts.values()) for term in asked}
    scores = []
    for one in candidates:
        own, score = counts[one.id], 0.0
        for term in asked & own.keys():
            idf = math.log(1 + (len(counts) - holders[term] + 0.5) / (holders[term] + 0.5))
            norm = K1 * (1 - B + B * own.total() / mean)
            score += idf * own[term] * (K1 + 1) / (own[term] + norm)
        scores.append(score)
    return scores


def gate(index: BM25Index, texts: list[Text], asked: list[Question], chosen: Candidates) -> None:
    """Print the largest difference to BM25 over all texts."""
    worst = 0.0
    for question, candidates in list(zip(asked, chosen, strict=True))[:CHECKED]:
        true = over(texts, question.text, candidates, bm25_terms)
        ours = index.score(question.text, [(one.id, "") for one in candidates])
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
        "candidates cut and counted": lambda question, found: over(
            found, question, found, bm25_terms
        ),
    }
    if find_spec("jieba"):
        import jieba

        jieba.initialize()
        designs["the same, cut by jieba"] = lambda question, found: over(
            found, question, found, jieba.lcut
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


def main(chunks: int, seed: int) -> None:
    """The largest tenant of a made-up library: build, check, compare, change, check."""
    library = make_library(chunks, QUESTIONS, seed)
    own = library.rows_of(0)
    texts = [Text(row, str(row), library.texts[row]) for row in own]
    started = time.process_time()
    index = BM25Index().updated([], texts)
    built = time.process_time() - started
    print(
        f"{len(texts):,} texts: built in {1000 * built / len(texts):.3f} ms CPU a text, "
        f"{index.memory / len(texts):.0f} bytes a text"
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
    size, chosen_seed = (*map(int, sys.argv[1:]), *(10_000, 2)[len(sys.argv) - 1 :])
    main(size, chosen_seed)
