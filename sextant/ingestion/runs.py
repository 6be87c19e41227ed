"""A part at a time of what is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def runs_of(items: Iterable[T], size: Callable[[T], int], room: int) -> Iterator[list[T]]:
    """Yield items in their order, in runs that are together no larger than `room`; one that is larger is alone."""
    run, held = list[T](), 0
    for item in items:
        if run and held + size(item) > room:
            yield run
            run, held = [], 0
        run.append(item)
        held += size(item)
    if run:
        yield run
