"""What one answer may cost (`limits`), and what is left of it: model calls, prompt tokens, seconds.

Whoever asks the chat model looks here first. Judgements (analyze, grade, refine) leave the answer what
`reserve_for_answer` says; when they can afford no more, rules judge, and when the time for searching is
over, the answer is written from what there is. Each limit that was reached is said once in the state's
`coded_warnings`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from sextant.models.chat.endpoint_memory import EndpointSpeed
from sextant.nodes.context import RunContext
from sextant.nodes.prompt_lines import format_reports
from sextant.nodes.state import State, reports_of
from sextant.prompts import Messages
from sextant.text.characters import estimate_tokens

# What the answer keeps of the seconds, and at most of the calls and prompt tokens.
ANSWER_SHARE = 1 / 3
_ANSWERS_MODEL_SHARE = 1 / 2
# What is kept of the seconds to end an answer with, whatever the model did: quotes compared, quotations chosen.
_LAST_SHARE = 1 / 30
# Tokens of an answer's prompt beside its context: instructions, question, conversation.
_AROUND_CONTEXT = 1500
# However little may still be spent, an answer needs something to rest on: so many tokens, and this share of what is
# worth showing.
LEAST_CONTEXT, _LEAST_SHARE = 200, 1 / 4
# In which share of an answer's time its first words shall come, and what share of the passages stays for it all the same.
_SOON, SLOWED = 1 / 8, 3 / 4
# What of the time that is left is planned with; rates vary.
_IN_TIME = 0.8
# Tokens of a short and of a usual answer; of a model whose answers are known, how much longer one may be.
_SHORT_ANSWER, _USUAL_ANSWER, _LONGER = 40, 150, 1.5
# How far beyond its time an answer must be for the model not to be asked.
_HOPELESS = 1.5
# Tokens of reports that one call reads. A call takes seconds whatever it reads: a few short reports are not
# worth several, and long ones are read sooner side by side.
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
    """What may still be spent; what is overspent is below zero."""

    calls: int
    prompt_tokens: int
    seconds: float

    def lacks(self, prompt_tokens: int = 0, calls: int = 1) -> Limit | None:
        """Return the limit that stands against `calls` more calls with so many prompt tokens in all."""
        if self.seconds <= 0:
            return Limit.TIME
        if self.calls < calls:
            return Limit.CALLS
        return Limit.TOKENS if self.prompt_tokens < prompt_tokens else None

    def after(self, usage: Usage) -> AnswerBudget:
        """Return what is left of it at this time once so many calls and tokens are gone."""
        return AnswerBudget(
            self.calls - usage.calls, self.prompt_tokens - usage.prompt_tokens, self.seconds
        )


def deadline(run: RunContext) -> float:
    """Return when models and searches must be done for an answer that is begun now, as seconds since the epoch."""
    return time.time() + run.deps.settings.limits.answer_seconds * (1 - _LAST_SHARE)


def usage_of(state: State) -> Usage:
    """Return what the run has spent so far."""
    return Usage(**state.usage)


def budget_of(state: State, run: RunContext) -> AnswerBudget:
    """Return all that is left; `generate` may spend it."""
    limits, usage = run.deps.settings.limits, usage_of(state)
    return AnswerBudget(
        limits.model_calls - usage.calls,
        limits.prompt_tokens - usage.prompt_tokens,
        state.deadline - time.time() if state.deadline else limits.answer_seconds,
    )


def wanted_passage_tokens(state: State, run: RunContext) -> int:
    """Return how many tokens of passages are worth showing: more for several parts or rounds, all for a broad question."""
    settings = run.deps.settings
    if is_broad(state.question) or reports_of(state):
        return settings.limits.context_tokens
    parts = max(1, len(state.subquestions), 1 + state.attempts)
    return min(settings.limits.context_tokens, parts * settings.answers.passage_tokens)


def passage_tokens(state: State, run: RunContext) -> int:
    """Return how many tokens of passages a prompt shows: what is worth it, as far as the model can read that in time."""
    wanted = wanted_passage_tokens(state, run)
    in_time = max(tokens_in_time(state, run, wanted), int(_LEAST_SHARE * wanted))
    return max(LEAST_CONTEXT, min(wanted, in_time, tokens_in_context(state, run)))


def tokens_in_context(state: State, run: RunContext) -> int:
    """Return how many tokens of passages fit the context of the model that answers, as far as that is known."""
    chat = run.deps.chat
    if chat is None or chat.context is None:
        return run.deps.settings.limits.context_tokens
    return chat.context.for_prompt - size_without_passages(state)


def tokens_in_time(state: State, run: RunContext, wanted: int) -> int:
    """Return how many tokens of passages the model that answers can read in the time that is left.

    Its first words shall come soon, too, for which a few passages less are worth it, as they are where its speed is not known.
    """
    chat, seconds = run.deps.chat, budget_of(state, run).seconds
    if chat is None:
        return wanted
    if not chat.speed.prompt:
        return int(SLOWED * wanted)
    speed, others = chat.speed, size_without_passages(state)
    soon = run.deps.settings.limits.answer_seconds * _SOON - speed.seconds(0, 0)
    if usage_of(state).calls or not state.sufficient:  # its passages are judged first
        soon -= speed.seconds(0, _SHORT_ANSWER)
    to_begin = max(SLOWED * wanted, soon * speed.prompt - others)
    to_end = speed.prompt_tokens_within(_IN_TIME * seconds, answer_length(speed)) - others
    return int(min(wanted, to_begin, to_end))


def answer_length(speed: EndpointSpeed) -> float:
    """Return how many tokens an answer of a model may well have."""
    return max(_SHORT_ANSWER, _LONGER * speed.shown) if speed.shown else _USUAL_ANSWER


def seconds_too_slow(state: State, run: RunContext) -> float:
    """Return how long a short answer from few passages would take of a model that was too slow lately; 0: it may be in time."""
    chat, left = run.deps.chat, budget_of(state, run).seconds
    if chat is None or not chat.speed.missed_lately:
        return 0.0
    least = max(LEAST_CONTEXT, int(_LEAST_SHARE * wanted_passage_tokens(state, run)))
    needed = chat.speed.seconds(size_without_passages(state) + least, _SHORT_ANSWER)
    return needed if needed > _HOPELESS * left else 0.0


def prompt_tokens(state: State, run: RunContext) -> int:
    """Return how many tokens the prompt of an answer has at most."""
    return size_without_passages(state) + passage_tokens(state, run)


def size_without_passages(state: State) -> int:
    """Return the tokens of an answer's prompt beside its passages."""
    history = sum(estimate_tokens(turn["content"]) for turn in state.before)
    return _instructions(state.language) + estimate_tokens(state.question) + history


