"""The command line: one file per command, in a room with its like, importing what is heavy only when it runs."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run `sextant` with the process's arguments and exit with its status."""
    # Imports make objects that stay; counting through them again every 700 new ones was 0.3 s of CPU.
    gc.set_threshold(100_000)
    # A thread that computes outside the interpreter's lock wants it back for a moment between two
    # operations; at Python's 5 ms it mostly waits while another thread imports.
    sys.setswitchinterval(0.0005)
    from sextant.cli.app import run

    sys.exit(run(sys.argv[1:]))
