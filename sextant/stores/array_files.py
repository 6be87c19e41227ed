"""Arrays that are kept in the data folder from one process to the next, a file for each knowledge base.

PostgreSQL remains the source of truth. A file that is missing, damaged, written by other code or owned by
another user is ignored; losing one costs no more than the time to make it again.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings

# What writing to an open file fails with; other errors name the file, or are of something else.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def write_atomically(out: Path) -> Iterator[Path]:
    """Provide the path of a file beside `out` to write to, which becomes `out` unless something fails.

    It is this writer's alone: of two that write to `out` at a time, the later one's file stays, whole.

    Raises:
        OptionInvalid: the file cannot be written, or is a folder, a device or a pipe.
    """
    if not _is_replaceable(out):
        raise OptionInvalid(
            f"{out} cannot be written: it is not a file.", next_step="Name a file.", field="out"
        )
    part = out.with_name(f"{out.name}.{token_hex(4)}.part")
    try:
        yield part
        part.replace(out)
    except OSError as error:
        if str(error.filename) != str(part) and error.errno not in _UNWRITABLE:
            raise
        raise OptionInvalid(
            f"{out} cannot be written: {error.strerror}.",
            next_step="Name another file.",
            field="out",
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()


def _is_replaceable(out: Path) -> bool:
    """Return whether a file may take its place: as that of a file, of nothing, or of a link but /dev/stdout and such."""
    is_open = out.is_symlink() and out.readlink().is_relative_to("/proc")
    return not is_open and (out.is_file() or not out.exists())


Arrays = Mapping[str, npt.NDArray[Any]]

_WHOSE = "whose"
# A knowledge base that changes with every question is written this often, not each time.
_EVERY_SECONDS = 60.0
# Left behind by a process that died while it was writing.
_ABANDONED_SECONDS = 3600.0


def index_files(settings: Settings) -> ArrayFiles:
    """Return where the words of knowledge bases are kept."""
    return ArrayFiles(settings.data_dir / "index")


async def forget_words(settings: Settings, scope: Scope) -> None:
    """Remove the words of a knowledge base from this machine's disk, since some of them are deleted."""
    await asyncio.to_thread(index_files(settings).forget, scope)


class ArrayFiles:
    """A folder of such files, which only the user that runs this process can read.

    Every call blocks: make it in a thread. None fails: what cannot be read or written is left alone.

    Args:
        folder: made when something is first kept.
        most_bytes: of all files; those not used for longest go first.
    """

    def __init__(self, folder: Path, most_bytes: int = 1 << 30) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def load(self, scope: Scope, code: str) -> Arrays | None:
        """Return the arrays that were kept of a scope by the same `code`, if any.

        They are plain numbers (no pickle), complete as they were written; what they mean is not checked.
        """
        file = self._file(scope)
        try:
            with np.load(file, allow_pickle=False) as kept:
                if bytes(kept[_WHOSE]) != _file_owner(scope, code):
                    return None
                arrays = {name: kept[name] for name in kept.files if name != _WHOSE}
            # Used now, written when it was.
            os.utime(file, (time.time(), file.stat().st_mtime))
        except Exception:  # noqa: BLE001 - absent, or damaged in whatever way: made again
            return None
        return arrays

    def save(self, scope: Scope, code: str, arrays: Arrays) -> None:
        """Store the arrays of a scope in place of older ones, unless those were written a moment ago."""
        file = self._file(scope)
        with suppress(OSError):
            # In the future: the clock was set back, or the file comes from another machine.
            if file.exists() and 0 <= time.time() - file.stat().st_mtime < _EVERY_SECONDS:
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            whose = np.frombuffer(_file_owner(scope, code), np.uint8)
            # Its own name: threads share a process id, and containers over one volume often do.
            opened, name = tempfile.mkstemp(".part", f"{file.stem}.", self._folder)
            part = Path(name)
            try:
                with os.fdopen(opened, "wb") as written:
                    np.savez(written, allow_pickle=False, **{**arrays, _WHOSE: whose})
                part.replace(file)
            finally:
                part.unlink(missing_ok=True)
            self._make_room()

    def forget(self, scope: Scope) -> None:
        """Remove the file of a scope, and what is being written to replace it or was by a process that died."""
        with suppress(OSError):
            for file in self._folder.glob(f"{self._file(scope).stem}.*"):
                file.unlink(missing_ok=True)

    def _file(self, scope: Scope) -> Path:
        named = json.dumps([scope.user_id, scope.graph_id])
        return self._folder / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.npz"

    def _make_room(self) -> None:
        found = {file: file.stat() for file in self._folder.iterdir()}
        left, now = self._most_bytes, time.time()
        for file, about in sorted(found.items(), key=lambda one: -one[1].st_atime):
            left -= about.st_size
            abandoned = file.suffix == ".part" and now - about.st_mtime > _ABANDONED_SECONDS
            if left < 0 or abandoned:
                file.unlink(missing_ok=True)


def _file_owner(scope: Scope, code: str) -> bytes:
    return json.dumps([scope.user_id, scope.graph_id, code]).encode()
