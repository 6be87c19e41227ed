"""Stops an embedded PostgreSQL when its users are gone, also where they were killed.

`stores.embedded` starts this file beside each server: `python -S -E watcher.py DATA_DIR SERVER_PID`.
A process that ends by itself stops the server it was the last to use. One that is killed cannot, nor
can one that ends without Python's exit handlers, as the workers of `langgraph dev` do on SIGTERM. The
kernel drops their locks, and this process, which has waited for that, stops the server for them.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from pathlib import Path

_PAUSE_SECONDS = 0.05


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
        from stores.embedded import shut_down

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
    sys.path[0] = str(Path(__file__).parents[1])  # not `stores/`, but the folder it lies in
    watch(Path(sys.argv[1]), int(sys.argv[2]))
