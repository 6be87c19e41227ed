"""Reading in few round trips: what is asked at the same moment goes to the server together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, LiteralString, TypeVar

from sextant.domain.errors import DatabaseUnavailable

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

# More statements than a question asks at once would only wait for each other.
_MOST_TOGETHER = 8
# A shorter statement (seconds) is not worth a trip of its own, which takes 0.13 ms of the client and 0.1
# of the server (docs/performance-notes.md, "Lanes side by side").
_LONG = 0.0008
# Keys remembered.
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Statement:
    """A query that changes nothing, or a part of one, with its parameters."""

    query: LiteralString
    values: Mapping[str, Any] | Sequence[Any]


class LatencyTracker:
    """Which keys have slow statements, judged by their latest."""

    def __init__(self) -> None:
        self._long: set[Hashable] = set()

    def is_long(self, key: Hashable) -> bool:
        """Return whether each of the key's statements is worth a trip of its own; False of a new key."""
        return key in self._long

    def took(self, key: Hashable, seconds: float, statements: int) -> None:
        """Note what some statements took in one trip; of several trips at once the longest ends last."""
        if seconds <= _LONG * statements:
            self._long.discard(key)
        elif len(self._long) < _MOST_KNOWN:
            self._long.add(key)


Answer = Callable[[K, Sequence[Statement]], Awaitable[list[T]]]


@dataclass(slots=True)
class _Trip(Generic[K, T]):
    """Statements that go together, and where the answer to each is awaited."""

    key: K
    statements: list[Statement] = field(default_factory=list[Statement])
    answers: list[asyncio.Future[T]] = field(default_factory=list[asyncio.Future[T]])
    task: asyncio.Task[None] | None = None


class QueryBatcher(Generic[K, T]):
    """Statements of one key that are asked in one turn of the event loop, as by `asyncio.gather`.

    Args:
        answer: gives the results of some statements of a key (a tenant, say), in their order and in one
            round trip.
        most: how many go together.
    """

    def __init__(self, answer: Answer[K, T], most: int = _MOST_TOGETHER) -> None:
        self._answer = answer
        self._most = most
        self._waiting: dict[tuple[asyncio.AbstractEventLoop, K], _Trip[K, T]] = {}

    async def ask(self, key: K, statement: Statement) -> T:
        """Return the result of a statement.

        Where several go together and fail, or take too long for `answer`, each is tried by itself, so
        that a failure reaches its own caller only, unless the server is gone.
        """
        loop = asyncio.get_running_loop()
        trip = self._waiting.get((loop, key))
        if trip is None or len(trip.answers) == self._most:
            trip = self._waiting[loop, key] = _Trip(key)
            trip.task = loop.create_task(self._take(loop, trip))  # begins in the loop's next turn
        wanted: asyncio.Future[T] = loop.create_future()
        trip.statements.append(statement)
        trip.answers.append(wanted)
        try:
            return await wanted
        except asyncio.CancelledError:
            if trip.task is not None and all(one.done() for one in trip.answers):
                trip.task.cancel()  # nobody waits any more
            raise

    async def _take(self, loop: asyncio.AbstractEventLoop, trip: _Trip[K, T]) -> None:
        if self._waiting.get((loop, trip.key)) is trip:
            del self._waiting[loop, trip.key]
        try:
            answers = await self._answer(trip.key, trip.statements)
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            if len(trip.statements) == 1 or isinstance(error, DatabaseUnavailable):
                for wanted in trip.answers:
                    if not wanted.done():
                        wanted.set_exception(error)
                return
            # One statement is at fault; the others were given up with it.
            alone = zip(trip.statements, trip.answers, strict=True)
            await asyncio.gather(*(self._alone(trip.key, *one) for one in alone))
            return
        for wanted, answer in zip(trip.answers, answers, strict=True):
            if not wanted.done():
                wanted.set_result(answer)

    async def _alone(self, key: K, statement: Statement, wanted: asyncio.Future[T]) -> None:
        if wanted.done():
            return
        try:
            [answer] = await self._answer(key, [statement])
        except Exception as error:  # noqa: BLE001 - as above
            if not wanted.done():
                wanted.set_exception(error)
        else:
            if not wanted.done():
                wanted.set_result(answer)
