"""Measure how the time of the graph modes grows with the knowledge base: a small and a large one by turns.

    python -m benchmarks.growth [SMALL LARGE] [--data FOLDER] [--rounds N]

Limit: from 2,000 to 100,000 chunks no more than the logarithm grows, 1.515 times. SMALL and LARGE
are numbers of passages of `benchmarks.versus_lightrag`; 1,540 and 76,800 make 2,000 and 100,000 chunks, which
FOLDER keeps: storing them takes a quarter of an hour, once. Without it 500 and 5,000 are stored for a while.

Both knowledge bases hold the passages that are asked about, so the questions are the same. All questions of a
mode are asked of one, then of the other, in one process with its texts in memory, for 20 results. Of each
question the least of all rounds counts: what the work takes when nothing disturbs it.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figures import record
from benchmarks.peer.corpus import Question, make_corpus
from benchmarks.quality.sets import parser_of
from benchmarks.versus_lightrag import MODES, InstantEmbedder
from sextant.domain.retrieval import Mode
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.graph.dependencies import dependencies_over
from sextant.models.embedding.cache import CachedEmbedder
from sextant.retrievers.graph_retriever import GraphRetriever

_KEPT, _FOR_A_WHILE = (1_540, 76_800), (500, 5_000)
_AT_ONCE = 8_000
_RESULTS = 20
_GRAPH_MODES = [mode for mode in MODES if mode is not Mode.NAIVE]

# Milliseconds by mode and question.
Times = defaultdict[tuple[Mode, str], list[float]]


@dataclass(frozen=True)
class Asked:
    """A knowledge base, and what questions to it took."""

    scope: Scope
    chunks: int
    times: Times = field(default_factory=lambda: defaultdict(list))

    async def ask(self, retriever: GraphRetriever, mode: Mode, question: str) -> None:
        """Ask once."""
        started = time.perf_counter()
        await retriever.search(self.scope, question, mode=mode, top_k=_RESULTS)
        self.times[mode, question].append((time.perf_counter() - started) * 1000)


def least(times: Times, mode: Mode) -> float:
    """Return the median question of a mode, of each the least."""
    return statistics.median(min(took) for (one, _), took in times.items() if one is mode)


async def store(rag: Sextant, passages: int, graph: str) -> None:
    """Store so many passages."""
    corpus = make_corpus(passages)
    for start in range(0, passages, _AT_ONCE):
        end = min(start + _AT_ONCE, passages)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in corpus.documents(start, end):
                (Path(folder) / name).write_text(text, encoding="utf-8")
            await rag.ingest([Path(folder)], graph_id=graph)
        print(f"{graph}: {end:,} passages stored", flush=True)


async def warmed(retriever: GraphRetriever, scope: Scope, questions: Sequence[Question]) -> Asked:
    """Return a knowledge base whose index is in memory, each of its questions asked once."""
    assert retriever.indexes is not None  # so they are opened
    index = await retriever.indexes.get(scope)
    asked = Asked(scope, len(index.chunk_ids))
    for mode in _GRAPH_MODES:
        for question in questions:
            await asked.ask(retriever, mode, question.text)
    asked.times.clear()
    return asked


async def measure(folder: Path, sizes: Sequence[int], rounds: int) -> list[Asked]:
    """Store what is not stored yet, then ask by turns."""
    settings = Settings(
        _env_file=None, data_dir=folder / "data", database_url=None, embedding="instant"
    )
    embedder = CachedEmbedder(InstantEmbedder(), 0)
    questions = make_corpus(sizes[0]).questions
    async with (
        Sextant.open(settings, embedder=embedder) as rag,
        dependencies_over(rag.database, embedder) as dependencies,
    ):
        bases = []
        for size in sizes:
            graph = f"of-{size}"
            if not (done := folder / graph).exists():
                await store(rag, size, graph)
                done.touch()
            scope = Scope(rag.user_id, graph)
            bases.append(await warmed(dependencies.retriever, scope, questions))
        for _ in range(rounds):
            for mode in _GRAPH_MODES:
                for base in bases:
                    for question in questions:
                        await base.ask(dependencies.retriever, mode, question.text)
    return bases


def report(small: Asked, large: Asked) -> None:
    """Report what each mode took, and how it grew."""
    limit = math.log(large.chunks) / math.log(small.chunks)
    print(f"from {small.chunks:,} to {large.chunks:,} chunks (limit {limit:.3f}x)")
    for mode in _GRAPH_MODES:
        one, other = least(small.times, mode), least(large.times, mode)
        print(f"  {mode.value:<7} {one:.2f} -> {other:.2f} ms")
        name = f"growth of `{mode.value}` to {large.chunks:,} chunks"
        record(name, other / one, "times", most=limit)


def main() -> None:
    """In a folder that stays, or in one that does not."""
    parser = parser_of(__doc__)
    parser.add_argument("sizes", type=int, nargs="*", metavar="PASSAGES")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    if len(given.sizes) not in (0, 2):
        parser.error("name two sizes, or none")
    sizes = given.sizes or (_KEPT if given.data else _FOR_A_WHILE)
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
        data = given.data or Path(folder)
        report(*asyncio.run(measure(data, sizes, given.rounds)))


if __name__ == "__main__":
    main()
