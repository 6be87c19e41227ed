"""A server that lacks what the schema needs is told as such."""

from __future__ import annotations

from typing import Any, cast

import pytest
from psycopg import AsyncConnection, Error
from psycopg.errors import FeatureNotSupported, UndefinedFile

from sextant.domain.errors import DatabaseUnavailable
from sextant.stores.postgresql.migrations import _prepare


class WithoutPgvector:
    """An owner's connection to a server without pgvector's files."""

    def __init__(self, error: type[Error]) -> None:
        self.error = error

    async def execute(self, query: str) -> None:
        if "extension" in query.lower():
            raise self.error('extension "vector" is not available')


@pytest.mark.parametrize("error", [FeatureNotSupported, UndefinedFile])
async def test_a_server_without_pgvector_says_what_to_install(error: type[Error]) -> None:
    with pytest.raises(DatabaseUnavailable, match="no pgvector") as told:
        await _prepare(cast("AsyncConnection[Any]", WithoutPgvector(error)))
    assert "apt install postgresql" in told.value.next_step
    assert "DATABASE_URL" in told.value.next_step
