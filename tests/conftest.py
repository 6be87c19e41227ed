"""How all tests run."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from types import AsyncGeneratorType

import pytest
from hypothesis import HealthCheck, settings

# No test says how fast a machine must be, nor what else it may do meanwhile.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A shell starts what runs in the background with Ctrl-C ignored, and every command of a test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Seconds that no test takes even on a machine with ten times as much to do.
_STALLED = float(os.environ.get("STALLED_AFTER", "1200"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Yield a test that stands still ends the run and tells what it waits for, where else nobody would know."""
    teller = threading.Timer(_STALLED, _tell_and_end, [item])
    teller.daemon = True
    teller.start()
    try:
        return (yield)
    finally:
        teller.cancel()


def _tell_and_end(item: pytest.Item) -> None:
    """Every task and thread, and what each waits for."""
    capture = item.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        sys.stderr.write(f"\n{item.nodeid} has stood still for {_STALLED:g} seconds\n")
        for task in _tasks():
            sys.stderr.write(f"{task.get_name()}:\n{''.join(_waiting(task))}\n")
        faulthandler.dump_traceback(sys.stderr, all_threads=True)
        os.kill(os.getpid(), signal.SIGINT)


def _waiting(task: asyncio.Task[object]) -> Iterator[str]:
    """Yield where each of a task's coroutines waits for the next; `print_stack` tells of the first alone."""
    inner: object = task.get_coro()
    while inner is not None:
        frame = getattr(inner, "cr_frame", None) or getattr(inner, "ag_frame", None)
        yield from traceback.format_stack(frame, 1) if frame else [f"  {inner!r}\n"]
        inner = (
            getattr(inner, "cr_await", None) or getattr(inner, "ag_await", None) or _stepped(inner)
        )


def _stepped(inner: object) -> object:
    """Return the generator whose next step this is, which Python 3.11 tells nobody."""
    return next(
        (one for one in gc.get_referents(inner) if isinstance(one, AsyncGeneratorType)), None
    )


def _tasks() -> list[asyncio.Task[object]]:
    return [one for one in gc.get_objects() if isinstance(one, asyncio.Task) and not one.done()]
