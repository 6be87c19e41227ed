"""Files that go through the stages side by side: what they ask of the database is asked at once.

A transaction costs about as much for ten small documents as for one. Each file goes its own way, with
its own job and its own errors; where it asks for something that can be done for many, it waits until
the others ask, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from uuid import UUID

from sextant.domain.documents import Coverage
from sextant.domain.errors import DependencyError
from sextant.domain.scope import Scope
from sextant.domain.tasks import end
from sextant.domain.warnings import CodedWarning
from sextant.stores.documents.registration import Registered, Upload

A = TypeVar("A")
R = TypeVar("R")
Work = Callable[[Scope, Sequence[A]], Awaitable[Sequence[R]]]

# Nobody waits longer than this for the others to catch up: one of them may be a slow file.
_LINGER = 3.0  # seconds


@dataclass(frozen=True, slots=True)
class _EmbedRequest:
    work: Work[Any, Any]
    about: Any
    answer: asyncio.Future[Any]


class BatchCoordinator:
    """`members` files of one scope on their way; a context that ends what is still being done.

    `remarks`: what is missing of documents that were done on the way, by their ids; `coverages`: how much of them
    was read; `attached`: what was found attached to them, which is still to be done.
    """

    def __init__(self, scope: Scope, members: int = 1) -> None:
        self.scope = scope
        self.remarks: dict[UUID, tuple[CodedWarning, ...]] = {}
        self.coverages: dict[UUID, Coverage | None] = {}
        self.attached: dict[UUID, list[tuple[Upload, Registered]]] = {}
        self._members = members
        self._asking = 0
        self._waiting: list[_EmbedRequest] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop_timer()
        await end(*self._tasks)

    async def ask(self, work: Work[A, R], about: A) -> R:
        """Return the answer of `work` for one of its arguments, given with those for other members.

        Work that fails for several is done again for each, so an error reaches whom it concerns; one
        of a service that is gone reaches all.
        """
        if self._members <= 1 and not self._waiting:
            [only] = await work(self.scope, [about])
            return only
        request = _EmbedRequest(work, about, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        self._asking += 1
        self._look()
        answer: R = await request.answer
        return answer

    @contextmanager
    def detached(self) -> Iterator[None]:
        """Let nobody wait for a member that waits for something else meanwhile."""
        self.leave()
        try:
            yield
        finally:
            self._members += 1

    def leave(self) -> None:
        """One member fewer to wait for."""
        self._members -= 1
        self._look()

    def _look(self) -> None:
        if self._waiting and self._asking >= self._members:
            self._begin()
        elif self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LINGER, self._begin)

    def _begin(self) -> None:
        self._stop_timer()
        waiting, self._waiting = self._waiting, []
        task = asyncio.create_task(self._answer_all(waiting))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _answer_all(self, waiting: Sequence[_EmbedRequest]) -> None:
        for work in dict.fromkeys(one.work for one in waiting):
            await self._answer(work, [one for one in waiting if one.work == work])

    async def _answer(self, work: Work[Any, Any], requests: Sequence[_EmbedRequest]) -> None:
        try:
            answers = await work(self.scope, [one.about for one in requests])
        except Exception as error:  # noqa: BLE001 - whoever asked gets it
            if len(requests) > 1 and not isinstance(error, DependencyError):
                for one in requests:
                    await self._answer(work, [one])
                return
            self._asking -= len(
                requests
            )  # before they go on: the first to do so would find all asking
            for one in requests:
                if not one.answer.done():
                    one.answer.set_exception(error)
        else:
            self._asking -= len(requests)
            for one, answer in zip(requests, answers, strict=True):
                if not one.answer.done():
                    one.answer.set_result(answer)
