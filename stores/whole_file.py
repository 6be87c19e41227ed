"""A file that appears when it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from domain.errors import OptionInvalid


@contextmanager
def written_whole(out: Path) -> Iterator[Path]:
    """The path of a file beside `out` to write to, which becomes `out` unless something fails.

    Raises:
        OptionInvalid: the file cannot be written.
    """
    part = out.with_name(f"{out.name}.part")
    try:
        yield part
        part.replace(out)
    except OSError as error:
        raise OptionInvalid(
            f"{out} cannot be written: {error}.", next_step="Name another file.", field="out"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()
