"""The machine that this process runs on: what its allocator keeps, its own addresses, and how its optional parts are installed.

Also here: public names of a package whose modules are imported when they are first asked for.
"""

from __future__ import annotations

import ctypes
import ipaddress
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from sys import modules
from typing import cast


def _library_function(name: str) -> Callable[..., int] | None:
    """Return a function of the C library, where it has it."""
    try:
        return cast("Callable[..., int]", getattr(ctypes.CDLL(None), name))
    except (OSError, AttributeError, TypeError):  # macOS, musl, Windows
        return None


_TRIM = _library_function("malloc_trim")
# Of <malloc.h>, and bytes.
_MMAP_THRESHOLD, _LARGE = -3, 1 << 20


def give_back() -> None:
    """Return what was freed and is kept for the next allocation; some milliseconds, without the GIL.

    glibc keeps it for each thread that ever allocated, and beside small things that stay: packing fifty
    knowledge bases left as much as they take (docs/speed.md).
    """
    if _TRIM is not None:
        _TRIM(0)


def map_large_blocks() -> None:
    """Let the system give each large block of memory by itself and take it back by itself, in this process.

    glibc does so only until the first of them is freed (mallopt(3)). From then on they lie among small things, which
    stay, and leave gaps: a tenth of a serving process with 100,000 chunks in memory.
    """
    if (adjust := _library_function("mallopt")) is not None:
        adjust(_MMAP_THRESHOLD, _LARGE)


def install_extra(name: str) -> str:
    """Return what to run for the extra of this name."""
    return (
        f"Run `.venv/bin/python -m pip install -c constraints.txt -e '.[{name}]'` in the checkout."
    )


_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})


@lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Return whether a host name or address, without port, is one of this machine's own.

    A name that has to be looked up is none, whatever it resolves to: that may change (DNS rebinding).
    """
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.lower().rstrip(".") in _NAMES
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def load_lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return what a package has as its `__getattr__` and `__dir__`, so that `import package.x` and the command line start fast.

    Args:
        package: its name.
        homes: of each public name the module that it is from.
    """

    def public(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *homes})

    return public, names
