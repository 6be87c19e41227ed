"""Calling the asynchronous retriever from synchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_starting = threading.Lock()


def run_sync(make: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run the coroutine that `make` returns on a background event loop and wait for its result.

    The calling thread may have a running loop of its own, which is blocked meanwhile. All calls
    share one background loop, so connections opened on it stay useful from call to call.
    """
    with _starting:
        loop = _background_loop()
    waiting = asyncio.run_coroutine_threadsafe(make(), loop)
    try:
        return waiting.result()
    except BaseException:
        waiting.cancel()
        raise


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="sextant-sync", daemon=True).start()
    return loop
