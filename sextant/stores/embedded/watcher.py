"""Stop an embedded PostgreSQL after all its users have ended, even if they were killed.

`sextant.stores.embedded.server` starts this program with each server: `python -S -E watcher.py DATA_DIR
SERVER_PID`. The last user stops the server when it ends. It cannot do so if it is killed, or ends
without Python's exit handlers, like the workers of `langgraph dev` on SIGTERM. Then the kernel releases
its locks, for which this process waits, and this process stops the server. It also trims the log.
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
_TRIM_SECONDS = 60.0


def trim_log(root: Path) -> None:
    """Truncate the server's log if it is larger than `LOG_BYTES`, and save its last part as `.1`.

    The server appends to the open file, so it continues at the new end. Lines that it writes between
    the copy and the truncation are lost.
    """
    log, saved = root / LOG, root / f"{LOG}.1"
    if not log.exists() or log.stat().st_size <= LOG_BYTES:
        return
    saved.unlink(missing_ok=True)
    # Truncate even if the disk is full.
    with suppress(OSError), log.open("rb") as source, open(saved, "xb", opener=private) as out:
        source.seek(-LOG_BYTES, os.SEEK_END)
        shutil.copyfileobj(source, out)
    os.truncate(log, 0)


def _trim(root: Path) -> None:
    with suppress(OSError):  # the folder may have been removed under the server
        trim_log(root)


def private(path: str, flags: int) -> int:
    """Open a file for its owner only, since the server's log names users."""
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
            # Another process is about to use the server, and waits for `watch.lock`.
            fcntl.flock(users, fcntl.LOCK_UN)
            time.sleep(0.05)
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
