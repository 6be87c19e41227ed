"""Lines of a body as they come, however it is cut on the way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable

from sextant.domain.errors import FileTooLarge


async def lines_of(parts: AsyncIterable[bytes], longest: int) -> AsyncGenerator[bytes]:
    """Yield the lines, without their ends; never more than one line and one part are in memory.

    Args:
        parts: the body.
        longest: bytes that a line may have.

    Raises:
        FileTooLarge: a line has more.
    """
    held = bytearray()
    number = 1
    async for part in parts:
        *ended, rest = part.split(b"\n")
        for piece in ended:
            held += piece
            _check(held, number, longest)
            yield bytes(held)
            held.clear()
            number += 1
        held += rest
        _check(held, number, longest)
    if held:
        yield bytes(held)


def _check(line: bytearray, number: int, longest: int) -> None:
    if len(line) > longest:
        raise FileTooLarge(
            f"Line {number} has more than {longest} bytes.",
            next_step="Cut the document; `sextant config` shows the limit as limits.file_bytes.",
        )
