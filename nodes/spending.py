"""What one answer may cost (`limits`), and what is left of it: model calls, prompt tokens, seconds.

Whoever asks the chat model looks here first. Judgements (analyze, grade, refine) leave the answer its
call, its prompt and a third of the time; when they can afford no more, rules judge, and when the time
for searching is over, the answer is written from what there is. Each limit that was reached is said
once in the state's `warnings`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from domain.answers import Usage
from domain.settings import LimitSettings
from domain.text import estimate_tokens
from nodes.context import RunContext
from nodes.state import State
from prompts import Messages

# What the answer keeps of the seconds, and at most of the prompt tokens.
_ANSWERS_SHARE = 1 / 3
_ANSWERS_PROMPT_SHARE = 1 / 2
# What is kept of the seconds to end an answer with, whatever the model did: quotes compared, quotations chosen.
_LAST_SHARE = 1 / 30
# Tokens of an answer's prompt beside its context: instructions, question, conversation.
_AROUND_CONTEXT = 1500


class Limit(StrEnum):
    """The limits of one answer, by their names in the settings."""

    CALLS = "model_calls"
    TOKENS = "prompt_tokens"
    TIME = "answer_seconds"


_REACHED = {
    Limit.CALLS: "{most} model calls",
    Limit.TOKENS: "{most} prompt tokens",
    Limit.TIME: "{most:g} seconds",
}


@dataclass(frozen=True, slots=True)
class Budget:
    """What may still be spent; what is overspent is below zero."""

    calls: int
    prompt_tokens: int
    seconds: float

    def lacks(self, prompt_tokens: int = 0, calls: int = 1) -> Limit | None:
        """The limit that stands against `calls` more calls with so many prompt tokens in all."""
        if self.seconds <= 0:
            return Limit.TIME
        if self.calls < calls:
            return Limit.CALLS
        return Limit.TOKENS if self.prompt_tokens < prompt_tokens else None


def deadline(run: RunContext) -> float:
    """When models and searches must be done for an answer that is begun now, as seconds since the epoch."""
    return time.time() + run.deps.settings.limits.answer_seconds * (1 - _LAST_SHARE)


def usage_of(state: State) -> Usage:
    """Return what the run has spent so far."""
    return Usage(**state.usage)


def budget_of(state: State, run: RunContext) -> Budget:
    """All that is left; `generate` may spend it."""
    limits, spent = run.deps.settings.limits, usage_of(state)
    return Budget(
        limits.model_calls - spent.calls,
        limits.prompt_tokens - spent.prompt_tokens,
        state.deadline - time.time() if state.deadline else limits.answer_seconds,
    )


def judging_budget(state: State, run: RunContext) -> Budget:
    """What is left for searching and judging, so that the answer can still be written."""
    limits, left = run.deps.settings.limits, budget_of(state, run)
    answers = min(
        limits.context_tokens + _AROUND_CONTEXT, int(limits.prompt_tokens * _ANSWERS_PROMPT_SHARE)
    )
    return Budget(
        left.calls - 1,
        left.prompt_tokens - answers,
        left.seconds - limits.answer_seconds * _ANSWERS_SHARE,
    )


def prompt_size(messages: Messages) -> int:
    """Estimated tokens of a prompt."""
    return sum(estimate_tokens(text) for _, text in messages)


def failed_call(messages: Messages, calls: int = 1) -> Usage:
    """What a call that gave nothing has cost: its prompt, estimated."""
    return Usage(calls, calls * prompt_size(messages), estimated=True)


def reached(limit: Limit, limits: LimitSettings) -> str:
    """The sentence that tells of a limit."""
    most = _REACHED[limit].format(most=getattr(limits, limit))
    return (
        f"The answer reached its limit of {most} (limits.{limit}) and was made of what there was."
    )


def noted(warnings: Iterable[str], *more: str) -> list[str]:
    """`warnings` and `more`, each once."""
    return list(dict.fromkeys([*warnings, *more]))