@cache
def _instructions(language: str) -> int:
    empty = dict.fromkeys(("question", "passages", "knowledge", "history"), "")
    return prompt_size(prompts.GENERATE.messages(language, **empty))


def reserve_for_answer(state: State, run: RunContext) -> AnswerBudget:
    """Return what searching and judging leave, however they fare.

    The call that writes the answer; where reports are answered from, those that read them first; at
    most half of all calls, but one always. Their prompts, of which the reports and what they rest on fill
    one together, at most half of all tokens. A third of the time.
    """
    limits = run.deps.settings.limits
    reading = calls_to_read(reports_of(state), limits.report_calls)
    prompt = passage_tokens(state, run) + _AROUND_CONTEXT
    return AnswerBudget(
        max(1, min(1 + reading, int(limits.model_calls * _ANSWERS_MODEL_SHARE))),
        min(prompt * (2 if reading else 1), int(limits.prompt_tokens * _ANSWERS_MODEL_SHARE)),
        limits.answer_seconds * ANSWER_SHARE,
    )


def estimate_answer(state: State, run: RunContext) -> int:
    """Return the tokens that a turn takes in all once its answer is written: those used, and at most for the answer."""
    limits, used = run.deps.settings.limits, usage_of(state)
    found = sum(estimate_tokens(item.text) for item in state.items)
    calls = 1 + calls_to_read(reports_of(state), limits.report_calls)
    prompts = min(found, limits.context_tokens) + calls * _AROUND_CONTEXT
    return used.prompt_tokens + used.completion_tokens + prompts + limits.answer_tokens


def judging_budget(state: State, run: RunContext) -> AnswerBudget:
    """Return what is left for searching and judging, so that the answer can still be written."""
    left, reserved = budget_of(state, run), reserve_for_answer(state, run)
    return AnswerBudget(
        left.calls - reserved.calls,
        left.prompt_tokens - reserved.prompt_tokens,
        left.seconds - reserved.seconds,
    )


def calls_to_read(reports: Sequence[RetrievedItem], most: int) -> int:
    """In how many calls, `most` at most, reports of communities are read before an answer."""
    if not reports:
        return 0
    return min(ceil(estimate_tokens(format_reports(reports)) / _REPORT_TOKENS), most, len(reports))


def prompt_size(messages: Messages) -> int:
    """Estimated tokens of a prompt."""
    return sum(estimate_tokens(text) for _, text in messages)


def usage_of_failure(error: Exception, messages: Messages, model: str, calls: int = 1) -> Usage:
    """Return what a call of `model` that gave nothing has cost: as the error says, nothing where nobody was reached, else its prompt."""
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
    """Return the warnings of a state and more of them, each once, as the state holds them."""
    known = map(CodedWarning.from_json, warnings)
    return [warning.to_json() for warning in distinct([*known, *more])]
