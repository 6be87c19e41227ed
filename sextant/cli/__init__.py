"""The command line. Its modules import heavy libraries only inside the commands."""

from __future__ import annotations

import gc
import signal
import sys
from types import FrameType


def main() -> None:
    """Run `sextant` with the process's arguments and exit with its status."""
    # Imports make many long-lived objects; collecting after every 700 of them took 0.3 s of CPU.
    gc.set_threshold(100_000)
    # The thread that loads the model needs the GIL for moments; at Python's 5 ms it would mostly wait while the
    # main thread imports.
    sys.setswitchinterval(0.0005)
    if sys.argv[1:2] != ["chat"]:  # there Ctrl-C ends only the answer
        signal.signal(signal.SIGTERM, _interrupt)
    from sextant.cli.app import run

    sys.exit(run(sys.argv[1:]))


def _interrupt(order: int, frame: FrameType | None) -> None:
    """End as after Ctrl-C, also where that is ignored: what has begun is given back, and the same command goes on from there."""
    handler = signal.getsignal(signal.SIGINT)  # asyncio's own while it runs
    (handler if callable(handler) else signal.default_int_handler)(order, frame)
