"""The budget of one answer (`limits`): model calls, prompt tokens and seconds, and how many passages fit into them.

Nodes look here before they ask the chat model. Judgements (analyze, grade) leave what `reserve_for_answer`
says; when they can afford no more, rules judge. When the time for searching is over, the answer is written from what
was found. A limit that was reached is one warning in the state's `coded_warnings`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from math import ceil
from typing import Any

from sextant import prompts
from sextant.domain.answers import Usage
from sextant.domain.breadth import is_broad
from sextant.domain.errors import ModelOutputInvalid, ModelUnavailable
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.settings import LimitSettings
from sextant.domain.warnings import CodedWarning, WarningCode, distinct
from sextant.models.chat.endpoint_memory import INSTRUCTION_TOKENS, USUAL_ANSWER, EndpointSpeed
from sextant.nodes.context import RunContext
from sextant.nodes.prompt_lines import format_reports
from sextant.nodes.state import State, reports_of
from sextant.prompts import Messages
from sextant.text.characters import estimate_tokens

# The share of the seconds that is reserved for writing the answer, and the largest share of calls and prompt tokens.
ANSWER_SHARE = 1 / 3
_LARGEST_SHARE = 1 / 2
# The share of the seconds in which an answer is ended once the model has: quotes are compared, quotations chosen.
_ENDING_SHARE = 1 / 30
# The fewest tokens of passages that an answer is written from, and the smallest share of those that are worth showing.
LEAST_CONTEXT, _LEAST_SHARE = 200, 1 / 4
# No more passages are given up for earlier first words than a quarter of those that one part of a question is shown.
SLOWED = 3 / 4
# The share of the passages that is left where they are read twice, for a judgement and for the answer. Of questions that
# rules are unsure about, as many answers stand in them as in all (xquad, cmrc2018, drcd).
_JUDGED = 0.6
# Tokens of an answer's first sentence, which is shown when it is whole.
FIRST_SENTENCE = 30
# The share of a time that is planned with, since rates vary.
_PLANNED_SHARE = 0.8
# Tokens of a short answer; where the model's answers are known, how much longer one may be.
_SHORT_ANSWER, _LONGER = 40, 1.5
# A model that would take so many times the time left is not asked.
_HOPELESS = 1.5
# Tokens of reports that one call reads: each call takes seconds whatever it reads, and long reports are read sooner
# side by side.
_REPORT_TOKENS = 1000


class Limit(StrEnum):
    """The limits of one answer, by their names in the settings."""

    CALLS = "model_calls"
    TOKENS = "prompt_tokens"
    TIME = "answer_seconds"


_USED_UP = {
    Limit.CALLS: WarningCode.CALLS_USED_UP,
    Limit.TOKENS: WarningCode.TOKENS_USED_UP,
    Limit.TIME: WarningCode.TIME_USED_UP,
}


@dataclass(frozen=True, slots=True)
class AnswerBudget:
    """What is left to spend; below zero where a limit was exceeded."""

    calls: int
    prompt_tokens: int
    seconds: float

    def lacks(self, prompt_tokens: int = 0, calls: int = 1) -> Limit | None:
        """Return the limit that forbids `calls` more calls with so many prompt tokens in all; None: none does."""
        if self.seconds <= 0:
            return Limit.TIME
        if self.calls < calls:
            return Limit.CALLS
        return Limit.TOKENS if self.prompt_tokens < prompt_tokens else None

    def after(self, usage: Usage) -> AnswerBudget:
        """Return the budget less the calls and prompt tokens of `usage`."""
        return AnswerBudget(
            self.calls - usage.calls, self.prompt_tokens - usage.prompt_tokens, self.seconds
        )


def deadline(run: RunContext) -> float:
    """Return when models and searches must be done for an answer that begins now, in seconds since the epoch."""
    return time.time() + run.deps.settings.limits.answer_seconds * (1 - _ENDING_SHARE)


def usage_of(state: State) -> Usage:
    """Return what the run has spent so far."""
    return Usage(**state.usage)


def budget_of(state: State, run: RunContext) -> AnswerBudget:
    """Return all that is left of the answer's limits; `generate` may spend it."""
    limits, usage = run.deps.settings.limits, usage_of(state)
    return AnswerBudget(
        limits.model_calls - usage.calls,
        limits.prompt_tokens - usage.prompt_tokens,
        state.deadline - time.time() if state.deadline else limits.answer_seconds,
    )


