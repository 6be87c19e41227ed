"""What a database is asked for while a test looks on."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.stores.postgresql.database import Database


def recorded(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets every statement that is read, and every call, from now on."""
    asked = list[str]()
    for name in ("read", "call"):
        run = getattr(database, name)

        async def noted(key: Any, query: str, *values: Any, run: Any = run) -> Any:
            asked.append(query)
            return await run(key, query, *values)

        monkeypatch.setattr(database, name, noted)
    return asked
