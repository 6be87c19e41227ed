"""The README's first command, from a fresh clone: as root, as an ordinary user, twice, and at once.

Slow: it installs everything from the package registry. Leave it out with `-m "not clone"`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 65534

pytestmark = pytest.mark.clone


@pytest.fixture(scope="module")
def clone() -> Iterator[Path]:
    """Yield a clone in a folder that is long, has spaces and Chinese letters, and that all may enter."""
    temporary = Path(tempfile.mkdtemp(prefix="sxt-"))
    temporary.chmod(0o755)
    folder = (
        temporary / "路径 with spaces, longer than the path of a socket" / "may ever be on Linux"
    )
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    assert len(os.fsencode(folder / ".sextant" / "postgres" / ".s.PGSQL.5432")) > 108
    yield folder
    shutil.rmtree(temporary, ignore_errors=True)


def environment(**more: str) -> dict[str, str]:
    """Return what a newcomer has: no settings of ours, and a Python that every user may run."""
    kept = {"PATH", "HOME", "LANG"}
    own = {
        name: value for name, value in os.environ.items() if name in kept or "pip" in name.lower()
    }
    return own | {"PYTHON": public_python()} | more


def public_python() -> str:
    """Return a Python that an ordinary user may run too: not one below root's home."""
    system = Path("/usr/bin/python3")
    usable = subprocess.run([system, "-m", "venv", "--help"], capture_output=True, check=False)
    recent = subprocess.run(
        [system, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"], check=False
    )
    return str(system) if usable.returncode == recent.returncode == 0 else sys.executable


def check_answers(printed: str) -> None:
    """Three questions, each answered with a marker, its source and a quoted passage."""
    answers = printed.split("\n? ")[1:]
    assert len(answers) == 3
    for answer in answers:
        assert "[1]" in answer.split("\n\n")[0], answer
        assert "\n[1] " in answer, answer
        assert "“" in answer, answer


def check_front_pages(printed: str) -> None:
    """Check that the answer that each front page shows is one of those that were given."""
    for page in ("README.md", "README.zh-CN.md"):
        [shown] = re.findall(
            r"^```text\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL
        )
        assert shown in printed, page


def test_one_command_shows_cited_answers_and_a_second_run_installs_nothing(clone: Path) -> None:
    first = subprocess.run(
        ["make", "demo"], cwd=clone, env=environment(), capture_output=True, text=True, check=False
    )
    assert first.returncode == 0, first.stdout + first.stderr
    check_answers(first.stdout)
    check_front_pages(first.stdout)
    second = subprocess.run(
        ["make", "demo"], cwd=clone, env=environment(), capture_output=True, text=True, check=False
    )
    assert second.returncode == 0, second.stdout + second.stderr
    check_answers(second.stdout)
    assert "Installing" not in second.stdout
    assert "\x1b" not in first.stdout + second.stdout


def test_the_page_is_served_at_the_address_that_is_printed(clone: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        ["make", "serve", f"PORT={port}"],
        cwd=clone,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as serving:
        try:
            assert serving.stdout is not None
            printed = next(line for line in serving.stdout if line.startswith("Open "))
            assert f"http://127.0.0.1:{port}/" in printed
            assert_answers(f"http://127.0.0.1:{port}/healthz")
        finally:
            os.killpg(serving.pid, signal.SIGINT)


def assert_answers(address: str, tries: int = 600) -> None:
    """Ask until the server answers; each try waits for a tenth of a second at most."""
    for _ in range(tries):
        with contextlib.suppress(httpx.TransportError):
            assert httpx.get(address, timeout=5).status_code == 200
            return
        threading.Event().wait(0.1)
    pytest.fail(f"{address} does not answer")


def test_two_at_once_share_one_data_folder(clone: Path) -> None:
    both = [
        subprocess.Popen(
            ["make", "demo"],
            cwd=clone,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    for run in both:
        printed, _ = run.communicate(timeout=300)
        assert run.returncode == 0, printed
        check_answers(printed)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_needs_no_root(clone: Path) -> None:
    private = Path(sys.executable).is_relative_to(Path("~root").expanduser())
    if public_python() == sys.executable and private:
        pytest.skip("this machine has no Python that an ordinary user may run")
    shutil.rmtree(clone / ".sextant")
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", clone], check=True)
    done = subprocess.run(
        ["make", "demo"],
        cwd=clone,
        env=environment(HOME=str(clone)),
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    check_answers(done.stdout)
