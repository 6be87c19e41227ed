"""Chunk search of a hundred tenants beside plain designs: `python -m benchmarks.hybrid`.

    python -m benchmarks.hybrid [CHUNKS] [SEED] [QUERIES] [GATE_QUERIES] [--vectors PASSAGES QUESTIONS]
    python -m benchmarks.hybrid --harness FOLDER [--database URL]

Without numbers: 10,000 chunks and 60 questions, some two minutes. Figures to report are those of
`100000 2 300 1000`; designs were chosen on seed 1. Questions are spread evenly over large, middle and
small tenants, half in the tenant's topics and half outside. Every query runs through all designs of
its group, in an order that turns; embedding is excluded. Gates come first; a row whose gate fails is
worth nothing. The rival of the vector lane stands there twice: at 100 candidates, and at as many as it
takes for a recall of 0.99 in every size and kind. `--vectors` names two NumPy files of vectors that a
model gave real texts, instead of drawn ones. `--harness` takes the library, with its questions, over which
the limits were set (`harness.py`); `--database` a server of other settings, which nobody else may use
meanwhile. ILIKE and N2 stand there by the case rules of libc, which nearly every server has, and by the
built-in ones of ours (`rivals.py`). The packages in `requirements.txt` beside this file add N2 and LanceDB.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.hybrid import memory
from benchmarks.hybrid.corpus import Library, make_library
from benchmarks.hybrid.harness import read_library
from benchmarks.hybrid.measuring import Recall, Search, side_by_side, table
from benchmarks.hybrid.ours import Ours
from benchmarks.hybrid.rivals import BUILT_IN, WANTED, WIDTHS, Lance, Naive, PlainTables, installed
from benchmarks.hybrid.store import fill, scope_of, settings_of
from domain.settings import Settings
from evals.arguments import parser_of
from retrievers.memory.hot import HotScopes
from stores.chunks.chunk_store import ChunkHit
from stores.postgresql.binary import Nearest
from stores.postgresql.database import Database

_ONE_TABLE, _ILIKE, _NAIVE = "one table, HNSW + b-tree", "ILIKE + b-tree", "N2, naive build"
_BUILT_IN = ", built-in case rules"
# The recall that the vector lane must have for tenants of every size, in their topics and off them.
_RECALL = 0.99


class Bench(Ours):
    """Everything that is measured, over one library."""

    def __init__(
        self,
        library: Library,
        ids: list[UUID],
        database: Database,
        plain: PlainTables,
        wide: PlainTables,
    ) -> None:
        super().__init__(database, library.questions)
        self.library, self.plain, self.wide = library, plain, wide
        self._rows = {one: row for row, one in enumerate(ids)}

    async def backends(self) -> list[int]:
        """The server processes of all connections, the rivals' too."""
        return [*{self.plain.backend, self.wide.backend, *await super().backends()}]

    async def one_table(self, number: int) -> list[int]:
        """The rival's vector lane."""
        return await self.plain.nearest(self.questions[number], 10)

    async def one_table_wide(self, number: int) -> list[int]:
        """The same, looking at as many candidates as it takes to be as exact as ours."""
        return await self.wide.nearest(self.questions[number], 10)

    async def vector_rows(self, number: int) -> list[int]:
        """Our vector lane, by row."""
        return self.rows(await self.vector_ids(number))

    async def vector_chunks(self, number: int) -> list[ChunkHit]:
        """Our vector lane, whole chunks."""
        question = self.questions[number]
        return await self.chunks.vector_search(scope_of(question.tenant), question.vector, 10)

    def ilike(self, collation: str) -> Search:
        """The rival's keyword lane."""

        async def search(number: int) -> dict[int, int]:
            return await self.plain.counted(self.questions[number], collation=collation)

        return search

    def naive(self, collation: str) -> Search:
        """The naive build's hybrid search."""
        naive = Naive(self.plain, collation)
        return lambda number: naive.search(self.questions[number])

    @property
    def case_rules(self) -> dict[str, str]:
        """The collations by which ILIKE is measured, by what is added to a design's name."""
        return {**({"": self.plain.libc} if self.plain.libc else {}), _BUILT_IN: BUILT_IN}

    async def keyword_chunks(self, number: int) -> list[ChunkHit]:
        """Our keyword lane, whole chunks."""
        question = self.questions[number]
        scope = scope_of(question.tenant)
        return await self.chunks.keyword_search(scope, question.keywords, WANTED)

    def rows(self, found: Nearest) -> list[int]:
        """The rows of chunks."""
        return [self._rows[UUID(int=high << 64 | low)] for high, low in found.ids.tolist()]

    async def recall(self, search: Search) -> Recall:
        """Recall@10 of every size and kind; short results."""
        recall = Recall()
        for number, question in enumerate(self.questions):
            found = await search(number)
            assert isinstance(found, list)
            recall.add(question, found, *self.library.nearest(question))
        return recall

    async def widened(self) -> tuple[int, Recall]:
        """The least width at which the one table's recall is what it must be; the widest if none is."""
        for width in WIDTHS:
            await self.wide.look_at(width)
            recall = await self.recall(self.one_table_wide)
            if recall.least >= _RECALL:
                break
        return width, recall

    async def gate_keywords(self) -> str:
        """The best 20 have the counts that ILIKE gives them, and no others have more."""
        checked = [await self._same_counts(number) for number in range(len(self.questions))]
        return (
            f"best {WANTED} as ILIKE counts them in {sum(same for same, _ in checked)} of "
            f"{len(checked)} queries, all chunks and counts the same in "
            f"{sum(whole for _, whole in checked)}"
        )

    async def _same_counts(self, number: int) -> tuple[bool, bool]:
        true = await self.plain.counted(self.questions[number], None)
        chunks, held = await self.keyword_chunks(number), await self.keyword_ids(number, 10**6)
        best = {self._rows[hit.chunk.id]: int(hit.score) for hit in chunks}
        scores = map(int, held.cosines.tolist())
        everything = dict(zip(self.rows(held), scores, strict=True))
        right = all(true.get(row) == count for row, count in best.items())
        most = sorted(true.values(), reverse=True)[:WANTED]
        return right and sorted(best.values(), reverse=True) == most, everything == true


