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
    from sextant.cli.app import run

    # After Ctrl-C `chat` ends only the answer, and `mcp` waits for the end of its input.
    if sys.argv[1:2] not in (["chat"], ["mcp"]):
        signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(run(sys.argv[1:]))


def _interrupt(order: int, frame: FrameType | None) -> None:
    """End as after Ctrl-C, also where that is ignored: what has begun is given back, and the same command goes on from there.

    A second signal ends at once, such as where a thread still waits for standard input.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    handler = signal.getsignal(signal.SIGINT)  # asyncio's own while it runs
    (handler if callable(handler) else signal.default_int_handler)(order, frame)
