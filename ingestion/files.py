"""Find and read the files that a caller names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from domain.errors import FileRejected, FileTooLarge
from ingestion.parsing.detect import EXTENSIONS


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """Absolute paths of the files meant, each once: named files, and the readable ones in folders.

    A folder gives, in order of name and recursively, what has an extension we read; hidden files
    and folders are left out, links out of it not followed. A named file is taken whatever its name
    is, also when it does not exist (reading it says so).
    """
    found = (file for path in paths for file in _files(Path(path).expanduser().absolute()))
    return list(dict.fromkeys(found))


def read_file(path: Path, most_bytes: int) -> bytes:
    """A file's bytes; one that is too large is not even read.

    Raises:
        FileRejected: it is not there, or may not be read.
        FileTooLarge: longer than `most_bytes`.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise FileRejected(
            f"{path} cannot be read ({error.strerror}).", next_step="Check the path and its rights."
        ) from error
    if len(content) > most_bytes:
        raise FileTooLarge(
            f"{path.name} is larger than {most_bytes:,} bytes.",
            next_step="Split the file, or raise SEXTANT_LIMITS__FILE_BYTES.",
        )
    return content


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if not name.startswith(".") and file.suffix.lower() in EXTENSIONS and file.is_file():
                yield file
