"""Waiting for work no longer than a deadline, whatever its cancellation takes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_abandoned: set[asyncio.Future[Any]] = set()


async def with_deadline(seconds: float, work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await `work`, but not longer than `seconds`, whatever its cancellation takes.

    Raises:
        TimeoutError: the time is over.
    """
    [task] = await gather_until(seconds, [work])
    if not task.done():
        raise TimeoutError(f"no answer within {seconds:g} s")
    return task.result()


async def detach_on_cancel(work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await `work`; whoever is cancelled meanwhile, as by `asyncio.timeout`, does not wait until it has ended."""
    [task] = await gather_until(None, [work])
    return task.result()


async def gather_until(
    seconds: float | None, works: Iterable[Coroutine[Any, Any, T] | asyncio.Future[T]]
) -> list[asyncio.Future[T]]:
    """Run works at once until all are done, one has failed, or `seconds` are over; None: without end.

    `asyncio.timeout` waits until the cancelled work has ended, and psycopg tells the server first:
    against a network that swallows packets a 3 s deadline took 13 s (anchors: reliability §2.4). Here
    what is not done is cancelled and left to end by itself.

    Returns:
        The works as tasks or futures, in their order.
    """
    tasks: list[asyncio.Future[T]] = [asyncio.ensure_future(work) for work in works]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            _forget(task) if task.done() else _abandon(task)
    return tasks


def _abandon(task: asyncio.Future[Any]) -> None:
    _abandoned.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: asyncio.Future[Any]) -> None:
    _abandoned.discard(task)
    seen(task)


def seen(task: asyncio.Future[Any]) -> None:
    """Take note of how a task ended, so that asyncio reports no failure that nobody waits for."""
    if not task.cancelled():
        task.exception()
