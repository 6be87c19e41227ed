"""What a test, a module or the whole session needs to have an embedded PostgreSQL of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.settings import Settings


@contextmanager
def short_folder() -> Iterator[Path]:
    """A short path outside any home folder, for as long as it is needed."""
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def settings_over(folder: Path) -> Settings:
    """Defaults over a data folder; the environment's settings do not reach tests."""
    return Settings(_env_file=None, data_dir=folder, database_url=None, neo4j_uri=None)
