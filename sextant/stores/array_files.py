"""Cache arrays in the data folder, one file for each knowledge base.

PostgreSQL remains the source of truth. A file that is missing, damaged, or written by other code or for
another user is ignored, and its arrays are computed again.

Also here: a file that appears when it is whole.
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

# Errors of writing to an open file, which do not name it.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def write_atomically(out: Path) -> Iterator[Path]:
    """Yield a temporary path next to `out`, which replaces `out` unless the block fails.

    Each writer has its own path: of two concurrent writers, the last one's file remains.

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
    """Return whether `out` may be replaced: a file, a missing path, or a link other than /dev/stdout."""
    is_open = out.is_symlink() and out.readlink().is_relative_to("/proc")
    return not is_open and (out.is_file() or not out.exists())


Arrays = Mapping[str, npt.NDArray[Any]]

_OWNER = "whose"  # the array that identifies scope and code
_WRITE_INTERVAL_SECONDS = 60.0  # for a knowledge base that changes all the time
_ABANDONED_SECONDS = 3600.0  # age of a partial file whose writer has died


def index_files(settings: Settings) -> ArrayFiles:
    """Return the cached word indexes of knowledge bases."""
    return ArrayFiles(settings.data_dir / "index")


async def forget_words(settings: Settings, scope: Scope) -> None:
    """Delete the cached words of a knowledge base from disk, since some of its documents are deleted."""
    await asyncio.to_thread(index_files(settings).forget, scope)


class ArrayFiles:
    """A folder of array files, readable only by the user of this process.

    Every call blocks, so call it in a thread. No call fails: errors of the file system are ignored.

    Args:
        folder: created when the first file is saved.
        max_bytes: the size of all files; the least recently used ones are deleted first.
    """

    def __init__(self, folder: Path, max_bytes: int = 1 << 30) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def load(self, scope: Scope, code: str) -> Arrays | None:
        """Return the arrays that the same `code` saved for a scope; None if there are none.

        They are plain numbers (no pickle) and complete; their meaning is not checked.
        """
        file = self._file(scope)
        try:
            with np.load(file, allow_pickle=False) as loaded:
                if bytes(loaded[_OWNER]) != _file_owner(scope, code):
                    return None
                arrays = {name: loaded[name] for name in loaded.files if name != _OWNER}
            # Update the access time only.
            os.utime(file, (time.time(), file.stat().st_mtime))
        except Exception:  # noqa: BLE001 - absent, or damaged in whatever way: made again
            return None
        return arrays

    def save(self, scope: Scope, code: str, arrays: Arrays) -> None:
        """Save the arrays of a scope, unless its file was written a moment ago."""
        file = self._file(scope)
        with suppress(OSError):
            # A time in the future means that the clock was set back; then write.
            if file.exists() and 0 <= time.time() - file.stat().st_mtime < _WRITE_INTERVAL_SECONDS:
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            owner = np.frombuffer(_file_owner(scope, code), np.uint8)
            # A random name, since threads and containers over one volume may share a process id.
            handle, name = tempfile.mkstemp(".part", f"{file.stem}.", self._folder)
            part = Path(name)
            try:
                with os.fdopen(handle, "wb") as output:
                    np.savez(output, allow_pickle=False, **{**arrays, _OWNER: owner})
                part.replace(file)
            finally:
                part.unlink(missing_ok=True)
            self._evict()

    def forget(self, scope: Scope) -> None:
        """Delete the file of a scope and its partial files."""
        with suppress(OSError):
            for file in self._folder.glob(f"{self._file(scope).stem}.*"):
                file.unlink(missing_ok=True)

    def _file(self, scope: Scope) -> Path:
        key = json.dumps([scope.user_id, scope.graph_id])
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"

    def _evict(self) -> None:
        stats = {file: file.stat() for file in self._folder.iterdir()}
        remaining, now = self._max_bytes, time.time()
        for file, status in sorted(stats.items(), key=lambda item: -item[1].st_atime):
            remaining -= status.st_size
            abandoned = file.suffix == ".part" and now - status.st_mtime > _ABANDONED_SECONDS
            if remaining < 0 or abandoned:
                file.unlink(missing_ok=True)


def _file_owner(scope: Scope, code: str) -> bytes:
    return json.dumps([scope.user_id, scope.graph_id, code]).encode()
