"""Who works on a job, and whether that process still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def worker_name() -> str:
    """Name this process, told apart from all others: host, process namespace (of a container) and id."""
    return f"{_machine()}:{os.getpid()}"


def is_dead(worker: str | None) -> bool:
    """Return whether `worker` was a process of this machine and has ended; False where that is not known.

    A process that has been given the id of the dead one makes it look alive; then its heartbeat
    tells, later.
    """
    machine, _, process = (worker or "").rpartition(":")
    if machine != _machine() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(int(process))


def _is_zombie(process: int) -> bool:
    """Killed, but not yet waited for by its parent: only where /proc says so."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "Z"


def _machine() -> str:
    # Two containers may have one host name and the same process ids.
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        namespace = 0
    return f"{socket.gethostname()}:{namespace}"
