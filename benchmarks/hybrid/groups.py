"""The groups of questions that ask the database: their designs, gates and goals.

Each of our designs that has a goal is measured twice (an A/A pair), half a turn apart, so that either comes
first equally often, and in the same company: from PostgreSQL right after a rival, which leaves the caches
cold, in memory right after that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hybrid.bench import Bench
from benchmarks.hybrid.gates import Gate
from benchmarks.hybrid.goals import Goal, Measure, again
from benchmarks.hybrid.measuring import Search, side_by_side
from benchmarks.hybrid.memory import InMemory
from benchmarks.hybrid.report import Group
from benchmarks.hybrid.rivals import Lance, installed

OURS, MEMORY = "ours", "ours, in memory"
_ONE_TABLE, _ILIKE, _NAIVE = "one table, HNSW + b-tree", "ILIKE + b-tree", "N2, naive build"
_LANCE = "LanceDB hybrid"


@dataclass(frozen=True, slots=True)
class Gates:
    """What the lanes have shown, from PostgreSQL and in memory; a hybrid search rests on all of it."""

    cold: tuple[Gate, ...] = ()
    hot: tuple[Gate, ...] = ()

    def __add__(self, other: Gates) -> Gates:
        return Gates(self.cold + other.cold, self.hot + other.hot)


async def vector_lane(bench: Bench, hot: InMemory, queries: int) -> tuple[Group, Gates]:
    """Return the ten nearest: one table, also where it looks at as many candidates as our recall takes."""
    print("\n## Vector lane, 10 nearest")

    async def in_memory(number: int) -> list[int]:
        return bench.rows(await hot.vector(number))

    width, as_exact = await bench.widened()
    wide = f"the same at ef_search {width}"
    narrow_gate = (await bench.recall(bench.one_table)).gate("one table")
    wide_gate = as_exact.gate(f"one table at ef_search {width}")
    gates = Gates(
        ((await bench.recall(bench.vector_rows)).gate(OURS),),
        ((await bench.recall(in_memory)).gate(MEMORY),),
    )
    _say(narrow_gate, wide_gate, *gates.cold, *gates.hot)
    designs: dict[str, Search] = {
        _ONE_TABLE: bench.one_table,
        OURS: bench.vector_ids,
        MEMORY: hot.vector,
        f"{MEMORY}, and a trip to be sure": hot.vector_current,
        wide: bench.one_table_wide,
        again(OURS): bench.vector_ids,
        again(MEMORY): hot.vector,
        "ours, whole chunks": bench.vector_chunks,
    }

    def goal(name: str, ours: str, limit: float, own: tuple[Gate, ...]) -> Goal:
        equal = Goal(name, ours, wide, Measure.CPU, limit, (*own, wide_gate))
        return Goal(name, ours, _ONE_TABLE, Measure.CPU, limit, (*own, narrow_gate), equal)

    goals = [
        goal("vector lane", OURS, 4, gates.cold),
        goal("vector lane, in memory", MEMORY, 8, gates.hot),
    ]
    return await _measured(bench, "vector lane", designs, goals, queries), gates


async def keyword_lane(bench: Bench, hot: InMemory, queries: int) -> tuple[Group, Gates]:
    """Return the best twenty by distinct keywords: ILIKE, by either case rules."""
    print("\n## Keyword lane, best 20")
    cold = await bench.keyword_gate()
    gates = Gates((cold,), (await hot.keyword_gate(), cold))
    _say(*gates.hot)
    ilike = {_ILIKE + name: bench.ilike(rules) for name, rules in bench.case_rules.items()}
    ours: dict[str, Search] = {OURS: bench.keyword_ids, MEMORY: hot.keyword}
    designs = {**taking_turns(ilike, ours), "ours, whole chunks": bench.keyword_chunks}
    goals = [
        Goal(name, design, rival, Measure.CPU, limit, own)
        for name, design, limit, own in (
            ("keyword lane", OURS, 40, gates.cold),
            ("keyword lane, in memory", MEMORY, 150, gates.hot),
        )
        for rival in ilike
    ]
    return await _measured(bench, "keyword lane", designs, goals, queries), gates


async def hybrid_search(
    bench: Bench, hot: InMemory, queries: int, lanes: Gates, folder: Path
) -> tuple[Group, list[str]]:
    """Return the best ten with their texts: N2 and LanceDB; also the names of those that are not installed."""
    print("\n## Hybrid search, best 10 with text")
    own = Gates(
        (await bench.overlap_gate(OURS, bench.hybrid),),
        (await bench.overlap_gate(MEMORY, hot.hybrid),),
    )
    _say(*own.cold, *own.hot)
    rivals: dict[str, Search] = {}
    if naive := installed("jieba", "rank_bm25"):
        rivals |= {_NAIVE + name: bench.naive(rules) for name, rules in bench.case_rules.items()}
    if lancedb := installed("lancedb"):
        lance = await asyncio.to_thread(Lance, folder / "lance", bench.library)
        rivals[_LANCE] = lambda number: lance.search(bench.questions[number])
    gates = lanes + own
    goals = [
        Goal(name, design, rival, measure, limit, held)
        for name, design, held, of_naive in (
            ("hybrid search", OURS, gates.cold, (20, 35)),
            ("hybrid search, in memory", MEMORY, gates.hot, (40, 90)),
        )
        for rival in rivals
        for measure, limit in zip(
            (Measure.P50, Measure.P95), (2, 2) if rival == _LANCE else of_naive, strict=True
        )
    ]
    designs = taking_turns(rivals, {OURS: bench.hybrid, MEMORY: hot.hybrid})
    missing = [name for name, there in ((_NAIVE, naive), (_LANCE, lancedb)) if not there]
    return await _measured(bench, "hybrid search", designs, goals, queries), missing


def taking_turns(rivals: Mapping[str, Search], ours: Mapping[str, Search]) -> dict[str, Search]:
    """Return a rival, ours, the next rival, ours again, the other rivals."""
    items = list(rivals.items())
    repeated = {again(name): design for name, design in ours.items()}
    return {**dict(items[:1]), **ours, **dict(items[1:2]), **repeated, **dict(items[2:])}


async def _measured(
    bench: Bench, name: str, designs: Mapping[str, Search], goals: Sequence[Goal], queries: int
) -> Group:
    return Group.of(name, await side_by_side(designs, queries, bench.backends), goals)


def _say(*gates: Gate) -> None:
    print("\n".join(map(str, gates)), flush=True)