def wanted_passage_tokens(state: State, run: RunContext) -> int:
    """Return how many tokens of passages are worth showing: more for several parts or rounds, most for a broad question."""
    settings = run.deps.settings
    if is_broad(state.question) or reports_of(state):
        return settings.limits.context_tokens
    parts = max(1, len(state.subquestions), 1 + state.attempts)
    return min(settings.limits.context_tokens, parts * settings.answers.passage_tokens)


def passage_tokens(state: State, run: RunContext) -> int:
    """Return how many tokens of passages a prompt shows: as many as were judged, else those that can be read in time."""
    if state.judged_tokens:
        return max(LEAST_CONTEXT, min(state.judged_tokens, tokens_in_context(state, run)))
    wanted = wanted_passage_tokens(state, run)
    in_time = max(tokens_in_time(state, run, wanted), int(_LEAST_SHARE * wanted))
    return max(LEAST_CONTEXT, min(wanted, in_time, tokens_in_context(state, run)))


def judged_tokens(state: State, run: RunContext) -> int:
    """Return how many tokens of passages are judged before an answer: fewer, since they are read twice."""
    fewer = int(_JUDGED * wanted_passage_tokens(state, run))
    return min(fewer, passage_tokens(replace(state, judged_tokens=0), run))


def tokens_in_context(state: State, run: RunContext) -> int:
    """Return how many tokens of passages fit the context of the answering model, as far as that is known."""
    chat = run.deps.chat
    if chat is None or chat.context is None:
        return run.deps.settings.limits.context_tokens
    return chat.context.for_prompt - size_without_passages(state)


def tokens_in_time(state: State, run: RunContext, wanted: int) -> int:
    """Return how many tokens of passages the answering model can read in the time left, `wanted` at most.

    Some passages are given up for earlier first words, and where the model's speed is not known.
    """
    chat = run.deps.chat
    if chat is None:
        return wanted
    if not chat.speed.prompt:
        return int(SLOWED * wanted)
    settings = run.deps.settings
    first_words = _PLANNED_SHARE * settings.limits.first_words_seconds
    in_first = chat.speed.prompt_tokens_within(first_words, FIRST_SENTENCE)
    least = SLOWED * min(wanted, settings.answers.passage_tokens)
    to_begin = max(least, in_first - size_without_passages(state))
    return int(min(wanted, to_begin, tokens_until_end(state, run, chat.speed)))


def tokens_until_end(state: State, run: RunContext, speed: EndpointSpeed) -> float:
    """Return how many tokens of passages a model of this speed can read to end its answer in the time left."""
    seconds = _PLANNED_SHARE * budget_of(state, run).seconds
    return speed.prompt_tokens_within(seconds, answer_length(speed)) - size_without_passages(state)


def answer_length(speed: EndpointSpeed) -> float:
    """Return how many tokens a rather long answer of a model has."""
    return max(_SHORT_ANSWER, _LONGER * speed.shown) if speed.shown else USUAL_ANSWER


def seconds_too_slow(state: State, run: RunContext) -> float:
    """Return how many seconds a short answer from few passages would take of a model that was late; 0: it may be in time."""
    chat, left = run.deps.chat, budget_of(state, run).seconds
    if chat is None or not chat.speed.missed_lately:
        return 0.0
    least = max(LEAST_CONTEXT, int(_LEAST_SHARE * wanted_passage_tokens(state, run)))
    needed = chat.speed.seconds(size_without_passages(state) + least, _SHORT_ANSWER)
    return needed if needed > _HOPELESS * left else 0.0


def prompt_tokens(state: State, run: RunContext) -> int:
    """Return how many tokens the prompt of an answer may have."""
    return size_without_passages(state) + passage_tokens(state, run)


