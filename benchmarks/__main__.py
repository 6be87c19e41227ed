"""Every benchmark in turn, each in a process of its own: `python -m benchmarks`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """Run them all and return the worst exit status; one that fails does not stop the others."""
    worst = 0
    packages = [file.parent for file in HERE.glob("*/__main__.py")]
    for name in sorted(path.stem for path in [*HERE.glob("[a-z]*.py"), *packages]):
        print(f"\n== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False)  # noqa: S603
        worst = max(worst, abs(done.returncode))
    return worst


if __name__ == "__main__":
    sys.exit(main())
