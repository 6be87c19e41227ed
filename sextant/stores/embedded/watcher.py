"""Stops an embedded PostgreSQL when its users are gone, also where they were killed.

`sextant.stores.embedded.server` starts this file beside each server: `python -S -E watcher.py DATA_DIR SERVER_PID`.
A process that ends by itself stops the server it was the last to use. One that is killed cannot, nor
can one that ends without Python's exit handlers, as the workers of `langgraph dev` do on SIGTERM. The
kernel drops their locks, and this process, which has waited for that, stops the server for them.
Meanwhile it keeps the server's log from growing without end.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

LOG = "postgres.log"
LOG_BYTES = 10_000_000
_PAUSE_SECONDS = 0.05
_TRIM_SECONDS = 60.0


def trim_log(root: Path) -> None:
    """Start the server's log over once it is larger than `LOG_BYTES`; its last part is kept beside it.

    The server goes on with the file that it has open, at its new end: it appends. What it writes
    between the copy and the cut is lost.
    """
    log, kept = root / LOG, root / f"{LOG}.1"
    if not log.exists() or log.stat().st_size <= LOG_BYTES:
        return
    kept.unlink(missing_ok=True)
    # A full disk must not keep it from being cut.
    with suppress(OSError), log.open("rb") as source, open(kept, "xb", opener=private) as out:
        source.seek(-LOG_BYTES, os.SEEK_END)
        shutil.copyfileobj(source, out)
    os.truncate(log, 0)


def _trim(root: Path) -> None:
    with suppress(OSError):  # the folder may have been removed under the server
        trim_log(root)


def private(path: str, flags: int) -> int:
    """Open a file that is its owner's alone: what the server logs names users."""
    return os.open(path, flags, 0o600)


def watch(root: Path, server: int) -> None:
    """Wait until nobody uses the server of the data folder `root`, and stop it if it still runs."""
    users, lock = (os.open(root / name, os.O_RDWR) for name in ("watch.lock", "server.lock"))
    while True:
        fcntl.flock(users, fcntl.LOCK_EX)
        if not _lives(server):
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Somebody is starting to use it, and waits for what we hold.
            fcntl.flock(users, fcntl.LOCK_UN)
            time.sleep(_PAUSE_SECONDS)
            continue
        from sextant.stores.embedded.server import shut_down

        shut_down(root)
        return


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is another user's
    return True


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[3])  # where `sextant/` lies
    folder = Path(sys.argv[1])
    # A lock that is waited for is waited for again after the signal (PEP 475).
    signal.signal(signal.SIGALRM, lambda *_: _trim(folder))
    signal.setitimer(signal.ITIMER_REAL, _TRIM_SECONDS, _TRIM_SECONDS)
    watch(folder, int(sys.argv[2]))
