"""Memory that is free goes back to the system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable


def _trim() -> Callable[[int], int] | None:
    """Return the C library's `malloc_trim`, where there is one (glibc; malloc_trim(3))."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # macOS, musl, Windows
        return None


_TRIM = _trim()


def give_back() -> None:
    """Return what was freed and is kept for the next allocation; some milliseconds, without the GIL.

    glibc keeps it for each thread that ever allocated, and beside small things that stay: packing fifty
    knowledge bases left as much as they take (docs/performance.md).
    """
    if _TRIM is not None:
        _TRIM(0)
