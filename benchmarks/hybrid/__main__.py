"""Compare chunk search of a hundred tenants with plain designs: `python -m benchmarks.hybrid`.

    python -m benchmarks.hybrid [CHUNKS] [SEED] [--queries N] [--vectors PASSAGES QUESTIONS]

Without arguments 10,000 chunks and 60 questions, two to three minutes; the limits are meant for `100000 2 --queries 300`,
and rivals gain by every chunk less. Designs were chosen on seed 1. Questions are spread evenly over large, middle and
small tenants, half in the tenant's topics and half outside. Every query runs through all designs of its group, in an
order that turns; embedding is excluded. Ratios have their 95 % interval, and count while what is found is as right as
asked for: recall, counts as by ILIKE, the ten of exact lanes.

`--vectors` names two NumPy files of vectors that a model gave real texts, instead of drawn ones. ILIKE and N2 stand there
by the case rules of libc, which nearly every server has, and by the built-in ones of ours (`rivals.py`). The
packages in `requirements.txt` beside this file add N2, LanceDB, and jieba to the BM25 rerank.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.figures import record
from benchmarks.hybrid.bench import RECALL, Bench
from benchmarks.hybrid.bm25 import rerank
from benchmarks.hybrid.corpus import Library, make_library
from benchmarks.hybrid.measuring import CPU, OURS, P50, P95, Limits, Search, report, side_by_side
from benchmarks.hybrid.rivals import Lance, PlainTables, installed
from benchmarks.hybrid.store import fill, settings_of
from benchmarks.quality.sets import parser_of
from sextant.stores.postgresql.database import Database


async def measure(library: Library, data_dir: Path, queries: int) -> None:
    """Store the library in our tables and in plain ones, and measure each group of searches."""
    settings = settings_of(data_dir, len(library.texts))
    async with await Database.open(settings) as database:
        started = time.perf_counter()
        ids = await fill(database, library)
        print(f"stored after {time.perf_counter() - started:.0f} s", flush=True)
        await PlainTables.build(database.owner_conninfo, library)
        print(f"plain tables after {time.perf_counter() - started:.0f} s", flush=True)
        plain = await PlainTables.open(database.owner_conninfo)
        try:
            bench = Bench(library, ids, database, plain)
            await vector_lane(bench, queries)
            await keyword_lane(bench, queries)
            await hybrid_search(bench, queries, data_dir)
        finally:
            await plain.close()
    await rerank(library, queries)


async def vector_lane(bench: Bench, queries: int) -> None:
    """Compare the ten nearest with one table that looks at as many candidates as our recall takes."""
    print("\n## Vector lane, 10 nearest")
    (await bench.recall(bench.vector_rows)).report(OURS)
    rival = f"one HNSW table at ef_search {await bench.widen()}"
    (await bench.recall(bench.one_table)).report(rival)
    designs: dict[str, Search] = {rival: bench.one_table, OURS: bench.vector_ids}
    await _compare(bench, "vector lane", designs, {rival: {CPU: 4}}, queries)


async def keyword_lane(bench: Bench, queries: int) -> None:
    """Compare the best twenty by distinct keywords with ILIKE, by either case rules."""
    print("\n## Keyword lane, best 20")
    record("queries whose counts are those of ILIKE", await bench.equal_counts(), "", least=1)
    rivals = {f"ILIKE{name}": bench.ilike(rules) for name, rules in bench.case_rules.items()}
    limits: dict[str, Limits] = {rival: {CPU: 40} for rival in rivals}
    await _compare(bench, "keyword lane", {**rivals, OURS: bench.keyword_ids}, limits, queries)


async def hybrid_search(bench: Bench, queries: int, folder: Path) -> None:
    """Compare the best ten with their texts with N2 and LanceDB, where these are installed."""
    print("\n## Hybrid search, best 10 with text")
    record("share of the ten of exact lanes", await bench.overlap(), "", least=RECALL)
    designs: dict[str, Search] = {OURS: bench.hybrid}
    limits = dict[str, Limits]()
    if installed("jieba", "rank_bm25"):
        for name, rules in bench.case_rules.items():
            rival = f"a naive build{name}"
            designs[rival], limits[rival] = bench.naive(rules), {P50: 20, P95: 35}
    if installed("lancedb"):
        lance = await asyncio.to_thread(Lance, folder / "lance", bench.library)
        designs["LanceDB"] = lambda number: lance.search(bench.questions[number])
        limits["LanceDB"] = {P50: 2, P95: 2}
    await _compare(bench, "hybrid", designs, limits, queries)


async def _compare(
    bench: Bench,
    group: str,
    designs: dict[str, Search],
    limits: dict[str, Limits],
    queries: int,
) -> None:
    report(group, await side_by_side(designs, queries, bench.backends), limits)


def main() -> None:
    """Make or read the library, and measure."""
    parser = parser_of(__doc__)
    parser.add_argument("chunks", type=int, nargs="?", default=10_000)
    parser.add_argument("seed", type=int, nargs="?", default=2)
    parser.add_argument("--queries", type=int, default=60, help="timed; default 60")
    parser.add_argument("--vectors", type=Path, nargs=2, metavar=("PASSAGES", "QUESTIONS"))
    given = parser.parse_args()
    embedded = tuple(map(np.load, given.vectors)) if given.vectors else None
    library = make_library(given.chunks, given.queries, given.seed, embedded)
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as folder:
        asyncio.run(measure(library, Path(folder) / "data", given.queries))


if __name__ == "__main__":
    main()
