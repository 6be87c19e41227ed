"""This process and its machine: memory of the C allocator, loopback addresses, optional extras, lazy imports."""

from __future__ import annotations

import ctypes
import ipaddress
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import cast


def _library_function(name: str) -> Callable[..., int] | None:
    """Return a function of the C library, where it has it."""
    try:
        return cast("Callable[..., int]", getattr(ctypes.CDLL(None), name))
    except (OSError, AttributeError, TypeError):  # macOS, musl, Windows
        return None


_TRIM = _library_function("malloc_trim")
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of <malloc.h>
_LARGE = 1 << 20  # bytes


def trim_memory() -> None:
    """Return freed memory to the system; takes some milliseconds, without the GIL.

    glibc keeps freed memory for each thread: building the indexes of fifty knowledge bases left as much as the
    indexes take (docs/speed.md).
    """
    if _TRIM is not None:
        _TRIM(0)


def map_large_blocks() -> None:
    """Map each large block of memory on its own, so that freeing it returns it to the system.

    glibc does so only until the first large block is freed (mallopt(3)); later ones lie among small blocks and leave
    gaps: a tenth of a serving process with 100,000 chunks in memory.
    """
    if (adjust := _library_function("mallopt")) is not None:
        adjust(_MMAP_THRESHOLD, _LARGE)


def install_extra(name: str) -> str:
    """Return the sentence that says how to install an optional extra into this Python."""
    is_copy = Path(__file__).is_relative_to(sysconfig.get_path("purelib"))
    source = f"'.[{name}]'" if is_copy else f"-e '.[{name}]'"
    return f"Run `{sys.executable} -m pip install -c constraints.txt {source}` in the checkout."


_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})


@lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Return whether a host name or address, without port, is a loopback address of this machine.

    Names that need a look-up are not, since their address may change (DNS rebinding).
    """
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.lower().rstrip(".") in _NAMES
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def load_lazily(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package that imports its public names when they are first used.

    Args:
        package: name of the package.
        homes: the public names that each module gives.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def public(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return public, listed, sorted(home_of)
