"""The embedded server: strange paths, several processes, killed processes."""

from __future__ import annotations

import fcntl
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import psycopg
import pytest

from sextant.domain.errors import DatabaseUnavailable
from sextant.stores.embedded import server
from sextant.stores.embedded.server import SUPERUSER, EmbeddedServer
from sextant.stores.embedded.watcher import LOG, LOG_BYTES
from tests.integration.stored_state import is_running

# A user of the server in another process: says "ready", then lives until its input ends.
OTHER_PROCESS = """
import sys
from pathlib import Path
from sextant.stores.embedded.server import EmbeddedServer
server = EmbeddedServer.start(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture
def fresh() -> Iterator[Path]:
    """Yield a folder without anything."""
    made = Path(tempfile.mkdtemp(prefix="sxt-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Yield a data folder that tests use one after the other; each leaves it without a server."""
    made = Path(tempfile.mkdtemp(prefix="sxt-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def answers(server: EmbeddedServer) -> bool:
    with psycopg.connect(**server.conninfo(SUPERUSER)) as connection:
        return connection.execute("select 1").fetchone() == (1,)


def other_user(data_dir: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    return process


def server_pid(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def watcher_of(data_dir: Path) -> psutil.Process:
    """Return the process beside the server, once it hears its clock."""
    server = str(server_pid(data_dir))
    processes = psutil.process_iter(["cmdline"])
    [watcher] = [one for one in processes if (one.info["cmdline"] or [])[-1:] == [server]]
    alarm = 1 << (signal.SIGALRM - 1)
    for _ in range(3_000):
        caught = re.search(
            r"^SigCgt:\s*(\w+)", Path(f"/proc/{watcher.pid}/status").read_text(), re.MULTILINE
        )
        if caught and int(caught[1], 16) & alarm:
            return watcher
        select.select([], [], [], 0.01)
    raise AssertionError("the watcher does not trim")


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate()
    assert process.returncode == 0


def test_it_runs_in_a_long_path_with_spaces_and_chinese_below_a_private_folder_twice(
    fresh: Path,
) -> None:
    private = fresh / "home"
    private.mkdir(mode=0o700)
    data_dir = private / "a folder with spaces" / "知识库" / ("long" * 40)
    for _ in range(2):
        server = EmbeddedServer.start(data_dir)
        assert answers(server)
        assert server.socket_dir.stat().st_mode & 0o077 == 0
        assert private.stat().st_mode & 0o066 == 0
        server.stop()
        server.stop()
        assert not is_running(data_dir)
        assert not server.socket_dir.exists()


def test_two_data_folders_run_side_by_side(folder: Path, fresh: Path) -> None:
    first, second = EmbeddedServer.start(folder), EmbeddedServer.start(fresh)
    assert answers(first)
    first.stop()
    assert answers(second)
    second.stop()


def test_a_copy_of_a_folder_in_use_is_refused_and_leaves_the_original_its_server(
    folder: Path, fresh: Path
) -> None:
    """Its `postmaster.pid` names the server of the original, which its users used and stopped."""
    copy = fresh / "copy"
    (copy / "postgres").mkdir(parents=True)
    original = EmbeddedServer.start(folder)
    try:
        shutil.copy(folder / "postgres" / "postmaster.pid", copy / "postgres")
        with pytest.raises(DatabaseUnavailable, match=f"a copy of {re.escape(str(folder))}, made"):
            EmbeddedServer.start(copy)
        assert answers(original)
    finally:
        original.stop()


def test_a_server_that_does_not_start_is_explained_by_its_own_lines_of_the_log(fresh: Path) -> None:
    EmbeddedServer.start(fresh).stop()
    (fresh / "postgres" / "global" / "pg_control").unlink()
    with pytest.raises(DatabaseUnavailable, match="pg_control") as refused:
        EmbeddedServer.start(fresh)
    assert "is shut down" not in str(refused.value)


def test_the_server_stays_until_its_last_user_leaves(folder: Path) -> None:
    starter, joiner = other_user(folder), other_user(folder)
    ours = EmbeddedServer.start(folder)
    leave(starter)
    assert answers(ours)
    ours.stop()
    assert is_running(folder)
    leave(joiner)
    assert not is_running(folder)


def test_a_killed_user_neither_holds_the_server_nor_takes_it_down(folder: Path) -> None:
    killed = other_user(folder)
    ours = EmbeddedServer.start(folder)
    killed.kill()
    killed.communicate()
    assert answers(ours)
    ours.stop()
    assert not is_running(folder)

    alone = other_user(folder)
    alone.kill()
    alone.communicate()
    heir = EmbeddedServer.start(folder)
    assert answers(heir)
    heir.stop()
    assert not is_running(folder)


def test_the_server_of_users_who_were_all_killed_is_stopped(folder: Path) -> None:
    users = [other_user(folder), other_user(folder)]
    server = os.pidfd_open(server_pid(folder))
    for user in users:
        user.kill()
        user.communicate()

    ended, *_ = select.select([server], [], [], 60)

    assert ended == [server]
    os.close(server)
    again = EmbeddedServer.start(folder)
    assert answers(again)
    again.stop()


def test_a_killed_server_is_started_again_and_its_rests_are_removed(folder: Path) -> None:
    server = EmbeddedServer.start(folder)
    with psycopg.connect(**server.conninfo(SUPERUSER), autocommit=True) as connection:
        connection.execute("create table kept (n int)")
        connection.execute("insert into kept values (7)")
    pid = server_pid(folder)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    again = EmbeddedServer.start(folder)
    with psycopg.connect(**again.conninfo(SUPERUSER)) as connection:
        assert connection.execute("select n from kept").fetchone() == (7,)
    assert not server.socket_dir.exists()
    again.stop()
    server.stop()


def test_a_busy_child_of_a_killed_server_is_ended_before_the_next_begins(folder: Path) -> None:
    server = EmbeddedServer.start(folder)
    killed = server_pid(folder)
    with closing(psycopg.connect(**server.conninfo(SUPERUSER), autocommit=True)) as connection:
        child = psutil.Process(connection.info.backend_pid)
        # It looks at its client and at its server only once it has counted.
        connection.pgconn.send_query(b"select count(*) from generate_series(1, 1000000000000) as n")
        os.kill(killed, signal.SIGKILL)
        while is_running(folder):
            time.sleep(0.01)
        server.revive()
        assert not psutil.pid_exists(child.pid) or child.status() == psutil.STATUS_ZOMBIE
    assert server_pid(folder) != killed
    assert answers(server)
    server.stop()


def test_a_server_that_somebody_stopped_leaves_no_folder_of_its_socket(folder: Path) -> None:
    server = EmbeddedServer.start(folder)
    before = server.socket_dir
    pid = server_pid(folder)
    os.kill(pid, signal.SIGINT)
    os.waitpid(pid, 0)
    server.revive()
    assert answers(server)
    assert not before.exists()
    server.stop()


def test_a_server_that_cannot_start_leaves_no_folder_of_its_socket(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets = fresh / "sockets"
    sockets.mkdir()
    EmbeddedServer.start(fresh).stop()
    with (fresh / "postgres" / "postgresql.conf").open("a") as settings:
        settings.write("nonsense = 1\n")
    monkeypatch.setattr(tempfile, "tempdir", str(sockets))
    with pytest.raises(DatabaseUnavailable, match="could not be started"):
        EmbeddedServer.start(fresh)
    assert not list(sockets.iterdir())


def test_a_socket_folder_of_somebody_else_stays_with_what_is_in_it(
    folder: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.chmod(0o777)
    other = fresh / "other"
    other.touch()
    with monkeypatch.context() as patched:
        patched.setattr(server, "_socket_folder", lambda _: fresh)
        EmbeddedServer.start(folder).stop()
        assert other.exists()
        ours = EmbeddedServer.start(folder)
    pid = server_pid(folder)
    os.kill(pid, signal.SIGINT)
    os.waitpid(pid, 0)
    ours.revive()
    assert other.exists()
    ours.stop()


def test_the_log_of_a_running_server_is_cut_when_it_grows_too_large(folder: Path) -> None:
    server = EmbeddedServer.start(folder)
    log, kept = folder / LOG, folder / f"{LOG}.1"
    with log.open("ab") as out:
        out.write(b"old\n" * LOG_BYTES)
    watcher = watcher_of(folder)
    watcher.send_signal(signal.SIGALRM)  # as its clock does once a minute
    with psycopg.connect(**server.conninfo(SUPERUSER), autocommit=True) as connection:
        waited = 0
        while log.stat().st_size > LOG_BYTES:
            connection.execute("select pg_sleep(0.01)")
            assert (waited := waited + 1) < 3_000
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("select 1 / 0")
    assert "division by zero" in log.read_text()
    assert log.stat().st_size < 1_000
    assert (kept.stat().st_size, stat.S_IMODE(kept.stat().st_mode)) == (LOG_BYTES, 0o600)
    assert watcher.is_running()
    server.stop()


def test_a_creation_that_was_cut_short_is_begun_anew(fresh: Path) -> None:
    half = fresh / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18")
    server = EmbeddedServer.start(fresh)
    assert answers(server)
    server.stop()


def test_many_processes_that_start_at_once_share_one_server(folder: Path) -> None:
    command = [sys.executable, "-c", OTHER_PROCESS, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    processes = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(4)
    ]
    for process in processes:
        out, _ = process.communicate("")
        assert (process.returncode, out.strip()) == (0, "ready")
    assert not is_running(folder)


def test_a_folder_that_cannot_be_made_is_a_clear_error(fresh: Path) -> None:
    (fresh / "file").write_text("")
    with pytest.raises(DatabaseUnavailable, match=r"could not be started.*sextant doctor"):
        EmbeddedServer.start(fresh / "file" / "data")


def test_a_process_that_stands_still_while_it_starts_the_server_is_not_waited_for_without_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_LOCK_SECONDS", 0.0)
    with (folder / "server.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DatabaseUnavailable, match="another process has held"):
            EmbeddedServer.start(folder)


def test_a_frozen_server_is_not_waited_for_without_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_STOP_SECONDS", 0.0)
    started = EmbeddedServer.start(folder)
    process = psutil.Process(server_pid(folder))
    process.suspend()
    started.stop()
    process.resume()  # it was told to end meanwhile
    process.wait()
    again = EmbeddedServer.start(folder)
    assert answers(again)
    again.stop()