def size_without_passages(state: State) -> int:
    """Return how many tokens an answer's prompt has beside its passages."""
    return _instructions(state.language) + estimate_tokens(state.question) + _history_tokens(state)


def _history_tokens(state: State) -> int:
    return sum(estimate_tokens(turn["content"]) for turn in state.before)


@cache
def _instructions(language: str) -> int:
    empty = dict.fromkeys(("question", "passages", "knowledge", "history"), "")
    return prompt_size(prompts.GENERATE.messages(language, **empty))


def reserve_for_answer(state: State, run: RunContext) -> AnswerBudget:
    """Return what searching and judging must leave for the answer.

    - Calls: one to write it, and those that read reports first; at most half of all, but at least one.
    - Prompt tokens: those of these calls, at most half of all. The calls that read reports share one prompt's worth.
    - Seconds: a third.
    """
    limits = run.deps.settings.limits
    reading = calls_to_read(reports_of(state), limits.report_calls)
    prompt = passage_tokens(state, run) + INSTRUCTION_TOKENS + _history_tokens(state)
    return AnswerBudget(
        max(1, min(1 + reading, int(limits.model_calls * _LARGEST_SHARE))),
        min(prompt * (2 if reading else 1), int(limits.prompt_tokens * _LARGEST_SHARE)),
        limits.answer_seconds * ANSWER_SHARE,
    )


def estimate_answer(state: State, run: RunContext) -> int:
    """Return the tokens that a turn takes at most: those used so far, and those of the answer."""
    limits, used = run.deps.settings.limits, usage_of(state)
    found = sum(estimate_tokens(item.text) for item in state.items)
    calls = 1 + calls_to_read(reports_of(state), limits.report_calls)
    prompts = min(found, limits.context_tokens) + calls * INSTRUCTION_TOKENS
    prompts += _history_tokens(state)
    return used.prompt_tokens + used.completion_tokens + prompts + limits.answer_tokens


def seconds_to_first_words(state: State, run: RunContext) -> float:
    """Return the seconds left until the answer should begin; below zero when it should have begun."""
    limits = run.deps.settings.limits
    whole = limits.answer_seconds * (1 - _ENDING_SHARE)
    passed = max(0.0, whole - budget_of(state, run).seconds) if state.deadline else 0.0
    return limits.first_words_seconds - passed


def judging_budget(state: State, run: RunContext) -> AnswerBudget:
    """Return what is left for searching and judging."""
    left, reserved = budget_of(state, run), reserve_for_answer(state, run)
    return AnswerBudget(
        left.calls - reserved.calls,
        left.prompt_tokens - reserved.prompt_tokens,
        left.seconds - reserved.seconds,
    )


def calls_to_read(reports: Sequence[RetrievedItem], most: int) -> int:
    """Return in how many calls, `most` at most, community reports are read before an answer."""
    if not reports:
        return 0
    return min(ceil(estimate_tokens(format_reports(reports)) / _REPORT_TOKENS), most, len(reports))


def prompt_size(messages: Messages) -> int:
    """Return the tokens of a prompt, estimated."""
    return sum(estimate_tokens(text) for _, text in messages)


def usage_of_failure(error: Exception, messages: Messages, model: str, calls: int = 1) -> Usage:
    """Return what failed calls cost: what the error says, nothing where no server was reached, else their prompts."""
    if isinstance(error, ModelUnavailable | ModelOutputInvalid) and error.usage is not None:
        return error.usage
    if isinstance(error, ModelUnavailable) and error.unreachable:
        return Usage(calls)
    return Usage(calls, calls * prompt_size(messages), estimated=True).of_model(model)


def limit_warning(limit: Limit, limits: LimitSettings) -> CodedWarning:
    """Return the warning that a limit was reached."""
    return CodedWarning(_USED_UP[limit], {"most": getattr(limits, limit)})


def merge_warnings(
    warnings: Iterable[Mapping[str, Any]], *more: CodedWarning
) -> list[dict[str, Any]]:
    """Return the warnings of a state and `more`, each once, as the state holds them."""
    known = map(CodedWarning.from_json, warnings)
    return [warning.to_json() for warning in distinct([*known, *more])]
