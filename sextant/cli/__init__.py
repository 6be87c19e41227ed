"""The command line. Its modules import heavy libraries only inside the commands."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run `sextant` with the process's arguments and exit with its status."""
    # Imports make many long-lived objects; collecting after every 700 of them took 0.3 s of CPU.
    gc.set_threshold(100_000)
    # The thread that loads the model needs the GIL for moments; at Python's 5 ms it would mostly wait while the
    # main thread imports.
    sys.setswitchinterval(0.0005)
    from sextant.cli.app import run

    sys.exit(run(sys.argv[1:]))
