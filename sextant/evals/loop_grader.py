"""A grader that knows the right passages: what a chat model's judgement is worth to the loop, at best.

Also here: what the workflow's loop finds beyond a single search, and what that costs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, cast

from langgraph.runtime import Runtime

from sextant import prompts
from sextant.domain.answers import Usage
from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.dataset import EvalQuestion
from sextant.evals.metrics import all_found
from sextant.evals.sets import OpenSet, SetFiles, open_set, sample, with_parts
from sextant.ingestion.progress import OnStage, silent
from sextant.models.chat.chat_model import T
from sextant.models.chat.speed import EndpointSpeed
from sextant.nodes.analyze import analyze
from sextant.nodes.budget import prompt_size
from sextant.nodes.context import Context, Dependencies, RunContext
from sextant.nodes.grade import Grades, after_grade, grade
from sextant.nodes.refine import after_refine, refine
from sextant.nodes.retrieve import retrieve
from sextant.nodes.state import State

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel

_PASSAGE = re.compile(r'<passage number="(\d+)" from="[^"]*">\n(.*?)\n</passage>', re.DOTALL)
# So much of a passage's beginning tells it from all others.
_TELLING = 150
_REPLY_TOKENS = 20


class KnowingGrader:
    """Stands in for the chat model of `sextant.nodes.grade`, and reads the prompt that it would be given.

    Args:
        gold: the texts of the passages that together answer the question.
    """

    name = "knows the right passages"
    context = None

    def __init__(self, gold: Sequence[str]) -> None:
        self.speed = EndpointSpeed()
        self._gold = [prompts.as_data(text.strip()[:_TELLING]) for text in gold]

    async def structured(
        self,
        messages: prompts.Messages,
        schema: type[T],
        *,
        repair: bool = True,  # noqa: ARG002
        patient: bool = True,  # noqa: ARG002
    ) -> tuple[T, Usage]:
        """Return the judgement: which of the passages are right, and whether all that are stand there."""
        shown = _PASSAGE.findall("\n".join(text for _, text in messages))
        shown_with = {text: [int(n) for n, body in shown if text in body] for text in self._gold}
        relevant = [number for numbers in shown_with.values() for number in numbers]
        graded = Grades(relevant=relevant, sufficient=all(shown_with.values()))
        usage = Usage(1, prompt_size(messages), _REPLY_TOKENS, estimated=True)
        return schema.model_validate(graded.model_dump()), usage


_DEPTHS = (5, 10)
_TOP_K = max(_DEPTHS)
_MOST_QUESTIONS = 300
_GRADED = ("rule", "knowing")


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """One question's way through the loop.

    Attributes:
        question: as the set has it.
        first: external ids of the passages after one search, best first.
        last: the same after the loop.
        rounds: refining rounds.
        searches: queries that the loop ran, the first one among them.
        calls: of the grader, where one is asked.
        prompt_tokens: of these calls.
        single_ms: CPU milliseconds of the one search; the question's own vector is at hand.
        loop_ms: of the loop with all of its searches, likewise.
    """

    question: EvalQuestion
    first: list[str]
    last: list[str]
    rounds: int
    searches: int
    calls: int
    prompt_tokens: int
    single_ms: float
    loop_ms: float


@dataclass(frozen=True, slots=True)
class Gain:
    """Shares of the questions with all gold passages, by one search and by the loop; how many it wins and loses."""

    once: float
    loop: float
    won: int
    lost: int

    def __str__(self) -> str:
        return f"{100 * self.once:.1f} → {100 * self.loop:.1f} (+{self.won} −{self.lost})"


@dataclass(frozen=True, slots=True)
class LoopReport:
    """What the loop came to over a set; costs are means of a question, `went_round` is a share."""

    mode: str
    questions: int
    all_gold: Mapping[str, Gain]
    went_round: float
    searches: float
    calls: float
    prompt_tokens: float
    single_ms: float
    loop_ms: float

    def cells(self) -> list[str]:
        """Return the figures as a row of a table."""
        return [
            str(self.questions),
            *map(str, self.all_gold.values()),
            f"{100 * self.went_round:.0f} %",
            f"{self.searches:.1f}",
            f"{self.calls:.1f}; {self.prompt_tokens:.0f}",
            f"{self.single_ms:.0f} → {self.loop_ms:.0f}",
        ]


COLUMNS = (
    "questions",
    *(f"all gold @{depth}" for depth in _DEPTHS),
    "went round",
    "searches",
    "calls; tokens",
    "CPU ms",
)


def is_knowing(graded: str) -> bool:
    """Return whether grades are those of one who knows the right passages.

    Raises:
        OptionInvalid: `graded` is neither `rule` nor `knowing`.
    """
    if graded not in _GRADED:
        raise OptionInvalid(
            f"The loop is graded by {' or '.join(_GRADED)}, not by {graded!r}.",
            next_step="Choose one of them.",
            field="loop",
        )
    return graded == _GRADED[1]


async def measure(
    files: SetFiles,
    settings: Settings,
    mode: str,
    *,
    knowing: bool = False,
    limit: int | None = None,
    on_progress: OnStage = silent,
) -> LoopReport:
    """Load a set, unless it is there, and take its answerable questions through the loop.

    Args:
        files: of the set.
        settings: which database, embedding model and constants of retrieval.
        mode: of the searches.
        knowing: grades are those of one who knows the right passages.
        limit: about so many questions, from all over the set; by default 300.
        on_progress: called with (`questions`, done, total).

    Raises:
        OptionInvalid: a file cannot be read.
        SextantError: whatever loading and searching raise.
    """
    async with with_parts(settings) as parts:
        opened = await open_set(*parts, files)
        questions = sample(
            [one for one in opened.questions if one.gold_ids], limit or _MOST_QUESTIONS
        )
        outcomes = list[LoopOutcome]()
        for question in questions:
            grader = KnowingGrader([opened.texts[id_] for id_ in question.gold_ids])
            outcomes.append(
                await run_loop(question, opened, mode, grader=grader if knowing else None)
            )
            on_progress("questions", len(outcomes), len(questions))
    return report_loop(mode, outcomes)


async def run_loop(
    question: EvalQuestion, opened: OpenSet, mode: str, *, grader: object = None
) -> LoopOutcome:
    """Return one search, then the workflow's loop node by node, so that each search can be seen."""
    scope, rules = opened.scope, opened.dependencies.without_chat_models()
    search = partial(rules.retriever.search, scope, question.query, mode=mode, top_k=_TOP_K)
    await (
        search()
    )  # what the first search keeps, as the question's vector, is at hand for both that are timed
    began = time.process_time()
    found = await search()
    single_ms = (time.process_time() - began) * 1000
    runtime = _runtime(rules, mode)
    answers = rules.settings.answers.model_copy(update={"judgements": "always"})
    settings = rules.settings.model_copy(update={"answers": answers})
    graded = replace(rules, settings=settings, chat=cast("ChatModel | None", grader))
    judging = _runtime(graded, mode)
    began = time.process_time()
    state = await _run_retrieve(_initial_state(question, scope), runtime)
    state = await _run_round(state, runtime, judging)
    loop_ms = (time.process_time() - began) * 1000
    return LoopOutcome(
        question=question,
        first=[item.external_id or item.id for item in found.results],
        last=[item.external_id or item.id for item in state.items],
        rounds=state.attempts,
        searches=len(state.searched),
        calls=state.usage.get("calls", 0),
        prompt_tokens=state.usage.get("prompt_tokens", 0),
        single_ms=single_ms,
        loop_ms=loop_ms,
    )