async def run(library: Library, queries: int, settings: Settings) -> None:
    """Build everything, check, measure, print."""
    started = time.perf_counter()
    print(
        f"{len(library.texts)} chunks, {queries} queries, gates over {len(library.questions)}",
        flush=True,
    )
    async with await Database.open(settings) as database:
        ids = await fill(database, library)
        print(f"stored after {time.perf_counter() - started:.0f} s", flush=True)
        plain = await PlainTables.build(database.owner_conninfo, library)
        print(f"plain tables after {time.perf_counter() - started:.0f} s", flush=True)
        wide = await PlainTables.open(database.owner_conninfo)
        bench = Bench(library, ids, database, plain, wide)
        try:
            await measure(bench, settings.data_dir, queries)
        finally:
            await plain.close()
            await wide.close()
    print(f"all in {time.perf_counter() - started:.0f} s")


async def measure(bench: Bench, folder: Path, queries: int) -> None:
    """Gates, then the three groups of designs."""
    scopes = HotScopes(bench.database)
    hot = memory.InMemory(scopes, bench.retriever, bench.questions, scope_of)
    print(await hot.pack(await bench.backends()), flush=True)
    by_vector, by_keyword, by_both = memory.designs(hot)

    async def in_memory(number: int) -> list[int]:
        return bench.rows(await hot.vector(number))

    print("\n## Vector lane, 10 nearest")
    width, wide = await bench.widened()
    as_exact = f"the same at ef_search {width}"
    print("one table:", await bench.recall(bench.one_table))
    print(f"{as_exact}:", wide)
    print("ours:", await bench.recall(bench.vector_rows))
    print("ours, in memory:", await bench.recall(in_memory), flush=True)
    vector: dict[str, Search] = {
        _ONE_TABLE: bench.one_table,
        "ours, ids": bench.vector_ids,
        as_exact: bench.one_table_wide,  # between ours: whoever follows it finds other pages cached
        "ours, whole chunks": bench.vector_chunks,
        **by_vector,
    }
    await compared(bench, vector, queries, [_ONE_TABLE, as_exact])
    print("\n## Keyword lane, best 20")
    print("ours:", await bench.gate_keywords())
    print("ours, in memory:", await hot.gate(), flush=True)
    ilike = {_ILIKE + name: bench.ilike(rules) for name, rules in bench.case_rules.items()}
    keyword: dict[str, Search] = {
        **ilike,
        "ours, ids": bench.keyword_ids,
        "ours, whole chunks": bench.keyword_chunks,
        **by_keyword,
    }
    await compared(bench, keyword, queries, list(ilike))
    print("\n## Hybrid search, best 10 with text")
    hybrid: dict[str, Search] = {"ours": bench.hybrid, **by_both}
    rivals: list[str] = []
    if installed("jieba", "rank_bm25"):
        naive = {_NAIVE + name: bench.naive(rules) for name, rules in bench.case_rules.items()}
        hybrid.update(naive)
        rivals.extend(naive)
    hybrid["ours again (A/A)"] = bench.hybrid  # not beside the first, which would warm the caches
    if installed("lancedb"):
        lance = await asyncio.to_thread(Lance, folder / "lance", bench.library)
        hybrid["LanceDB hybrid"] = lambda number: lance.search(bench.questions[number])
        rivals.append("LanceDB hybrid")
    await compared(bench, hybrid, queries, [*rivals, "ours again (A/A)"])


async def compared(
    bench: Bench, designs: Mapping[str, Search], queries: int, rivals: list[str]
) -> None:
    """Measure and print."""
    print(table(await side_by_side(designs, queries, bench.backends), rivals), flush=True)


def main() -> None:
    """Make or read the library, and measure."""
    parser = parser_of(__doc__)
    defaults = {"chunks": 10_000, "seed": 1, "queries": 60, "gate": 60}
    for argument, default in defaults.items():
        parser.add_argument(argument, type=int, nargs="?", default=default)
    parser.add_argument("--vectors", type=Path, nargs=2, metavar=("PASSAGES", "QUESTIONS"))
    parser.add_argument("--harness", type=Path, metavar="FOLDER")
    parser.add_argument("--database", metavar="URL")
    given = parser.parse_args()
    if given.harness:
        library = read_library(given.harness)
        queries = len(library.questions)
    else:
        embedded = tuple(map(np.load, given.vectors)) if given.vectors else None
        queries = given.queries
        library = make_library(given.chunks, max(queries, given.gate), given.seed, embedded)
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as folder:
        settings = settings_of(Path(folder) / "data", len(library.texts), given.database)
        asyncio.run(run(library, queries, settings))


if __name__ == "__main__":
    main()
