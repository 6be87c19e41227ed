"""Measure what the workflow's loop finds beyond one search: `python -m benchmarks.loop FOLDER NAME…`.

FOLDER has a folder for each question set. The database is `DATABASE_URL`'s; a set is loaded unless it is there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from langgraph.runtime import Runtime

from benchmarks.quality.sets import OpenSet, names_of_sets, open_sets, parser_of_sets, sample
from sextant.evals.dataset import EvalQuestion, all_found
from sextant.nodes.analyze import analyze
from sextant.nodes.context import Context, RunContext
from sextant.nodes.grade import after_grade, grade
from sextant.nodes.refine import after_refine, refine
from sextant.nodes.retrieve import retrieve
from sextant.nodes.state import State

DEPTHS = (5, 10)
QUESTIONS = 300


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """What one question came to: ids of the passages after one search and after the loop, and what both cost."""

    question: EvalQuestion
    first: list[str]
    last: list[str]
    rounds: int
    searches: int
    single_ms: float
    loop_ms: float


async def measure(opened: OpenSet) -> list[LoopOutcome]:
    """Take the answerable questions of a set through the loop, in `mix`."""
    questions = [question for question in opened.questions if question.gold_ids]
    return [await run_loop(question, opened) for question in sample(questions, QUESTIONS)]


async def run_loop(question: EvalQuestion, opened: OpenSet) -> LoopOutcome:
    """Return one search, then the workflow's loop node by node, graded by rule."""
    rules = opened.dependencies.without_chat_models()
    search = partial(
        rules.retriever.search, opened.scope, question.query, mode="mix", top_k=max(DEPTHS)
    )
    await search()  # both that are timed find the question's vector at hand
    began = time.process_time()
    found = await search()
    searched = time.process_time()
    runtime = Runtime(context=RunContext(Context(mode="mix", top_k=max(DEPTHS)), rules))
    state = State(
        query=question.query, graph_id=opened.scope.graph_id, user_id=opened.scope.user_id
    )
    state = after(state, await analyze(state, runtime))
    state = await search_until_enough(state, runtime)
    return LoopOutcome(
        question=question,
        first=[item.external_id or item.id for item in found.results],
        last=[item.external_id or item.id for item in state.items],
        rounds=state.attempts,
        searches=len(state.searched),
        single_ms=(searched - began) * 1000,
        loop_ms=(time.process_time() - searched) * 1000,
    )


async def search_until_enough(state: State, runtime: Runtime[RunContext]) -> State:
    """Search in rounds, as the workflow does, until enough is found or nothing new is left to search for."""
    while True:
        state = after(state, await retrieve(state, runtime))
        state = after(state, await grade(state, runtime))
        if after_grade(state) == "enough":
            return state
        state = after(state, await refine(state, runtime))
        if after_refine(state) == "nothing new":
            return state


def after(state: State, update: dict[str, Any]) -> State:
    """Return a state with what a node changes."""
    return State(**vars(state) | update)


def row(name: str, outcomes: Sequence[LoopOutcome]) -> list[str]:
    """Return a set's row of the table in docs/quality.md."""
    found = dict[int, list[tuple[float, ...]]]()  # with one search, with the loop; by depth
    for depth in DEPTHS:
        found[depth] = [
            tuple(all_found(ids, one.question.gold_ids, depth) for ids in (one.first, one.last))
            for one in outcomes
        ]
    shares = [100 * fmean(side) for pairs in found.values() for side in zip(*pairs, strict=True)]
    won = sum(loop > once for once, loop in found[DEPTHS[0]])
    lost = sum(loop < once for once, loop in found[DEPTHS[0]])
    again = 100 * fmean(one.rounds > 0 for one in outcomes)
    once_ms, loop_ms = (
        fmean(one.single_ms for one in outcomes),
        fmean(one.loop_ms for one in outcomes),
    )
    return [
        name,
        str(len(outcomes)),
        *(f"{share:.1f}" for share in shares),
        f"+{won} −{lost}",
        f"{again:.0f} %",
        f"{once_ms:.0f} → {loop_ms:.0f}",
    ]


async def main() -> None:
    """Print a row for each set."""
    options = names_of_sets(parser_of_sets(__doc__))
    async for name, opened in open_sets(options.folder, options.names):
        print("|", " | ".join(row(name, await measure(opened))), "|")


if __name__ == "__main__":
    asyncio.run(main())