def _runtime(dependencies: Dependencies, mode: str) -> Runtime[RunContext]:
    choices = Context(mode=cast("Any", mode), top_k=_TOP_K)
    return Runtime(context=RunContext(choices, dependencies))


def _initial_state(question: EvalQuestion, scope: Scope) -> State:
    return State(query=question.query, graph_id=scope.graph_id, user_id=scope.user_id)


async def _run_retrieve(state: State, runtime: Runtime[RunContext]) -> State:
    state = _after(state, await analyze(state, runtime))
    return _after(state, await retrieve(state, runtime))


async def _run_round(
    state: State, runtime: Runtime[RunContext], judging: Runtime[RunContext]
) -> State:
    """`state` when its grader has enough, or nothing new is left to search for."""
    while True:
        state = _after(state, await grade(state, judging))
        if after_grade(state) == "enough":
            return state
        state = _after(state, await refine(state, runtime))
        if after_refine(state) == "nothing new":
            return state
        state = _after(state, await retrieve(state, runtime))


def _after(state: State, update: dict[str, Any]) -> State:
    return State(**vars(state) | update)


def report_loop(mode: str, outcomes: Sequence[LoopOutcome]) -> LoopReport:
    """Return the figures of a set."""
    return LoopReport(
        mode=mode,
        questions=len(outcomes),
        all_gold={f"@{depth}": _gain(outcomes, depth) for depth in _DEPTHS},
        went_round=fmean(one.rounds > 0 for one in outcomes),
        searches=fmean(one.searches for one in outcomes),
        calls=fmean(one.calls for one in outcomes),
        prompt_tokens=fmean(one.prompt_tokens for one in outcomes),
        single_ms=fmean(one.single_ms for one in outcomes),
        loop_ms=fmean(one.loop_ms for one in outcomes),
    )


def _gain(outcomes: Sequence[LoopOutcome], depth: int) -> Gain:
    pairs = [
        (
            all_found(one.first, one.question.gold_ids, depth),
            all_found(one.last, one.question.gold_ids, depth),
        )
        for one in outcomes
    ]
    once, loop = (fmean(found) for found in zip(*pairs, strict=True))
    won = sum(last > first for first, last in pairs)
    lost = sum(last < first for first, last in pairs)
    return Gain(once, loop, won, lost)
