"""Find and read the files that a caller names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sextant.domain.errors import FileRejected, FileTooLarge
from sextant.ingestion.parsing.detect import EXTENSIONS
from sextant.text.characters import readable_name

Paths = str | Path | Iterable[str | Path]


def find_files(paths: Paths) -> list[Path]:
    """Return the absolute paths of named files, and of readable files in folders, each once.

    Folders are searched recursively, in order of name, for files with a known extension (`find_unsupported` returns
    the others). Hidden files and folders, and links to the outside of the folder, are left out. A named file is
    returned even if it does not exist, and so is a folder without permission; reading them raises.
    """
    return list(dict.fromkeys(file for file, is_read in _files(paths) if is_read))


def find_unsupported(paths: Paths) -> list[Path]:
    """Return the files in folders that `find_files` leaves out; hidden ones do not count."""
    return list(dict.fromkeys(file for file, is_read in _files(paths) if not is_read))


def find_vanished(paths: Paths, sources: Iterable[str]) -> list[str]:
    """Return the sources in the named folders whose files are gone.

    A folder without any file is skipped, since it may be one that is not mounted.
    """
    named = [paths] if isinstance(paths, str | Path) else paths
    folders = [folder for path in named if (folder := Path(path).expanduser().absolute()).is_dir()]
    filled = [folder for folder in folders if find_files(folder)]
    existing = {readable_name(file.as_posix()) for folder in filled for file in find_files(folder)}
    return [
        source
        for source in sources
        if source not in existing
        and any(Path(source).is_relative_to(folder) for folder in filled)
        and _is_gone(Path(source))
    ]


def _is_gone(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):  # out of reach, or inside a file, as attachments are
        return False
    return False


def find_size(path: Path) -> int:
    """Return the bytes of a file, 0 if it cannot be read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_file(path: Path, most_bytes: int) -> bytes:
    """Return a file's bytes.

    Raises:
        FileRejected: it does not exist, may not be read, or is a pipe, a socket or a device.
        FileTooLarge: longer than `most_bytes`.
    """
    try:
        is_endless = path.exists() and not (path.is_file() or path.is_dir())
        content = b"" if is_endless else _first_bytes(path, most_bytes + 1)
    except OSError as error:
        raise FileRejected(
            f"{path} cannot be read ({error.strerror}).", next_step="Check the path and its rights."
        ) from error
    if is_endless:
        raise FileRejected(
            f"{path} is no file, but a pipe, a socket or a device.", next_step="Save it as a file."
        )
    if len(content) > most_bytes:
        raise FileTooLarge(
            f"{path.name} is larger than {most_bytes:,} bytes.",
            next_step="Split the file, or raise SEXTANT_LIMITS__FILE_BYTES.",
        )
    return content


def _first_bytes(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def _files(paths: Paths) -> Iterator[tuple[Path, bool]]:
    """Yield every file, and whether it is read."""
    # A string is one path and no iterable of paths.
    named = [paths] if isinstance(paths, str | Path) else paths
    for path in (Path(path).expanduser().absolute() for path in named):
        if not path.is_dir():
            yield path, True
            continue
        closed = list[OSError]()
        for folder, folders, names in os.walk(path, onerror=closed.append):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            # A link to a folder inside is not followed, since its target is found there.
            outside = [name for name in folders if not _is_inside(Path(folder, name), path)]
            yield from ((Path(folder, name), False) for name in outside)
            for name in sorted(names):
                file = Path(folder, name)
                if not name.startswith((".", "~$")):  # hidden, or Office's mark of an open file
                    # Reading a broken link raises; reading a pipe would wait forever.
                    is_read = file.suffix.lower() in EXTENSIONS and (
                        file.is_file() or (file.is_symlink() and not file.exists())
                    )
                    yield file, is_read and _is_inside(file, path)
        yield from ((Path(error.filename), True) for error in closed)


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
