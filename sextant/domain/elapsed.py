"""How long something took, as results, metrics and traces tell it."""

from __future__ import annotations

import time


def milliseconds_since(started: float) -> float:
    """Return milliseconds since `started`, a moment of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1000
