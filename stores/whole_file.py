"""A file that appears when it is whole."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from domain.errors import OptionInvalid

# What writing to an open file fails with; other errors name the file, or are of something else.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def written_whole(out: Path) -> Iterator[Path]:
    """The path of a file beside `out` to write to, which becomes `out` unless something fails.

    It is this writer's alone: of two that write to `out` at a time, the later one's file stays, whole.

    Raises:
        OptionInvalid: the file cannot be written.
    """
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
