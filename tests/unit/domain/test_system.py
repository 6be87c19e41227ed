"""How much memory a process may use."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_LARGE_BLOCKS = """
import psutil
from sextant.domain.system import map_large_blocks

map_large_blocks()
bytearray(30_000_000)  # once this is freed, glibc would no longer ask the system for less
before = psutil.Process().memory_info().rss
blocks, stay = [], []
for _ in range(40):
    blocks.append(b"x" * 2_000_000)
    stay.append(b"y" * 600)
taken = psutil.Process().memory_info().rss - before
blocks.clear()
print(taken, psutil.Process().memory_info().rss - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others map large blocks anyway")
def test_large_blocks_go_back_to_the_system_one_by_one() -> None:
    done = subprocess.run(  # in a process of its own, since it stays so
        [sys.executable, "-c", _LARGE_BLOCKS], capture_output=True, text=True, check=True
    )
    taken, left = map(int, done.stdout.split())
    assert taken > 70_000_000
    assert left < 10_000_000
