"""How many requests a piece of work may still make of chat models, whoever makes them for it.

Every request counts: one that is refused in this form, one that is repeated after 429, one that is given
up for its time, one of a reranker. Whoever bounds the work opens an allowance around it; outside of
one, requests are counted but by their own `Usage`.

Also here: when to give a chat model up, of many calls that each can do without an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelRejected, ModelUnavailable, SextantError, Wording

# It is not about one prompt then, and the next would be refused, too.
_GONE_AFTER = 3


@dataclass(slots=True)
class Refusals:
    """How many calls in a row a model has refused, while others wait for whoever makes them."""

    in_a_row: int = 0

    def answered(self) -> None:
        """Take note that a call was answered."""
        self.in_a_row = 0

    def gone(self, error: SextantError) -> bool:
        """Take note of a call that failed, and say whether further ones are in vain.

        Silence is waited for once. A status may be about this prompt alone, which a filter refuses or a
        server breaks at: the third in a row is not. An answer that is of no use is an answer.
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
        """Request that may still be made."""
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


# Tasks that are begun within share it: a context is copied, the allowance in it is not.
_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowing(most: int) -> Iterator[Allowance]:
    """Let what is done meanwhile make at most `most` requests."""
    allowance = Allowance(most, _current.get())
    token = _current.set(allowance)
    try:
        yield allowance
    finally:
        _current.reset(token)


@contextmanager
def keeping(calls: int) -> Iterator[None]:
    """Let what is done meanwhile leave `calls` of the current allowance, if there is one."""
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
    """Note requests that a run before has made for the same work."""
    if (current := _current.get()) is not None:
        for _ in range(calls):
            current.count()


def charge(usage: Usage) -> None:
    """Note what requests used whose usage their caller has no way to report, such as a reranker's."""
    if (current := _current.get()) is not None:
        current.charge(usage)
