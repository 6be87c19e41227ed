"""What the machine has that this process runs on."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

_GROUPS, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


@cache
def usable_memory(groups: Path = _GROUPS, own: Path = _OWN) -> int:
    """Return bytes of memory: the machine's, or what this process may take of it where that is less.

    Linux says the latter of a control group, as a container or a service is one (`man 7 cgroups`).

    Args:
        groups: where the groups are.
        own: names the group of this process, where it sees those above.
    """
    usable = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    files = [groups / "memory" / "memory.limit_in_bytes", groups / "memory.max"]  # v1, v2
    with suppress(OSError):
        group = groups
        for name in own.read_text().partition("0::/")[2].strip().split("/"):
            group /= name
            files.append(group / "memory.max")
    for file in files:
        with suppress(OSError, ValueError):  # not there, or `max`
            usable = min(usable, int(file.read_text()))
    return usable
