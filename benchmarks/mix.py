"""What `mix` costs: the walk on a large graph, and a question over a scope of a given size.

    python -m benchmarks.mix [PASSAGES] [SEED]

Limits: PageRank on 100,000 entities with 600,000 relations ≤ 60 ms CPU; 2-hop expansion from
five seeds in memory ≤ 1 ms median. Times of the walk are CPU of this process, the least and the
median of several runs, so they hold on a loaded machine; those of a question are also wall time. The
graphs are made up from a seed: frequent entities by Pareto's law, texts and vectors as in
`benchmarks.store`; every passage mentions six entities, half of them title one.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from uuid import UUID, uuid4

import numpy as np

from benchmarks.store import Meter, backend_of, make_corpus, store
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.sets import numbers
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.retrievers.index.graph.walk import ScopeGraph, Subgraph, WalkIndex
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.retrievers.ranking.mix_ranker import (
    count_nearest,
)
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.ids import entity_id
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder

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


def evidence_of(scope: Scope, chunks: list[UUID], seed: int) -> GraphEvidence:
    """Return six entities a passage, and what is said about two of them."""
    rng = np.random.default_rng(seed)
    entities = max(len(chunks), 10)
    picks = np.minimum((rng.pareto(1.2, (len(chunks), MENTIONS)) * 50).astype(int), entities - 1)
    mentions, relations = [], []
    for number, (chunk, row) in enumerate(zip(chunks, picks.tolist(), strict=True)):
        names = [f"Subject {one}" for one in dict.fromkeys(row)]
        ids = [entity_id(scope, name) for name in names]
        pairs = zip(ids, names, strict=True)
        mentions += [MentionRow(one, chunk, MentionKind.MODEL, name) for one, name in pairs]
        if number % 2:
            title = f"Subject {number}"
            mentions.append(MentionRow(entity_id(scope, title), chunk, MentionKind.TITLE, title))
        if len(ids) > 1:
            relations.append(RelationRow(ids[0], ids[1], f"kind {number % 20}", chunk, 1.0))
    return GraphEvidence(mentions, relations)


async def measure_questions(passages: int, seed: int) -> None:
    """Time a question from end to end, and the vector search in it."""
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
        options = Settings(_env_file=None, data_dir=folder, database_url=None, database_pool=1)
        async with await Database.open(options) as database:
            scope, chunks = Scope("bench", str(uuid4())), ChunkStore(database)
            corpus = make_corpus(passages, seed)
            await store(database, scope, corpus)
            ids = [passage.id for passage in await chunks.passages(scope)]
            await GraphRecord(database).add(scope, evidence_of(scope, ids, seed))
            indexes = ScopeIndexes(chunks, GraphRecord(database), passages)
            peak, before = _peak(), time.process_time()
            started = time.perf_counter()
            await indexes.get(scope)
            print(
                f"index of {passages:,} passages: {time.perf_counter() - started:.1f} s, "
                f"{(time.process_time() - before) * 1e6 / passages:.0f} us CPU a passage, "
                f"peak memory grew by {_peak() - peak:.0f} MB"
            )
            meter = Meter(await backend_of(database, scope))
            wanted, queries = count_nearest(passages), corpus.vectors[:QUESTIONS]
            searches: dict[str, Callable[[Scope, Vectors, int], Awaitable[object]]] = {
                f"the {wanted} nearest, whole": chunks.vector_search,
                f"the {wanted} nearest, ids and cosines": chunks.nearest,
            }
            for name, search in searches.items():
                await timed(name, meter, [partial(search, scope, one, wanted) for one in queries])
            retriever = GraphRetriever(
                chunks=chunks, embedder=HashEmbedder(384), settings=options, indexes=indexes
            )
            questions = [question_of(text, n) for n, text in enumerate(corpus.texts[:QUESTIONS])]
            for mode in ("naive", "local", "mix"):
                ask = partial(retriever.search, scope, mode=mode)
                await timed(f"a question, {mode}", meter, [partial(ask, one) for one in questions])


def question_of(text: str, number: int) -> str:
    """Make some words of a passage and the name of an entity."""
    return f"What of {' '.join(text[:40].split()[:6])} has Subject {number} to do with?"


async def timed(name: str, meter: Meter, asked: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Print wall and CPU time of asynchronous calls, one after the other."""
    walls, (client, server) = [], meter.read()
    for ask in asked:
        started = time.perf_counter()
        await ask()
        walls.append((time.perf_counter() - started) * 1000)
    client_then, server_then = meter.read()
    print(
        f"{name}: p50 {statistics.median(walls):.1f} ms, p95 {np.percentile(walls, 95):.1f} ms, CPU "
        f"{(client_then - client) * 1000 / len(asked):.1f} ms client "
        f"{(server_then - server) * 1000 / len(asked):.1f} ms server",
        flush=True,
    )


def _peak() -> float:
    """Return largest resident size so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    size, number = numbers(__doc__, passages=5_000, seed=1)
    measure_walks(number)
    asyncio.run(measure_questions(size, number))
