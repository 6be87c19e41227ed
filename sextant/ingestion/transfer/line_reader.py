"""Reads the lines of an import, from a file or as they come, into a spool."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
)
from pathlib import Path
from typing import Any

from sextant.domain.errors import OptionInvalid
from sextant.ingestion.transfer.lines import LineInvalid, LineProblem, read_line
from sextant.ingestion.transfer.spool import Numbered, Spool, next_of

# Lines that are read, checked and kept in one go, off the loop.
_BATCH = 500
# And bytes of them, so that long lines do not add up in memory.
_BATCH_BYTES = 8_000_000

Raw = bytes | Mapping[str, Any]
Rows = AsyncIterable[Mapping[str, Any]] | AsyncIterable[bytes] | Iterable[Mapping[str, Any]]
Source = str | Path | Rows


async def read_into(spool: Spool, source: Source) -> AsyncIterator[list[LineProblem]]:
    """Keep every usable line of `source`; yields the problems of each batch of lines.

    Raises:
        OptionInvalid: the file cannot be read.
    """
    async for batch in _batches(source):
        yield await asyncio.to_thread(_keep, spool, batch)


def _keep(spool: Spool, batch: list[tuple[int, Raw]]) -> list[LineProblem]:
    lines, problems = [], list[LineProblem]()
    for number, raw in batch:
        try:
            line, remarks = read_line(raw)
        except LineInvalid as error:
            problems.append(LineProblem(number, str(error)))
            continue
        lines.append(Numbered(number, line))
        problems += [LineProblem(number, *remark) for remark in remarks]
    return problems + spool.add(lines)


async def _batches(source: Source) -> AsyncIterator[list[tuple[int, Raw]]]:
    if not isinstance(source, str | Path):
        async for batch in _gather_lines(source):
            yield batch
        return
    path = Path(source)
    try:
        lines = _read(path)
        while batch := await next_of(lines, _BATCH, lambda one: len(one[1]), _BATCH_BYTES):
            yield batch
    except (OSError, EOFError, zlib.error) as error:
        raise OptionInvalid(
            f"{path} cannot be read: {error}.", next_step="Check the file.", field="path"
        ) from error


def _read(path: Path) -> Iterator[tuple[int, Raw]]:
    """Yield the lines of a file or a pipe, with their numbers; it is closed with this generator."""
    with path.open("rb") as raw:
        packed = raw.peek(2).startswith(b"\x1f\x8b")  # RFC 1952
        with gzip.GzipFile(fileobj=raw) if packed else raw as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())


async def _each(rows: Rows) -> AsyncIterator[Raw]:
    if isinstance(rows, AsyncIterable):
        async for row in rows:
            yield row
    else:
        for one in rows:
            yield one


async def _gather_lines(source: Rows) -> AsyncIterator[list[tuple[int, Raw]]]:
    batch, size, number = list[tuple[int, Raw]](), 0, 0
    async for row in _each(source):
        number += 1
        if isinstance(row, bytes):
            if not row.strip():
                continue
            size += len(row)
        batch.append((number, row))
        if len(batch) == _BATCH or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
