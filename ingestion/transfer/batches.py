"""Reading from files and spools without keeping the loop waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


async def next_of(items: Iterator[T], number: int) -> list[T]:
    """The next items, up to so many, fetched off the loop; empty at the end."""
    return await asyncio.to_thread(lambda: list(islice(items, number)))
