"""Killing a process of ours with SIGKILL where it says that it is."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


async def kill_when_reached(
    script: Path, *arguments: object, environment: Mapping[str, str] | None = None
) -> None:
    """Start a script of the tests, wait until it prints `reached`, and kill it."""
    worker = await asyncio.create_subprocess_exec(
        sys.executable, str(script), *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT), **(environment or {})},
    )  # fmt: skip
    assert worker.stdout
    assert await worker.stdout.readline() == b"reached\n"
    worker.kill()
    await worker.wait()


def wait_to_be_killed() -> None:
    """Do what such a script does once it is where it shall be killed."""
    sys.stdout.write("reached\n")
    sys.stdout.flush()
    signal.pause()
