"""Ctrl-C stops a command at once, whatever its event loop waits for."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from sextant.cli.session import run_interruptible


def test_a_signal_that_another_thread_takes_wakes_the_waiting_loop() -> None:
    waiting, late = threading.Event(), threading.Event()

    def press() -> None:
        waiting.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    async def work() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(waiting.set)
        loop.call_later(60, late.set)  # what the loop waits for
        await asyncio.Event().wait()

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work())
    presser.join()
    assert not late.is_set()
