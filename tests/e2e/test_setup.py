"""Setting up on a machine that lacks something says what to install, and leaves nothing half-made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout with only what the installer reads, in a folder with spaces and Chinese letters."""
    folder = tmp_path / "新 folder"
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    return folder


def set_up(checkout: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Run the installer with `python` as the only Python there is."""
    tools = checkout / "bin"
    tools.mkdir()
    for name in ("sh", "rm", "tr"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    (tools / "python3").write_text(python)
    (tools / "python3").chmod(0o755)
    return subprocess.run(
        ["sh", "scripts/venv.sh"],
        cwd=checkout,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_old_python_is_refused_with_what_to_install(checkout: Path) -> None:
    done = set_up(checkout, "#!/bin/sh\nexit 1\n")
    assert done.returncode == 1
    assert "Python 3.11" in done.stderr
    assert "apt install" in done.stderr


def test_a_python_without_venv_is_told_which_package_brings_it(checkout: Path) -> None:
    python = f'#!/bin/sh\n[ "$1" = -m ] && exit 1\nexec "{sys.executable}" "$@"\n'
    done = set_up(checkout, python)
    assert done.returncode == 1
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"apt install python{version}-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_make_lists_its_targets(tmp_path: Path) -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("setup", "demo", "test", "check", "dev", "bench", "eval", "clean"):
        assert f"make {target} " in done.stdout


def test_without_maven_the_installer_of_neo4j_says_what_to_install(checkout: Path) -> None:
    tools = checkout / "bin"
    tools.mkdir()
    for name in ("sh", "dirname"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    done = subprocess.run(
        ["sh", "scripts/neo4j/install.sh", "lib"],
        cwd=checkout,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "apt-get install maven openjdk-17-jdk-headless" in done.stderr
    assert not (checkout / "lib").exists()
