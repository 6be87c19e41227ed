"""The PostgreSQL that runs on a data folder, as its own file and socket tell of it, and its end."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SOCKET_PREFIX = "sextant-"
POLL_SECONDS = 0.02
_STOP_SECONDS = 30.0  # for a server that is told to stop
_GOING_SECONDS = 10.0  # for one that is stopping already


@dataclass(frozen=True, slots=True)
class Postmaster:
    """What `postmaster.pid` says about a server."""

    pid: int
    socket_dir: Path
    ready: bool


def running(root: Path) -> Postmaster | None:
    """Read `postmaster.pid`: pid, data folder, start time, port, socket folder, host, shm, status."""
    try:
        lines = (root / "postgres" / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    if len(lines) < 5 or not lines[0].strip().isdigit():
        return None
    ready = len(lines) > 7 and lines[7].strip() == "ready"
    return Postmaster(int(lines[0]), Path(lines[4]), ready)


def answers(socket_dir: Path) -> bool:
    """Return whether a postmaster listens: true from its start until its end, also while it recovers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(socket_dir / ".s.PGSQL.5432"))
        except OSError:
            return False
    return True


def clear_stale(root: Path, found: Postmaster) -> None:
    """Remove what a killed server left, once nothing of it runs any more.

    A killed server closes its socket before it is gone, and a child of it that is busy goes on until it
    next looks at its client; beside either PostgreSQL refuses to start. So children are told to end, which
    costs nothing: what they had not committed is lost with their server anyway.
    """
    deadline = time.monotonic() + _GOING_SECONDS
    while left := _running_processes(root, found.pid):
        if time.monotonic() > deadline:
            return  # starting or stopping by other hands: PostgreSQL's own lock decides
        if found.pid not in left:
            for child in left:
                with suppress(OSError):
                    os.kill(child, signal.SIGQUIT)
        time.sleep(POLL_SECONDS)
    (root / "postgres" / "postmaster.pid").unlink(missing_ok=True)
    if found.socket_dir.name.startswith(SOCKET_PREFIX):
        shutil.rmtree(found.socket_dir, ignore_errors=True)


def _running_processes(root: Path, postmaster: int) -> set[int]:
    """Return processes of the server that still run: itself and its children, all of which work in its folder."""
    import psutil

    cluster, left = str(root / "postgres"), set[int]()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name() != "postgres" or process.status() == psutil.STATUS_ZOMBIE:
                continue
            folder = ""  # of one that is about to end
            with suppress(FileNotFoundError):
                folder = process.cwd()
            if folder == cluster or (process.pid == postmaster and not folder):
                left.add(process.pid)
    return left


def shut_down(root: Path) -> None:
    """Stop the server of `root` if it runs; the caller holds `server.lock` and knows it is not used."""
    found = running(root)
    if found is None:
        return
    if not answers(found.socket_dir):
        clear_stale(root, found)
        return
    os.kill(found.pid, signal.SIGINT)  # "fast": abort transactions, write a checkpoint, end
    deadline = time.monotonic() + _STOP_SECONDS
    pid_file = root / "postgres" / "postmaster.pid"
    while pid_file.exists():
        if time.monotonic() > deadline:
            return  # frozen: it ends once it goes on
        time.sleep(POLL_SECONDS)
    with suppress(ChildProcessError):
        os.waitpid(found.pid, 0)  # only if it is our child; leaves no zombie
    shutil.rmtree(found.socket_dir, ignore_errors=True)
