"""Answers to requests with an Idempotency-Key, given again to the same request.

After draft-ietf-httpapi-idempotency-key-header: a key belongs to a user and to one request, told by a
hash of it, and expires. What is kept is bounded: a day of each user's newest keys.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from sextant.domain.errors import ConflictError
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("idempotency")
_AGE = timedelta(hours=24)
# Keys of one user. An answer has up to 20 documents, some 200 bytes each: 40 MB at the very most.
MOST = 10_000


class Idempotency:
    """The keys of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, user_id: str, key: str, request_sha256: str) -> Any:  # noqa: ANN401
        """Return the answer that this request had, or None: it is new, or was never answered.

        Raises:
            ConflictError: the key came with another request before.
        """
        values = {"user_id": user_id, "key": key, "request_sha256": request_sha256, "age": _AGE}
        async with self._database.transaction(user_id) as connection:
            await connection.execute(_SQL["forget_old"], values)
            begun = await connection.execute(_SQL["begin"], values)
            if begun.rowcount:
                await connection.execute(_SQL["forget_most"], {"user_id": user_id, "most": MOST})
            found = await (await connection.execute(_SQL["find"], values)).fetchone()
        if found is None or found[0] != request_sha256:
            raise ConflictError(
                "This Idempotency-Key came with another request before.",
                next_step="Make a new key for every new request, and keep it for its repetitions.",
                field="Idempotency-Key",
            )
        return found[1]

    async def finish(self, user_id: str, key: str, request_sha256: str, answer: object) -> None:
        """Remember what a request was answered; `answer` is anything that JSON holds."""
        values = {"user_id": user_id, "key": key, "request_sha256": request_sha256}
        async with self._database.transaction(user_id) as connection:
            await connection.execute(_SQL["finish"], values | {"answer": Jsonb(answer)})
