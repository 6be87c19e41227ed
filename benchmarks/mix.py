"""Measure the cost of the walk of `mix` on a large graph: `python -m benchmarks.mix [SEED]`.

Limits: PageRank on 100,000 entities with 600,000 relations ≤ 60 ms CPU; 2-hop expansion from five seeds in memory
≤ 1 ms median. Times are CPU of this process, the least and the median of several runs, so they hold on a loaded
machine. The graphs are made up from a seed: frequent entities by Pareto's law; every passage mentions six entities,
half of them title one. What a question takes, `benchmarks.growth` measures.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from benchmarks.quality.sets import numbers
from sextant.retrievers.index.walk import ScopeGraph, Subgraph, WalkIndex

QUESTIONS = 40
MENTIONS = 6


def made_up(passages: int, entities: int, relations: int, seed: int) -> ScopeGraph:
    """Return a graph with a few frequent entities and many rare ones."""
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(entities)

    def frequent(count: int) -> np.ndarray:
        return numbers[np.minimum((rng.pareto(1.2, count) * 50).astype(np.int64), entities - 1)]

    mentioning = rng.integers(0, max(passages, 1), MENTIONS * passages)
    mentions = np.unique(np.stack([mentioning, frequent(len(mentioning))], 1), axis=0)
    edges = np.stack(
        [frequent(relations), rng.integers(0, entities, relations), rng.integers(0, 50, relations)],
        axis=1,
    )
    edges = edges[edges[:, 0] != edges[:, 1]]
    titled = np.arange(passages // 2)
    return ScopeGraph(
        passages=passages,
        entities=entities,
        types=50,
        mentions=mentions,
        titles=np.stack([titled, titled], 1),
        relations=edges,
        relation_weights=rng.random(len(edges)).astype(np.float32) + np.float32(0.1),
        statements=np.empty((0, 2), np.int64),
    )


def cpu_ms(works: Iterable[Callable[[], object]]) -> str:
    """Return least and median CPU milliseconds of some work."""
    spent = []
    for work in works:
        before = time.process_time()
        work()
        spent.append((time.process_time() - before) * 1000)
    return f"{min(spent):.2f} ms CPU at least, {statistics.median(spent):.2f} median"


def measure_walks(seed: int) -> None:
    """Time the walk over all of a graph, over entities alone and with passages, and the expansion."""
    rng = np.random.default_rng(seed)
    for passages in (0, 100_000):
        before = time.process_time()
        index = WalkIndex(made_up(passages, 100_000, 600_000, seed))
        built = time.process_time() - before
        at_passage = np.zeros(passages, np.float32)
        at_passage[: min(20, passages)] = 1 / 20
        five_entities = rng.choice(100_000, 5, replace=False).tolist()
        at_entity = {} if passages else dict.fromkeys(five_entities, 1 / 5)
        fit = rng.random(passages).astype(np.float32)
        whole = Subgraph(index, np.arange(passages), np.arange(100_000))
        name = f"walk, {passages:,} passages, 100,000 entities, 600,000 relations"
        print(f"{name}: built in {built:.1f} s CPU")
        for label, match in (("", {}), (", two types named", {3: 1.0, 7: 0.4})):
            walked = cpu_ms(15 * [partial(whole.walk, at_passage, at_entity, fit, match)])
            print(f"  a question{label}: {walked} (limit 60)")
        starts = rng.integers(0, 100_000, (300, 5))
        hops = cpu_ms([partial(index.relations.expand, five) for five in starts])
        print(f"  two hops from five: {hops} (limit 1)")


if __name__ == "__main__":
    measure_walks(*numbers(__doc__, seed=1))
