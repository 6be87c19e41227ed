"""What a user gets who installs the built wheel: one package, which meets no module of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.served import serving

ROOT = Path(__file__).parents[2]
THEIRS = "raise RuntimeError('a module of the user was imported in place of one of ours')\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from a copy of the files that git knows."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split("\0")[:-1]:
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(source))
    [wheel] = built.glob("*.whl")
    return wheel


def pip(*arguments: str, python: Path = Path(sys.executable)) -> None:
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([python, "-I", "-m", "pip", *arguments[:1], *quiet, *arguments[1:]], check=True)


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with the wheel, and with the dependencies that this one has."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip("install", "--no-deps", "--no-index", str(wheel), python=python)
    [packages] = folder.glob("lib/python*/site-packages")
    # Of a folder that is named so, `.pth` files are not read: our checkout does not come along.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project that has modules and packages of its own with the names of our folders."""
    project = tmp_path_factory.mktemp("project")
    for name in ("graph", "models", "nodes", "retrievers", "stores", "evals"):
        (project / f"{name}.py").write_text(THEIRS)
    for name in ("server", "prompts", "domain", "testing", "ingestion"):
        (project / name).mkdir()
        (project / name / "__init__.py").write_text(THEIRS)
    return project


@pytest.fixture(scope="module")
def variables() -> Iterator[dict[str, str]]:
    """Yield a new user's environment, over a data folder of their own."""
    folder = tempfile.mkdtemp(prefix="sxt-")
    kept = {"PATH", "HOME", "LANG"}
    yield {name: os.environ[name] for name in kept & os.environ.keys()} | {
        "SEXTANT_DATA_DIR": folder
    }
    shutil.rmtree(folder, ignore_errors=True)


def test_the_wheel_holds_one_package(wheel: Path) -> None:
    assert wheel.name.startswith("sextant_rag-")
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"sextant"}


def test_the_wheel_holds_every_file_that_a_checkout_has(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    suffixes = (".py", ".sql", ".cypher", ".md", ".txt", ".html", ".css", ".js", ".svg")
    here = {
        f"sextant/{file.relative_to(ROOT / 'sextant')}"
        for package in (ROOT / "sextant").iterdir()
        if package.name not in {"samples", "__pycache__"}
        for file in (package.rglob("*") if package.is_dir() else [package])
        if file.suffix in suffixes
    }
    assert here - held == set()


def test_every_public_name_can_be_imported(
    python: Path, project: Path, variables: dict[str, str]
) -> None:
    program = (
        "import json, sextant; print(json.dumps([sextant.__file__, sextant.__version__,"
        " *(getattr(sextant, name).__name__ for name in sextant.__all__)]))"
    )
    done = subprocess.run(
        [python, "-c", program], cwd=project, env=variables, capture_output=True, check=True
    )
    file, version, *names = json.loads(done.stdout)
    assert Path(file).is_relative_to(python.parents[1])
    assert "GraphRetriever" in names
    metadata = subprocess.run(
        [python, "-m", "sextant", "--version"],
        cwd=project,
        env=variables,
        capture_output=True,
        check=True,
    )
    assert metadata.stdout.decode() == f"sextant {version}\n"


def test_the_demo_brings_its_samples_along(
    python: Path, project: Path, variables: dict[str, str]
) -> None:
    done = subprocess.run(
        [python.with_name("sextant"), "demo"],
        cwd=project,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n[1] ") == 3


def test_the_server_answers_from_a_project_with_modules_of_its_own(
    python: Path, project: Path, variables: dict[str, str]
) -> None:
    with serving(variables, python=python, folder=project) as server:
        shown = httpx.get(f"{server.address}/", timeout=120).text
        asked = {"query": "What is the warranty period of the Heron 3?", "graphId": "demo"}
        answer = httpx.post(f"{server.address}/api/query", json=asked, timeout=120).json()
    assert "Sextant" in shown
    assert answer["citations"], answer
