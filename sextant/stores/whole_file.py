"""A file that appears when it is whole."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sextant.domain.errors import OptionInvalid

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
