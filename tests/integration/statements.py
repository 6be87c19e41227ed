"""What a database is asked for while a test looks on."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.stores.postgresql.database import Database


def recorded(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets every statement that is read from now on."""
    asked = list[str]()
    for kind in (database._reads, database._calls):
        answer = kind._answer

        async def noted(key: str, statements: Any, answer: Any = answer) -> Any:
            asked.extend(one.query for one in statements)
            return await answer(key, statements)

        monkeypatch.setattr(kind, "_answer", noted)
    return asked
