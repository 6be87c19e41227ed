"""Several processes that serve: what cannot start says so, and does not keep its supervisor waiting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Asked whether it lives it says nothing more, and then ends: as an interpreter that is taken down.
APP = """
import asyncio
import time
from uvicorn.supervisors.multiprocess import Process

Process.pong = lambda self: time.sleep(3600)

async def app(scope, receive, send):
    assert scope["type"] == "lifespan"
    await receive()
    await asyncio.sleep(3)
    await send({"type": "lifespan.startup.failed", "message": "It cannot start."})
"""
# Who waits for an answer of the dead waits for an hour.
SUPERVISOR = """
import socket
from uvicorn import Config
from sextant.cli.processes import Several

if __name__ == "__main__":
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    several = Several(Config("failing:app", workers=2, timeout_worker_healthcheck=3600), [bound])
"""
RUN = """
    several.run()
    print(several.exit_code)
"""
# Ctrl-C reaches all of them: those that serve have ended when the supervisor looks at them.
INTERRUPTED = """
    several.init_processes()
    begun = [one.pid for one in several.processes]
    for one in several.processes:
        one.process.kill()
        one.process.join()
    several.handle_int()
    several.keep_subprocess_alive()
    print(begun == [one.pid for one in several.processes])
"""
HANGS_SECONDS = 180


def supervised(folder: Path, what: str) -> subprocess.CompletedProcess[str]:
    """Return what a supervisor says and prints that does this."""
    (folder / "failing.py").write_text(APP)
    (folder / "supervisor.py").write_text(SUPERVISOR + what)
    return subprocess.run(
        [sys.executable, folder / "supervisor.py"],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(Path.cwd())])},
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
    )


def test_a_process_that_cannot_start_ends_all_of_them_at_once(tmp_path: Path) -> None:
    ended = supervised(tmp_path, RUN)
    assert ended.stderr.count("It cannot start.") <= 2  # none was started anew
    assert ended.stdout.split() == ["1"]  # failed, and not for any reason that is known


def test_none_is_started_anew_where_all_are_to_end(tmp_path: Path) -> None:
    assert supervised(tmp_path, INTERRUPTED).stdout.split() == ["True"]
