"""What a streamed answer says while it is made: one dataclass per event, told apart by `type`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sextant.domain.answers import Answer, Citation, Source
from sextant.domain.errors import SextantError, error_of


@dataclass(frozen=True, slots=True)
class Status:
    """A node began, or has something to report."""

    node: str
    detail: str = ""
    attempt: int = 0
    type: Literal["status"] = "status"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A retrieval round ended."""

    mode: str
    count: int
    timings: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    type: Literal["retrieval"] = "retrieval"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer's text, to be appended."""

    text: str
    type: Literal["token"] = "token"


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence just finished and this citation of it holds."""

    citation: Citation
    type: Literal["citation"] = "citation"


@dataclass(frozen=True, slots=True)
class Reset:
    """What the answer said so far is withdrawn: tokens and citations begin anew behind this.

    It comes after the model's last word, when a check of the finished text has mended it, and once before where
    what came so far was the model's thought. Who cannot take text back may draw a line and go on; `Done` has the whole in any case.
    """

    reason: str
    type: Literal["reset"] = "reset"


@dataclass(frozen=True, slots=True)
class Sources:
    """The passages that the answer cites, in order of their markers."""

    sources: tuple[Source, ...]
    type: Literal["sources"] = "sources"


@dataclass(frozen=True, slots=True)
class Done:
    """The end: the whole answer, equal to what was streamed (since the last `Reset`, if there was one)."""

    answer: Answer
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Failed:
    """The end of a stream that failed: a stable code and a sentence; never a stack trace."""

    code: str
    message: str
    retryable: bool
    detail: Mapping[str, Any] | None = None
    type: Literal["error"] = "error"


Event = Status | Retrieved | Token | Cited | Reset | Sources | Done | Failed

_FLAT = (Token, Status, Retrieved, Reset, Failed)


def as_values(event: Event) -> dict[str, Any]:
    """Return the event as plain values. Those of which an answer has many are flat, and `asdict` copies deeply."""
    if isinstance(event, _FLAT):
        return {name: getattr(event, name) for name in event.__slots__}
    return asdict(event)


async def answer_of(
    events: AsyncGenerator[Event],
    on_event: Callable[[Event], Awaitable[None]] | None = None,
    *,
    next_step: str = "",
) -> Answer:
    """Return the answer that `events` end with; the run is stopped when nobody waits for it.

    Args:
        events: of one run; closed in any case.
        on_event: hears of each event before the end.
        next_step: what to do about a failure that does not say so itself.

    Raises:
        SextantError: what went wrong, as the error that says it best.
    """
    async with aclosing(events):
        async for event in events:
            match event:
                case Done(answer=answer):
                    return answer
                case Failed(code=code, message=message, detail=detail):
                    raise error_of(code, message, **(detail or {"next_step": next_step}))
            if on_event is not None:
                await on_event(event)
    raise SextantError("The answer broke off.", next_step="Ask again.")
