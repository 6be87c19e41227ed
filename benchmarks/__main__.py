"""Run all benchmarks, each in a process of its own: `python -m benchmarks`.

What they measure goes into docs/reports/speed.json and docs/speed.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import VARIABLE, write_figures
from benchmarks.quality.sets import parser_of

HERE = Path(__file__).parent
_HELPERS = {"figures"}


def main() -> int:
    """Run them all and return the worst exit status; one that fails does not stop the others."""
    parser_of(__doc__).parse_args()
    worst = 0
    packages = [file.parent for file in HERE.glob("*/__main__.py")]
    names = {path.stem for path in [*HERE.glob("[a-z]*.py"), *packages]} - _HELPERS
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
        figures = Path(folder) / "figures.jsonl"
        figures.touch()
        for name in sorted(names):
            print(f"\n== {name}", flush=True)
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", f"benchmarks.{name}"],
                check=False,
                env=os.environ | {VARIABLE: str(figures)},
            )
            worst = max(worst, abs(done.returncode))
        write_figures(figures)
    return worst


if __name__ == "__main__":
    sys.exit(main())
