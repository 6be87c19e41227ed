"""`langgraph dev` as a process: no key, no analytics, nothing fetched."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest

from tests.ports import reserve_port

ROOT = Path(__file__).parents[2]
READY = "Application started up"
_QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGSMITH_TRACING": "false",
    "PYTHONUNBUFFERED": "1",
}


@contextmanager
def developing(environment: Mapping[str, str], folder: Path = ROOT) -> Iterator[str]:
    """Provide the address of a server of the folder's graphs on a free port of this machine."""
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    with (
        reserve_port() as held,
        subprocess.Popen(
            [*command, "--port", str(port := held.getsockname()[1]), "--n-jobs-per-worker", "4"],
            cwd=folder,
            env={**environment, **_QUIET},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        told = []
        for line in process.stdout:
            told.append(line)
            if READY in line:
                break
        else:
            pytest.fail("langgraph dev did not start:\n" + "".join(told))
        _wait_until_it_listens(port)
        # Its log must be read on, or the server would block on a full pipe.
        reader = threading.Thread(target=list, args=(process.stdout,))
        reader.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGINT)
            reader.join()


def foreign_routes(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return path and method of every route that `langgraph dev` mounts beside ours, ids filled in."""
    script = ROOT / "tests" / "e2e" / "langgraph_routes.py"
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env={**environment, **_QUIET, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    routes = json.loads(done.stdout.splitlines()[-1])
    return [(re.sub(r"\{\w+\}", str(UUID(int=7)), path), method) for path, method in routes]


def _wait_until_it_listens(port: int) -> None:
    """Wait for the port: it says that it is ready before it opens its port."""
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
