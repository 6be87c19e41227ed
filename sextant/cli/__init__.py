"""The command line: one file per command, in a room with its like, importing what is heavy only when it runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `sextant` with the process's arguments and exit with its status."""
    from sextant.cli.lean import start_lean

    start_lean()
    from sextant.cli.app import run

    sys.exit(run(sys.argv[1:]))
