"""Measure how long the command line takes until its first output.

    python -m benchmarks.startup

Limits: `--help` ≤ 0.3 s; `ask` ≤ 3 s from a cold start to the first piece of the answer, on
a running store. Wall and CPU seconds of whole processes; the median of five after one warm-up.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import record
from sextant.facade import Sextant

RUNS = 5
SAMPLE = Path(__file__).parents[1] / "samples" / "documents" / "rust-ownership.md"
QUESTION = "How does Rust keep memory safe without a garbage collector?"


def first_output(arguments: list[str], data_dir: str) -> tuple[float, float]:
    """Return wall seconds until the first output, and CPU seconds of the whole process."""
    environment = {**os.environ, "SEXTANT_DATA_DIR": data_dir}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "sextant", *arguments], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        waited = time.perf_counter() - began
        process.stdout.read()
    if process.returncode:
        raise SystemExit(f"sextant {arguments[0]} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return waited, cpu


def report(name: str, arguments: list[str], data_dir: str, limit: float) -> None:
    """Measure one command and record its medians."""
    runs = [first_output(arguments, data_dir) for _ in range(RUNS + 1)][1:]
    wall, cpu = (statistics.median(values) for values in zip(*runs, strict=True))
    record(f"`{name}`, first output", wall, "s", most=limit)
    record(f"`{name}`, CPU of the process", cpu, "s")


async def main() -> None:
    """Ingest one document, keep the store running, and start the command line over and over."""
    with tempfile.TemporaryDirectory(prefix="sextant-bench-") as data_dir:
        report("sextant --help", ["--help"], data_dir, 0.3)
        async with Sextant.open(data_dir=data_dir) as rag:
            await rag.ingest([SAMPLE], graph_id="bench")
            ask = ["ask", QUESTION, "--graph", "bench"]
            await asyncio.to_thread(report, "sextant ask", ask, data_dir, 3.0)


if __name__ == "__main__":
    asyncio.run(main())
