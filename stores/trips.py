"""Reading in few round trips: what is asked at the same moment goes to the server together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import LiteralString

from psycopg.rows import DictRow

from domain.errors import DatabaseUnavailable

# More statements than a question asks at once would only wait for each other.
_MOST_TOGETHER = 8


@dataclass(frozen=True, slots=True)
class Statement:
    """A query that changes nothing, with its parameters."""

    query: LiteralString
    values: Mapping[str, object]


Answer = Callable[[str, Sequence[Statement]], Awaitable[list[list[DictRow]]]]


@dataclass(slots=True)
class _Trip:
    """Statements that go together, and where the rows of each are awaited."""

    user_id: str
    statements: list[Statement] = field(default_factory=list[Statement])
    rows: list[asyncio.Future[list[DictRow]]] = field(
        default_factory=list[asyncio.Future[list[DictRow]]]
    )
    task: asyncio.Task[None] | None = None


class Trips:
    """Statements of one tenant that are asked in one turn of the event loop, as by `asyncio.gather`.

    Args:
        answer: the rows of some statements of a user, in one round trip and in their order.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._waiting: dict[tuple[asyncio.AbstractEventLoop, str], _Trip] = {}

    async def rows(self, user_id: str, statement: Statement) -> list[DictRow]:
        """The rows of a statement; a failure is raised here, and nowhere else unless the server is gone."""
        loop = asyncio.get_running_loop()
        trip = self._waiting.get((loop, user_id))
        if trip is None or len(trip.rows) == _MOST_TOGETHER:
            trip = self._waiting[loop, user_id] = _Trip(user_id)
            trip.task = loop.create_task(self._take(loop, trip))  # begins in the loop's next turn
        wanted: asyncio.Future[list[DictRow]] = loop.create_future()
        trip.statements.append(statement)
        trip.rows.append(wanted)
        try:
            return await wanted
        except asyncio.CancelledError:
            if trip.task is not None and all(one.done() for one in trip.rows):
                trip.task.cancel()  # nobody waits any more
            raise

    async def _take(self, loop: asyncio.AbstractEventLoop, trip: _Trip) -> None:
        if self._waiting.get((loop, trip.user_id)) is trip:
            del self._waiting[loop, trip.user_id]
        try:
            for wanted, rows in zip(trip.rows, await self._answers(trip), strict=True):
                if not wanted.done():
                    _settle(wanted, rows)
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            for wanted in trip.rows:
                if not wanted.done():
                    wanted.set_exception(error)

    async def _answers(self, trip: _Trip) -> list[list[DictRow] | Exception]:
        try:
            return list(await self._answer(trip.user_id, trip.statements))
        except DatabaseUnavailable:
            raise
        except Exception:
            if len(trip.statements) == 1:
                raise
            # One statement is at fault; the others were given up with it.
            return [await self._alone(trip.user_id, one) for one in trip.statements]

    async def _alone(self, user_id: str, statement: Statement) -> list[DictRow] | Exception:
        try:
            [rows] = await self._answer(user_id, [statement])
        except Exception as error:  # noqa: BLE001 - as above
            return error
        return rows


def _settle(wanted: asyncio.Future[list[DictRow]], rows: list[DictRow] | Exception) -> None:
    if isinstance(rows, Exception):
        wanted.set_exception(rows)
    else:
        wanted.set_result(rows)
