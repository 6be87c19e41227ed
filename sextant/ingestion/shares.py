"""Parsing and embedding of one process, shared among users: none waits for all documents of another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

# While one file is embedded the next one is parsed; more at once would only cost memory.
_PARSED_AT_ONCE = 2


class WorkShares:
    """Limit the documents of each user that are parsed and embedded at a time.

    A worker leaves one place to others than the user who has the rest (`sextant.facade.worker`); so
    whoever has that place must not wait behind the files in the other places.
    """

    def __init__(self) -> None:
        self._parsing = _ByUser(lambda: asyncio.Semaphore(_PARSED_AT_ONCE))
        self._embedding = _ByUser(asyncio.Lock)
        self._model = asyncio.Lock()

    @asynccontextmanager
    async def parsing(self, user_id: str) -> AsyncIterator[None]:
        """Wait until fewer than two files of the user are parsed, and count as one meanwhile."""
        async with self._parsing[user_id]:
            yield

    @asynccontextmanager
    async def embedding(self, user_id: str) -> AsyncIterator[None]:
        """Wait for the embedding model, and have it alone meanwhile; users take turns.

        Each user has one batch in the model's queue, so that queue alternates between them.
        """
        async with self._embedding[user_id], self._model:
            yield


class _ByUser(Generic[T]):
    """One object for each user, for as long as somebody holds it."""

    def __init__(self, create: Callable[[], T]) -> None:
        self._create = create
        self._objects = WeakValueDictionary[str, T]()

    def __getitem__(self, user_id: str) -> T:
        found = self._objects.get(user_id)
        if found is None:
            found = self._objects[user_id] = self._create()
        return found
