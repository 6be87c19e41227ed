"""Do the same work of several documents in one transaction, whenever several wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from sextant.domain.errors import DependencyError
from sextant.domain.scope import Scope

T = TypeVar("T")
R = TypeVar("R")

_MOST = 32  # items of one call, so that nobody waits long for its end
_DELAY = 0.2  # seconds in which more items may come, as PostgreSQL's `commit_delay`
_SHARE = 4  # no delay once a quarter of the items that may come are waiting


class GroupCommit(Generic[T, R]):
    """Call `work` with all items of a scope that wait at that moment; one call at a time for each scope.

    A call that fails is repeated for each item by itself, so that an item costs its neighbours nothing. A caller
    that is cancelled does not stop a call that has begun.

    Args:
        work: does several items, all or none, and returns a result for each.
    """

    def __init__(self, work: Callable[[Scope, Sequence[T]], Awaitable[Sequence[R]]]) -> None:
        self._work = work
        self._coming = 1
        self._waiting: dict[Scope, list[tuple[T, asyncio.Future[R]]]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def do(self, scope: Scope, item: T, coming: int = 1) -> R:
        """Return the result of an item; raises what `work` raises for it.

        `coming`: how many items there may be soon, this one included.
        """
        self._coming = coming
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        if scope in self._waiting:
            self._waiting[scope].append((item, result))
        else:
            self._waiting[scope] = [(item, result)]
            task = asyncio.create_task(self._run(scope))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return await result

    async def _run(self, scope: Scope) -> None:
        waiting = self._waiting[scope]
        group = list[tuple[T, asyncio.Future[R]]]()
        try:
            while waiting:
                if _SHARE * len(waiting) < self._coming:
                    await asyncio.sleep(_DELAY)
                group = [one for one in waiting[:_MOST] if not one[1].done()]
                del waiting[:_MOST]
                if group:
                    await self._do(scope, group)
        finally:
            for _, future in (*group, *self._waiting.pop(scope)):
                future.cancel()  # of those without an outcome, if this task was stopped

    async def _do(self, scope: Scope, group: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._work(scope, [item for item, _ in group])
        except Exception as error:  # noqa: BLE001 - raised to those who wait
            if len(group) > 1 and not isinstance(error, DependencyError):
                for one in group:
                    await self._do(scope, [one])
                return
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), result in zip(group, results, strict=True):
                if not future.done():
                    future.set_result(result)
