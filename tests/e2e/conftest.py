"""Sextant driven from outside: as a process, over a data folder that the session shares."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sextant.stores.embedded.server import EmbeddedServer

SAMPLES = Path(__file__).parents[2] / "samples"
_FOREIGN = ("SEXTANT_", "OPENAI_", "DATABASE_", "NEO4J_")


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run of the command line left behind."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Return standard output, read as JSON; the run must have gone well."""
        assert self.status == 0, self.err
        return self.report()

    def report(self) -> Any:
        """Return standard output, read as JSON, also of a run that ended badly."""
        return json.loads(self.out)

    def error(self) -> dict[str, Any]:
        """Return the error that a run with `--json` told."""
        told = json.loads(self.err.splitlines()[-1])
        assert isinstance(told["error"], dict)
        return told["error"]


Sextant = Callable[..., Ran]


@pytest.fixture(scope="session")
def environment() -> Iterator[dict[str, str]]:
    """Yield the caller's environment without settings, over a data folder whose server stays up."""
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    server = EmbeddedServer.start(folder)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    yield kept | {"SEXTANT_DATA_DIR": str(folder)}
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def sextant(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Sextant:
    """Run `sextant` with arguments from an empty folder; keywords are environment variables."""
    empty = tmp_path_factory.mktemp("empty")

    def run(*arguments: str | Path, **variables: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "sextant", *map(str, arguments)],
            cwd=empty,
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
