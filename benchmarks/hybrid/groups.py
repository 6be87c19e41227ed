"""The groups of searches in the database: their designs, gates and goals.

Ours is measured twice (an A/A pair), half a turn apart, so that either comes first equally often, and right after a
rival, which leaves the caches cold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.hybrid.bench import Bench
from benchmarks.hybrid.gates import Gate
from benchmarks.hybrid.goals import Goal, Measure, again
from benchmarks.hybrid.measuring import Search, side_by_side
from benchmarks.hybrid.report import Group
from benchmarks.hybrid.rivals import Lance, installed

OURS = "ours"
_ONE_TABLE, _ILIKE, _NAIVE = "one table, HNSW + b-tree", "ILIKE + b-tree", "N2, naive build"
_LANCE = "LanceDB hybrid"


async def vector_lane(bench: Bench, queries: int) -> tuple[Group, Gate]:
    """Return the ten nearest: one table, also where it looks at as many candidates as our recall takes."""
    print("\n## Vector lane, 10 nearest")
    width, as_exact = await bench.widened()
    wide = f"the same at ef_search {width}"
    narrow_gate = (await bench.recall(bench.one_table)).gate("one table")
    wide_gate = as_exact.gate(f"one table at ef_search {width}")
    gate = (await bench.recall(bench.vector_rows)).gate(OURS)
    _say(narrow_gate, wide_gate, gate)
    designs: dict[str, Search] = {
        _ONE_TABLE: bench.one_table,
        OURS: bench.vector_ids,
        wide: bench.one_table_wide,
        again(OURS): bench.vector_ids,
    }
    name, limit = "vector lane", 4
    equal = Goal(name, OURS, wide, Measure.CPU, limit, (gate, wide_gate))
    goals = [Goal(name, OURS, _ONE_TABLE, Measure.CPU, limit, (gate, narrow_gate), equal)]
    return await _measured(bench, name, designs, goals, queries), gate


async def keyword_lane(bench: Bench, queries: int) -> tuple[Group, Gate]:
    """Return the best twenty by distinct keywords: ILIKE, by either case rules."""
    print("\n## Keyword lane, best 20")
    gate = await bench.keyword_gate()
    _say(gate)
    ilike = {_ILIKE + name: bench.ilike(rules) for name, rules in bench.case_rules.items()}
    ours: dict[str, Search] = {OURS: bench.keyword_ids}
    designs = taking_turns(ilike, ours)
    goals = [Goal("keyword lane", OURS, rival, Measure.CPU, 40, (gate,)) for rival in ilike]
    return await _measured(bench, "keyword lane", designs, goals, queries), gate


async def hybrid_search(
    bench: Bench, queries: int, lanes: Sequence[Gate], folder: Path
) -> tuple[Group, list[str]]:
    """Return the best ten with their texts: N2 and LanceDB; also the names of those that are not installed."""
    print("\n## Hybrid search, best 10 with text")
    gates = (*lanes, await bench.overlap_gate(OURS, bench.hybrid))
    _say(gates[-1])
    rivals: dict[str, Search] = {}
    if naive := installed("jieba", "rank_bm25"):
        rivals |= {_NAIVE + name: bench.naive(rules) for name, rules in bench.case_rules.items()}
    if lancedb := installed("lancedb"):
        lance = await asyncio.to_thread(Lance, folder / "lance", bench.library)
        rivals[_LANCE] = lambda number: lance.search(bench.questions[number])
    goals = [
        Goal("hybrid search", OURS, rival, measure, limit, gates)
        for rival in rivals
        for measure, limit in zip(
            (Measure.P50, Measure.P95), (2, 2) if rival == _LANCE else (20, 35), strict=True
        )
    ]
    designs = taking_turns(rivals, {OURS: bench.hybrid})
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
