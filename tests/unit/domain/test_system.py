"""How much memory a process may use."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sextant.domain.settings import Settings
from sextant.domain.system import usable_memory

MACHINE = psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("limits", "own", "usable"),
    [
        pytest.param({}, None, MACHINE, id="nothing is said of groups"),
        pytest.param({"memory.max": "max"}, "0::/", MACHINE, id="a container without a limit"),
        pytest.param({"memory.max": "1000000"}, "0::/", 1_000_000, id="a container"),
        pytest.param({"memory.max": str(2 * MACHINE)}, "0::/", MACHINE, id="more than there is"),
        pytest.param(
            {"memory/memory.limit_in_bytes": "1000000"},
            "4:memory:/docker/0a\n1:name=systemd:/docker/0a",
            1_000_000,
            id="a container of version 1",
        ),
        pytest.param(
            {"memory/memory.limit_in_bytes": "9223372036854771712"},
            "4:memory:/",
            MACHINE,
            id="a container of version 1 without a limit",
        ),
        pytest.param(
            {"system.slice/a.service/memory.max": "1000000"},
            "0::/system.slice/a.service",
            1_000_000,
            id="a service",
        ),
        pytest.param(
            {"a.slice/memory.max": "1000000", "a.slice/a.service/memory.max": "max"},
            "0::/a.slice/a.service",
            1_000_000,
            id="a service in a slice that may take less",
        ),
        pytest.param(
            {"other.slice/memory.max": "1000000"}, "0::/a.slice", MACHINE, id="another's limit"
        ),
    ],
)
def test_it_is_what_the_machine_has_or_a_group_of_the_process_may_take(
    tmp_path: Path, limits: dict[str, str], own: str | None, usable: int
) -> None:
    groups = tmp_path / "cgroup"
    for name, limit in limits.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(limit + "\n")
    if own is not None:
        (tmp_path / "own").write_text(own + "\n")
    assert usable_memory(groups, tmp_path / "own") == usable


def test_knowledge_bases_in_memory_take_a_32nd_of_it_unless_it_is_set() -> None:
    assert Settings(_env_file=None).retrieval.hot_memory == usable_memory() // 32


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
