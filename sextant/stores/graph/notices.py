"""Notices from a store to whoever answers the user: it went on, but not in the way it was asked to."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

logger = logging.getLogger(__name__)

_collected: ContextVar[list[str] | None] = ContextVar("notices", default=None)


@contextmanager
def collect_notices() -> Iterator[list[str]]:
    """Collect the notices given while the block runs, each once, those of tasks started in it included."""
    collected: list[str] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def notify(sentence: str, *, logged: bool = True) -> None:
    """Log a warning, and pass it to whoever collects notices; each once of what is collected together.

    `logged`: False where the log has it already.
    """
    collected = _collected.get()
    if collected is not None:
        if sentence in collected:
            return
        collected.append(sentence)
    if logged:
        logger.warning(sentence)
