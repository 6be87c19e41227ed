"""What a test, a module or the whole session needs to have an embedded PostgreSQL of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import psutil

from sextant.domain.settings import Settings
from sextant.stores.postgresql.database import Database


@contextmanager
def short_folder() -> Iterator[Path]:
    """Provide a short path outside any home folder, for as long as it is needed.

    Not pytest's `tmp_path`: every run of pytest closes its parent folder to others, such as the user that
    the server runs as where we are root, and another run may do so while ours is under way.
    """
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def settings_over(folder: Path) -> Settings:
    """Default over a data folder; the environment's settings do not reach tests."""
    return Settings(_env_file=None, data_dir=folder, database_url=None, neo4j_uri=None)


@asynccontextmanager
async def fresh_database() -> AsyncIterator[Database]:
    """Provide an empty database on a server of its own, for as long as it is needed."""
    with short_folder() as folder:
        async with await Database.open(settings_over(folder)) as opened:
            yield opened


@contextmanager
def frozen(folder: Path) -> Iterator[None]:
    """Stop the server of `folder` and all its processes; let them go on afterwards.

    A backend may end while the others are stopped or resumed.
    """
    postmaster = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
    stopped = [psutil.Process(postmaster), *psutil.Process(postmaster).children(recursive=True)]
    for process in stopped:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    try:
        yield
    finally:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.resume()
