"""Pass notices from a store to the caller that answers the user, such as a fall-back."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

logger = logging.getLogger(__name__)

_collected: ContextVar[list[str] | None] = ContextVar("notices", default=None)


@contextmanager
def collect_notices() -> Iterator[list[str]]:
    """Collect distinct notices while the block runs, including those of tasks started in it."""
    collected: list[str] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def notify(sentence: str, *, logged: bool = True) -> None:
    """Log a warning and add it to the collected notices, unless they contain it already.

    `logged`: false if the log has the warning already.
    """
    collected = _collected.get()
    if collected is not None:
        if sentence in collected:
            return
        collected.append(sentence)
    if logged:
        logger.warning(sentence)
