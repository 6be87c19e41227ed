"""How many passages of one table are read for a question."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sextant.domain.scope import Scope
from sextant.stores.chunks.stored import TableStore
from sextant.stores.postgresql.database import Database


class _Stored:
    """A database that holds so many passages of a table."""

    def __init__(self, passages: int) -> None:
        self._passages = passages

    async def read(self, _user: str, _query: Any, values: dict[str, Any]) -> list[dict[str, Any]]:
        row = {"start": 0, "text": "| A |", "context": "", "page": None}
        count = min(self._passages, values["most"])
        return [{"id": str(at), "ordinal": at, **row} for at in range(count)]


@pytest.mark.parametrize(("stored", "read"), [(3, 3), (3_500, 3_500), (10_001, 0)])
async def test_a_table_is_read_whole_or_not_at_all(stored: int, read: int) -> None:
    store = TableStore(cast(Database, _Stored(stored)))
    assert len(await store.parts(Scope("ann", "plans"), "1")) == read
