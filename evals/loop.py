"""What the workflow's loop finds beyond a single search, by rule, and what that costs.

    python -m evals.loop FOLDER mix hotpotqa twowiki …

FOLDER has one folder per question set with `corpus.jsonl.gz`, `queries.jsonl.gz` and, for some,
`triples.jsonl.gz`. Each set is a knowledge base of the evaluation's own user, as for `sextant eval`.
Columns: questions with all gold passages among the first five and ten, by one search → by the loop (and how
many the loop wins and loses); the share that went round, searches, and milliseconds of CPU for a question.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from langgraph.runtime import Runtime

from domain.scope import Scope
from evals.dataset import Question
from evals.metrics import all_found
from evals.sets import open_sets, sample
from nodes.analyze import analyze
from nodes.context import Context, Dependencies, RunContext
from nodes.grade import by_rule, grade
from nodes.refine import refine
from nodes.retrieve import retrieve
from nodes.state import State

_DEPTHS = (5, 10)
_MOST_QUESTIONS = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question's way through the loop.

    Attributes:
        question: as the set has it.
        first: external ids of the passages after one search, best first.
        sufficient: whether the rule called that enough.
        last: the same after the loop.
        rounds: refining rounds.
        searches: queries that the loop ran, the first one among them.
        single_ms: CPU milliseconds of the one search.
        loop_ms: of the loop with all of its searches; the question's own vector is at hand by then.
    """

    question: Question
    first: list[str]
    sufficient: bool
    last: list[str]
    rounds: int
    searches: int
    single_ms: float
    loop_ms: float


async def main(folder: Path, mode: str, names: Sequence[str]) -> None:
    """Measure each set and print a line of it."""
    print("| set | questions | all gold @5 | all gold @10 | went round | searches | CPU ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    async for opened in open_sets(folder, names):
        answerable = [one for one in opened.questions if one.gold_ids]
        outcomes = [
            await run_loop(question, opened.scope, opened.dependencies, mode)
            for question in sample(answerable, _MOST_QUESTIONS)
        ]
        print(line(opened.name, outcomes), flush=True)


async def run_loop(
    question: Question, scope: Scope, dependencies: Dependencies, mode: str, top_k: int = 10
) -> Outcome:
    """One search, then the workflow's loop node by node, so that each search can be seen."""
    began = time.process_time()
    found = await dependencies.retriever.search(scope, question.query, mode=mode, top_k=top_k)
    single_ms = (time.process_time() - began) * 1000
    runtime = Runtime(
        context=RunContext(Context(mode=cast("Any", mode), top_k=top_k), dependencies)
    )
    state = State(query=question.query, graph_id=scope.graph_id, user_id=scope.user_id)
    began = time.process_time()
    state = _after(state, await analyze(state, runtime))
    state = _after(state, await retrieve(state, runtime))
    sufficient = bool(by_rule(state)["sufficient"])
    while True:
        graded = await grade(state, runtime)
        state = _after(state, graded.update)
        if graded.goto == "generate":
            break
        refined = await refine(state, runtime)
        state = _after(state, refined.update)
        if refined.goto == "generate":
            break
        state = _after(state, await retrieve(state, runtime))
    return Outcome(
        question=question,
        first=[item.external_id or item.id for item in found.results],
        sufficient=sufficient,
        last=[item.external_id or item.id for item in state.items],
        rounds=state.attempts,
        searches=len(state.searched),
        single_ms=single_ms,
        loop_ms=(time.process_time() - began) * 1000,
    )


def _after(state: State, update: object) -> State:
    return State(**{**vars(state), **cast("dict[str, Any]", update or {})})


def line(name: str, outcomes: Sequence[Outcome]) -> str:
    """A row of the table: what one search found → what the loop did, and at what cost."""
    cells = [f"{len(outcomes)}", *(_gain(outcomes, depth) for depth in _DEPTHS)]
    cells += [
        f"{100 * fmean(one.rounds > 0 for one in outcomes):.0f} %",
        f"{fmean(one.searches for one in outcomes):.1f}",
        f"{fmean(one.single_ms for one in outcomes):.0f} → "
        f"{fmean(one.loop_ms for one in outcomes):.0f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _gain(outcomes: Sequence[Outcome], depth: int) -> str:
    pairs = [
        (
            all_found(one.first, one.question.gold_ids, depth),
            all_found(one.last, one.question.gold_ids, depth),
        )
        for one in outcomes
    ]
    before, after = (100 * fmean(found) for found in zip(*pairs, strict=True))
    won = sum(last > first for first, last in pairs)
    lost = sum(last < first for first, last in pairs)
    return f"{before:.1f} → {after:.1f} (+{won} −{lost})"


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
