"""Lines are read a few at a time: by their number, and by their bytes."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sextant.ingestion.transfer.line_reader import Source, read_into
from sextant.ingestion.transfer.spool import spool

LONG = [{"type": "chunk", "id": f"c{place}", "text": "x" * 3_000_000} for place in range(7)]


async def streamed(lines: bytes) -> AsyncIterator[bytes]:
    for line in lines.splitlines():
        yield line


async def at_a_time(source: Source) -> list[int]:
    """Return how many lines there were after each batch."""
    with spool() as lines:
        return [lines.size async for _ in read_into(lines, source)]


@pytest.mark.parametrize("way", ["file", "packed", "streamed", "piped", "packed and piped"])
async def test_long_lines_do_not_add_up_in_memory(tmp_path: Path, way: str) -> None:
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in LONG)
    content = gzip.compress(lines, 1) if "packed" in way else lines
    path = tmp_path / "lines.jsonl"
    if "piped" in way:
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=[content]).start()
    else:
        path.write_bytes(content)
    assert await at_a_time(streamed(lines) if way == "streamed" else path) == [2, 4, 6, 7]
