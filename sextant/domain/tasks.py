"""Asyncio tasks: stop them for certain, run several together, and run one from synchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

# Time for a cancelled task to clean up before it is cancelled again.
_AGAIN_SECONDS = 2.0


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and again until all have ended, however they end.

    Cancelling once is not enough for a task that loops: up to Python 3.11 `asyncio.wait_for` loses a cancellation
    that arrives just as its awaitable completes (python/cpython#86296), and the connection pool uses it.
    """
    going = {task for task in tasks if not task.done()}
    while going:
        for task in going:
            task.cancel()
        _, going = await asyncio.wait(going, timeout=_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # an error that nobody reads is logged as never retrieved


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Stop tasks, and raise the first error that one of them ended with."""
    await stop(*tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


_Result = TypeVar("_Result")

_starting = threading.Lock()


async def run_together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines side by side; the first error stops the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


def run_sync(make: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run the coroutine that `make` returns on a background event loop and wait for its result.

    The calling thread may have a running loop of its own, which is blocked meanwhile. All calls
    share one background loop, so connections opened on it stay useful from call to call.
    """
    waiting = _submit(make)
    try:
        return waiting.result()
    except BaseException:
        waiting.cancel()
        raise


async def run_in_background(make: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run the coroutine that `make` returns on the loop of `run_sync`; cancelling the one cancels the other."""
    return await asyncio.wrap_future(_submit(make))


def _submit(make: Callable[[], Coroutine[Any, Any, _Result]]) -> Future[_Result]:
    with _starting:
        loop = _background_loop()
    return asyncio.run_coroutine_threadsafe(make(), loop)


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="sextant-sync", daemon=True).start()
    return loop
