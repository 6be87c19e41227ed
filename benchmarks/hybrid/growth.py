"""What a search takes as the library grows.

    python -m benchmarks.hybrid.growth CHUNKS --data FOLDER [--vectors PASSAGES QUESTIONS]

The first run stores the library of `benchmarks.hybrid` in
the folder, which takes an hour for a million chunks, and ends; each later one asks it 150 questions,
through PostgreSQL and in memory, without rivals.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.hybrid import memory
from benchmarks.hybrid.corpus import Question, make_library
from benchmarks.hybrid.gates import Recall
from benchmarks.hybrid.measuring import Search, Spent, side_by_side, table
from benchmarks.hybrid.ours import Ours
from benchmarks.hybrid.store import fill, scope_of, settings_of
from sextant.evals.sets import parser_of
from sextant.retrievers.index.scope_cache import ScopeCache
from sextant.stores.postgresql.database import Database

_SEED, _QUESTIONS = 2, 150
_ASKED = "asked.pickle"


@dataclass(frozen=True)
class Asked:
    """A question, and the halves of the ids of chunks nearer than the tenth nearest, and as near."""

    question: Question
    nearer: frozenset[tuple[int, int]]
    equal: frozenset[tuple[int, int]]


async def build(chunks: int, folder: Path, vectors: Sequence[Path] | None) -> None:
    """Store the library, and beside it what is asked of it."""
    started = time.perf_counter()
    embedded = (np.load(vectors[0]), np.load(vectors[1])) if vectors else None
    library = make_library(chunks, _QUESTIONS, _SEED, embedded)
    print(f"{chunks} chunks made in {time.perf_counter() - started:.0f} s", flush=True)
    async with await Database.open(settings_of(folder / "data", chunks)) as database:
        ids = await fill(database, library)
    asked = [
        Asked(
            question,
            *(
                frozenset(divmod(ids[row].int, 2**64) for row in rows)
                for rows in library.nearest(question)
            ),
        )
        for question in library.questions
    ]
    (folder / _ASKED).write_bytes(pickle.dumps(asked))
    print(f"stored after {time.perf_counter() - started:.0f} s", flush=True)


class Growth(Ours):
    """Our searches, and what is nearest to each question."""

    def __init__(self, database: Database, asked: Sequence[Asked]) -> None:
        super().__init__(database, [one.question for one in asked])
        self.asked = asked
        self.memory = memory.InMemory(
            ScopeCache(database), self.retriever, self.questions, scope_of
        )

    async def recall(self) -> Recall:
        """Of the vector lane."""
        recall = Recall()
        for number, asked in enumerate(self.asked):
            found = {(high, low) for high, low in (await self.vector_ids(number)).ids.tolist()}
            recall.add(asked.question, found, asked.nearer, asked.equal)
        return recall


async def measure(chunks: int, folder: Path) -> None:
    """Recall, then what each search takes: through PostgreSQL, and in memory."""
    asked = pickle.loads((folder / _ASKED).read_bytes())  # noqa: S301 - written by `build`
    async with await Database.open(settings_of(folder / "data", chunks)) as database:
        growth = Growth(database, asked)
        print("vector lane:", await growth.recall(), flush=True)
        searches: dict[str, Search] = {
            "vector lane": growth.vector_ids,
            "keyword lane": growth.keyword_ids,
            "hybrid search": growth.hybrid,
        }
        await _told(growth, searches)
        print(await growth.memory.pack(await growth.backends()), flush=True)
        hot = growth.memory
        searches = dict(zip(searches, (hot.vector, hot.keyword, hot.hybrid), strict=True))
        await _told(growth, searches)


async def _told(growth: Growth, searches: dict[str, Search]) -> None:
    times = await side_by_side(searches, len(growth.asked), growth.backends)
    print(table([Spent.of("growth", name, own) for name, own in times.items()]), flush=True)


def main() -> None:
    """Build where nothing is built yet, else measure."""
    parser = parser_of(__doc__)
    parser.add_argument("chunks", type=int)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, nargs=2, metavar=("PASSAGES", "QUESTIONS"))
    given = parser.parse_args()
    if (given.data / _ASKED).exists():
        asyncio.run(measure(given.chunks, given.data))
    else:
        asyncio.run(build(given.chunks, given.data, given.vectors))


if __name__ == "__main__":
    main()
