"""Limits on requests to chat models: for a piece of work in all, and at an endpoint at a time.

**In all** (`allowing`). Every request counts: also one that was refused, repeated after 429 or timed out, and those of a
reranker.

**At a time** (`AdaptiveLimit`). An endpoint answers one call at a time or a hundred, and does not say so. The limit begins
at one. It grows by one while calls take no longer than before, which shows that they do not wait for each other. It is
halved where the endpoint refuses for now or falls silent (additive increase, multiplicative decrease: Chiu and Jain, 1989).

Also here: `Refusals`, which says when further calls are in vain.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import cast

from anyio import CapacityLimiter

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelRejected, ModelUnavailable, SextantError, Wording

# After so many refusals in a row the next prompt would be refused, too.
_GONE_AFTER = 3


@dataclass(slots=True)
class Refusals:
    """Counts the calls that a model refused in a row."""

    in_a_row: int = 0

    def answered(self) -> None:
        """Take note that a call was answered."""
        self.in_a_row = 0

    def gone(self, error: SextantError) -> bool:
        """Note a failed call, and return whether further calls are in vain.

        They are after one silence, or the third status in a row; a single status may be about its prompt alone. A
        useless answer is an answer.
        """
        if not isinstance(error, ModelUnavailable):
            self.answered()
            return False
        self.in_a_row += 1
        is_silent = error.usage is None
        return is_silent or self.in_a_row >= _GONE_AFTER


SPENT = {
    "en": Wording(
        "The limit of model calls (limits.model_calls), which counts failed ones too, is reached.",
        "Raise SEXTANT_LIMITS__MODEL_CALLS, or ask again.",
    ),
    "zh": Wording(
        "模型调用次数已达上限（limits.model_calls，失败的调用也计入）。",
        "请调高 SEXTANT_LIMITS__MODEL_CALLS，或再问一次。",
    ),
}


@dataclass(slots=True)
class Allowance:
    """At most `most` requests, of which `made` were made; they count in `outer` as well.

    `charged` are the tokens of those requests whose usage nobody else reports.
    """

    most: int
    outer: Allowance | None = None
    made: int = 0
    charged: Usage = field(default_factory=Usage)

    @property
    def left(self) -> int:
        """Return how many requests may still be made."""
        left = self.most - self.made
        return left if self.outer is None else min(left, self.outer.left)

    def count(self) -> None:
        """Note a request."""
        self.made += 1
        if self.outer is not None:
            self.outer.count()

    def charge(self, usage: Usage) -> None:
        """Add tokens; the requests were counted when they were made."""
        self.charged += replace(usage, calls=0)
        if self.outer is not None:
            self.outer.charge(usage)


# Tasks share the allowance in which they began: their context is a copy, the allowance is not.
_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowing(most: int) -> Iterator[Allowance]:
    """Allow at most `most` requests within the context."""
    allowance = Allowance(most, _current.get())
    token = _current.set(allowance)
    try:
        yield allowance
    finally:
        _current.reset(token)


@contextmanager
def keeping(calls: int) -> Iterator[None]:
    """Keep `calls` of the current allowance, if there is one, for after the context."""
    current = _current.get()
    if current is None:
        yield
        return
    with allowing(current.left - calls):
        yield


def another_may_be_made() -> bool:
    """Return whether the allowance, if there is one, lets one more request be made."""
    current = _current.get()
    return current is None or current.left > 0


def count_request() -> None:
    """Note a request that is about to be made.

    Raises:
        ModelRejected: none may be made.
    """
    if not another_may_be_made():
        raise ModelRejected.worded(SPENT)
    if (current := _current.get()) is not None:
        current.count()


def count_earlier(calls: int) -> None:
    """Count requests that an earlier run made for the same work."""
    if (current := _current.get()) is not None:
        for _ in range(calls):
            current.count()


def charge(usage: Usage) -> None:
    """Add the usage of requests that no caller reports, such as a reranker's."""
    if (current := _current.get()) is not None:
        current.charge(usage)


# Calls wait for each other when a token takes so many times the seconds of the quickest.
_SLOWER = 1.5
# Rounds of calls between a decrease and the next increase.
_PATIENCE = 8
# Reading a token takes an endpoint about a tenth of the time of writing one.
_PROMPT_SHARE = 0.1


@dataclass(slots=True, eq=False)
class Slot:
    """A call under way. `is_full`: the limit was reached during it, so its time shows whether calls wait."""

    limit: AdaptiveLimit
    decreases: int = 0
    is_full: bool = False

    def note_answer(self, seconds: float, usage: Usage) -> None:
        """Note an answer, and how long it took."""
        work = usage.completion_tokens + _PROMPT_SHARE * usage.prompt_tokens
        if self.is_full and work > 0 and self.decreases == self.limit.decreases:
            self.limit.note_pace(seconds / work)

    def note_overload(self) -> None:
        """Note that the endpoint refused for now, or fell silent; for calls under way together it counts once."""
        if self.decreases == self.limit.decreases:
            self.limit.decrease()


_slot: ContextVar[Slot | None] = ContextVar("slot", default=None)


def note_overload() -> None:
    """Note that the endpoint refused the call of the current slot, if there is one."""
    if (slot := _slot.get()) is not None:
        slot.note_overload()


class AdaptiveLimit:
    """The calls that an endpoint is given at a time: at least one, at most `ceiling`.

    Attributes:
        ceiling: how many may ever be under way.
        decreases: how often the limit became smaller.
    """

    def __init__(self, ceiling: int, size: int = 1) -> None:
        self.ceiling = ceiling
        self.decreases = 0
        self._limiter = CapacityLimiter(size)
        self._round = list[float]()  # seconds of a token, of each answer
        self._fastest: float | None = None
        self._wait = 0  # rounds

    @property
    def size(self) -> int:
        """Return how many calls may be under way."""
        return int(self._limiter.total_tokens)

    @property
    def busy(self) -> int:
        """Return how many calls are under way."""
        return self._limiter.borrowed_tokens

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Wait until one more call may be made, and hold its slot meanwhile."""
        slot = Slot(self)
        await self._limiter.acquire_on_behalf_of(slot)
        slot.decreases = self.decreases
        if self.busy >= self.size:
            for one in cast("tuple[Slot, ...]", self._limiter.statistics().borrowers):
                one.is_full = True
        token = _slot.set(slot)
        try:
            yield slot
        finally:
            _slot.reset(token)
            self._limiter.release_on_behalf_of(slot)

    def note_pace(self, seconds: float) -> None:
        """Note how long a token took; after as many answers as there are slots the limit follows."""
        self._round.append(seconds)
        if len(self._round) < self.size:
            return
        mean = sum(self._round) / len(self._round)
        self._round.clear()
        # A call that is alone waits for none, however slow the endpoint has become.
        if self._fastest is None or self.size == 1 or mean < self._fastest:
            self._fastest = mean
        self._wait = max(0, self._wait - 1)
        if mean > self._fastest * _SLOWER and self.size > 1:
            self._shrink(self.size - 1)
        elif not self._wait:
            self._limiter.total_tokens = min(self.ceiling, self.size + 1)

    def decrease(self) -> None:
        """Halve the limit."""
        self._shrink(max(1, self.size // 2))

    def _shrink(self, size: int) -> None:
        self._limiter.total_tokens, self._wait = size, _PATIENCE
        self.decreases += 1
        self._round.clear()
