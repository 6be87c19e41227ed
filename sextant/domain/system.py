"""This process and its machine: memory of the C allocator, loopback addresses, optional extras, lazy imports."""

from __future__ import annotations

import ast
import ctypes
import ipaddress
import sys
import sysconfig
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from importlib.abc import InspectLoader
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


def load_lazily(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports its public names when they are first used.

    These are the names that it imports as themselves (`import Name as Name`) for type checkers.
    """

    @cache
    def homes() -> dict[str, str]:
        loader = cast("InspectLoader", sys.modules[package].__loader__)
        tree = ast.parse(loader.get_source(package) or "")
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        return {one.name: str(node.module) for node in imports for one in node.names if one.asname}

    def public(name: str) -> object:
        if name == "__all__":
            return sorted(homes())
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes()[name]), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes()})

    return public, names
