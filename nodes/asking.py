"""Asking the chat model for a judgement, where a rule can take over when it gives none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from domain.answers import Usage
from domain.errors import ModelOutputInvalid, ModelUnavailable
from nodes.context import RunContext
from nodes.spending import usage_of
from nodes.state import State
from prompts import Messages

_log = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)

# A judgement is short; what takes longer than this is not worth waiting for, since a rule is at hand.
_SECONDS = 20.0
# A judgement costs one call, or two with its repair, and one is kept for the answer.
_CALLS_AHEAD = 3


@dataclass(frozen=True, slots=True)
class Judgement(Generic[T]):
    """What the model said, if anything, and the state update that asking it costs."""

    reply: T | None
    costs: dict[str, Any]


async def ask(state: State, run: RunContext, messages: Messages, schema: type[T]) -> Judgement[T]:
    """Ask the chat model for an object of `schema`.

    There is no reply, and the caller goes by rule, when no chat model is configured, when the
    answer's budget of model calls (`limits.model_calls`) is used up, and, with a warning in the
    state, when the model fails.
    """
    spent = usage_of(state)
    if run.deps.chat is None or spent.calls + _CALLS_AHEAD > run.deps.settings.limits.model_calls:
        return Judgement(None, {})
    try:
        async with asyncio.timeout(_SECONDS):
            reply, usage = await run.deps.chat.structured(messages, schema)
    except (ModelUnavailable, ModelOutputInvalid, TimeoutError) as error:
        _log.warning("chat model gave no %s (%s); going by rule", schema.__name__, error)
        lost = Usage(calls=1)
        return Judgement(None, {"usage": asdict(spent + lost), "warnings": warned(state, error)})
    return Judgement(reply, {"usage": asdict(spent + usage)})


def warned(state: State, error: Exception) -> list[str]:
    """Return the state's warnings and, once, that a rule stood in for the chat model."""
    reason = getattr(error, "message", "The chat model did not answer in time.")
    return list(
        dict.fromkeys([*state.warnings, f"Judged by rule, without the chat model: {reason}"])
    )


def conversation(history: Sequence[dict[str, str]], turns: int) -> str:
    """Return the last `turns` messages of a conversation, one per line, for a prompt."""
    last = history[-turns:] if turns else []
    return "\n".join(f"{turn.get('role', 'user')}: {turn.get('content', '')}" for turn in last)
