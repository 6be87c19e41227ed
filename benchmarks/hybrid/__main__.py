"""Compare chunk search of a hundred tenants with plain designs: `python -m benchmarks.hybrid`.

    python -m benchmarks.hybrid [CHUNKS] [SEED] [--queries N] [--gate N] [--vectors PASSAGES QUESTIONS]
        [--database URL] [--json FILE]

All limits of chunk search in one run and, at its end, in one table: group, ratio with
its interval, limit, gates, noise floor and verdict. Without arguments 10,000 chunks and 60 questions, two to
three minutes; the limits are meant for `100000 2 --queries 300 --gate 1000`, and designs were chosen on
seed 1. Questions are spread evenly over large, middle and small tenants, half in the tenant's topics and half
outside. Every query runs through all designs of its group, in an order that turns; embedding is excluded.

Gates come first. A ratio whose gate has failed is void; the one at equal recall stands in where one table
finds less at 100 candidates than is asked of us. Ours runs twice (A/A), and a ratio whose interval or
noise floor holds the limit is *within noise*. The exit status is 1 where a goal is void.

`--vectors` names two NumPy files of vectors that a model gave real texts, instead of drawn ones; `--database`
a server of other settings, which nobody else may use meanwhile. ILIKE and N2 stand there by
the case rules of libc, which nearly every server has, and by the built-in ones of ours (`rivals.py`). The
packages in `requirements.txt` beside this file add N2, LanceDB, and jieba to the BM25 rerank.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.hybrid import bm25
from benchmarks.hybrid.bench import Bench
from benchmarks.hybrid.corpus import Library, make_library, worded
from benchmarks.hybrid.groups import hybrid_search, keyword_lane, vector_lane
from benchmarks.hybrid.report import Report
from benchmarks.hybrid.rivals import PlainTables
from benchmarks.hybrid.store import fill, settings_of
from benchmarks.quality.sets import parser_of
from sextant.domain.settings import Settings
from sextant.stores.postgresql.database import Database


@dataclass(frozen=True, slots=True)
class Run:
    """What is measured, and where.

    Attributes:
        name: of the library.
        queries: how many of its questions are timed.
        checked: over how many the gates of keywords are.
        settings: of the store.
    """

    name: str
    library: Library
    queries: int
    checked: int
    settings: Settings

    async def report(self) -> Report:
        """Build everything or take what is stored, check, measure; prints each group."""
        queries, chunks = self.queries, len(self.library.texts)
        print(f"{self.name}: {chunks} chunks, {queries} queries", flush=True)
        async with self._opened() as bench:
            vector, vector_gate = await vector_lane(bench, queries)
            keyword, keyword_gate = await keyword_lane(bench, queries)
            lanes = (vector_gate, keyword_gate)
            hybrid, missing = await hybrid_search(bench, queries, lanes, self.settings.data_dir)
        print("\n## BM25 rerank of 40")
        asked = bm25.asked_of(self.library, queries)
        reranked, without = await bm25.rerank(self.library.texts, asked)
        groups = vector, keyword, reranked, hybrid
        return Report.of(self.name, (chunks, queries, self.checked), groups, *without, *missing)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Bench]:
        """Store the library in our tables and in plain ones."""
        async with await Database.open(self.settings) as database:
            ids = await self._fill(database)
            plain = await PlainTables.open(database.owner_conninfo)
            wide = await PlainTables.open(database.owner_conninfo)
            words = worded(self.library, self.checked)
            try:
                yield Bench(self.library, ids, database, plain, wide, worded=words)
            finally:
                await plain.close()
                await wide.close()

    async def _fill(self, database: Database) -> list[UUID]:
        started = time.perf_counter()
        ids = await fill(database, self.library)
        print(f"stored after {time.perf_counter() - started:.0f} s", flush=True)
        await PlainTables.build(database.owner_conninfo, self.library)
        print(f"plain tables after {time.perf_counter() - started:.0f} s", flush=True)
        return ids


def main() -> int:
    """Make or read the library, measure, report; returns the exit status."""
    parser = parser_of(__doc__)
    parser.add_argument("chunks", type=int, nargs="?", default=10_000)
    parser.add_argument("seed", type=int, nargs="?", default=2)
    parser.add_argument("--queries", type=int, default=60, help="timed; default 60")
    parser.add_argument("--gate", type=int, default=0, help="checked; default those timed")
    parser.add_argument("--vectors", type=Path, nargs=2, metavar=("PASSAGES", "QUESTIONS"))
    parser.add_argument("--database", metavar="URL")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    chosen_on = " (the designs were chosen on it: report another)" if given.seed == 1 else ""
    name, gate = f"seed {given.seed}{chosen_on}", max(given.queries, given.gate)
    embedded = tuple(map(np.load, given.vectors)) if given.vectors else None
    library = make_library(given.chunks, gate, given.seed, embedded)
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as folder:
        settings = settings_of(Path(folder) / "data", len(library.texts), given.database)
        run = Run(name, library, given.queries, gate, settings)
        report = asyncio.run(run.report())
    return report.write(given.json)


if __name__ == "__main__":
    sys.exit(main())
