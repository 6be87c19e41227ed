"""Ask a chat model about many items, several in a call, within a budget.

Items that an answer leaves out are asked about once more. Those of a failed call are asked about in two halves; an
item that fails alone has failed. Calls become smaller while an endpoint is too slow for them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ContextTooLong,
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
)
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.cost import CostBudget
from sextant.models.chat.call_limits import AdaptiveLimit, Slot

_GONE_AFTER = 3  # calls in a row without an answer: the endpoint is gone

I = TypeVar("I")  # noqa: E741 - an item that is asked about
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ModelCall(Generic[R]):
    """A call about some items: its estimated usage, and how to get the replies by the index of the item."""

    need: Usage
    send: Callable[[], Awaitable[tuple[Mapping[int, R], Usage]]]


@dataclass(frozen=True, slots=True)
class CallOutcome(Generic[I, R]):
    """Replies and errors by the index of the item; those of other items come with a later call."""

    items: Sequence[I]
    usage: Usage
    found: Mapping[int, R]
    errors: Mapping[int, SextantError]


@dataclass(slots=True)
class Pace:
    """How many calls at a time an endpoint answers, and how large ones, as a share of their usual size."""

    limit: AdaptiveLimit
    timeout: float
    share: float = 1.0

    @classmethod
    def of(cls, settings: Settings) -> Pace:
        """Return the pace to begin with."""
        return cls(AdaptiveLimit(settings.model_concurrency), settings.model_timeout)

    def note_answer(self, slot: Slot, seconds: float, usage: Usage) -> None:
        """Note how long an answer took; after a fast one calls may be larger."""
        slot.note_answer(seconds, usage)
        if seconds < self.timeout / 4:
            self.share = min(1.0, 2 * self.share)

    def note_too_much(self) -> None:
        """Note that a call was too large."""
        self.share = max(1 / 8, self.share / 2)


@dataclass(frozen=True, slots=True)
class _Reply(Generic[R]):
    found: Mapping[int, R]
    usage: Usage
    error: SextantError | None = None
    was_crowded: bool = False  # silent beside other calls, so it may answer later


@dataclass(slots=True)
class CallRun(Generic[I, R]):
    """The calls of one run.

    Attributes:
        pace: of the endpoint; outlives the run.
        budget: limits the cost.
        stopped: why no further call is made; None while the endpoint answers.
        answered: whether any call was answered.
    """

    pace: Pace
    budget: CostBudget
    stopped: SextantError | None = None
    answered: bool = False
    _unanswered: int = 0

    @property
    def is_over(self) -> bool:
        """Return whether no further call is made."""
        return self.stopped is not None or self.budget.exhausted

    async def ask(
        self, items: Sequence[I], call_about: Callable[[Sequence[I]], ModelCall[R]]
    ) -> AsyncIterator[CallOutcome[I, R]]:
        """Yield the outcomes of calls; items are missing if the run is over before.

        Args:
            items: what to ask about in the first call.
            call_about: makes the call about some of them.
        """
        groups = deque([(items, False)])  # with whether they are asked about again
        unnoted = Usage()
        while groups:
            some, is_repeated = groups.popleft()
            reply = await self._send(call_about(some), is_single=len(some) == 1)
            if reply is None:
                return
            errors = dict[int, SextantError]()
            left_out = [at for at in range(len(some)) if at not in reply.found]
            is_cut = bool(reply.found) and reply.usage.truncated
            if reply.error is not None and len(some) > 1:
                half = -(-len(some) // 2)
                groups.extend([(some[:half], is_repeated), (some[half:], is_repeated)])
            elif left_out and (
                is_cut or not (is_repeated or (reply.error and not reply.was_crowded))
            ):
                groups.append(([some[at] for at in left_out], is_repeated or not is_cut))
            else:
                errors = dict.fromkeys(left_out, reply.error or _omission_error(reply.usage))
            unnoted += reply.usage
            if reply.found or errors:
                yield CallOutcome(some, unnoted, reply.found, errors)
                unnoted = Usage()

    async def _send(self, call: ModelCall[R], *, is_single: bool) -> _Reply[R] | None:
        """Return the reply to a call; None if the run is over."""
        async with self.pace.limit.slot() as slot:
            if self.is_over or not self.budget.reserve(call.need):
                return None
            usage, began = Usage(), time.monotonic()
            try:
                found, usage = await call.send()
            except SextantError as error:
                # Invalid answers cost tokens, refusals do not. If the usage is unknown, the prompt was sent at least.
                known = isinstance(error, ModelOutputInvalid | ModelUnavailable) and error.usage
                usage = known or Usage(1, call.need.prompt_tokens, 0, estimated=True)
                was_crowded = self._note_error(slot, error, is_single=is_single)
                return _Reply({}, usage, error, was_crowded)
            finally:
                self.budget.settle(call.need, usage)
            self.pace.note_answer(slot, time.monotonic() - began, usage)
            self.answered, self._unanswered = True, 0
            return _Reply(found, usage)

    def _note_error(self, slot: Slot, error: SextantError, *, is_single: bool) -> bool:
        """Note a failed call; return whether it was silent beside other calls."""
        if isinstance(error, ContextTooLong) or not isinstance(error, ModelUnavailable):
            self.answered, self._unanswered = True, 0
            if isinstance(error, ContextTooLong):
                self.pace.note_too_much()
            return False
        is_silent = error.usage is None and not error.unreachable
        was_crowded = is_silent and slot.limit.busy > 1
        if is_silent:
            self.pace.note_too_much()
            slot.note_overload()
        if is_single or not is_silent:
            self._unanswered += 1
        if self._unanswered >= _GONE_AFTER:
            self.stopped = error
        return was_crowded


def _omission_error(usage: Usage) -> ModelOutputInvalid:
    error = ModelOutputInvalid(
        "The chat model left a passage out of its answer twice.",
        next_step="Run the command again, or choose another SEXTANT_CHAT_MODEL.",
    )
    error.usage = usage
    return error
