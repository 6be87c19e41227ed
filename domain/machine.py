"""What the machine has that this process runs on."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

# Where Linux says how much a container may take (cgroup v2), the name of a number or `max`.
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


@cache
def usable_memory(container: Path = _CONTAINER) -> int:
    """Bytes of memory: the machine's, or its container's where that may take less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(container.read_text()))
    except (OSError, ValueError):
        return machine
