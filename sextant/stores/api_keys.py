"""API keys in PostgreSQL: made and ended by the owner, recognised by the serving role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from sextant.domain.api_keys import ApiKey, NewSecret, Permission, new_secret
from sextant.domain.errors import ConflictError, OptionInvalid
from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import limit_statements
from sextant.text.characters import clean_text

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


_API_KEY_SQL = load_queries("api_keys")
_LONGEST_NAME = 200  # characters
# No tenant: where a key is recognised, none is known yet, and no table shows a row.
_NOBODY = ""


@dataclass(frozen=True, slots=True)
class KeyInUse:
    """What a request needs to know of its key."""

    id: str
    user_id: str
    permissions: tuple[Permission, ...]
    expires_at: datetime | None


class ApiKeyStore:
    """The keys of a database's users.

    `use` and `exist` run as the serving role; the others need the owner's login, as commands have it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def use(self, digest: bytes) -> KeyInUse | None:
        """Return the key with this SHA-256, unless it is revoked, expired or was never made.

        Raises:
            DatabaseUnavailable: nobody knows.
        """
        with limit_statements(self._database.settings.database_timeout):
            async with self._database.transaction(_NOBODY) as connection:
                cursor = connection.cursor(row_factory=dict_row)
                row = await (
                    await cursor.execute(_API_KEY_SQL["use"], {"digest": digest})
                ).fetchone()
        return KeyInUse(**(row | {"permissions": _permissions(row)})) if row else None

    async def exist(self) -> bool:
        """Return whether a key was ever made here, even one that is revoked by now.

        Raises:
            DatabaseUnavailable: nobody knows.
        """
        with limit_statements(self._database.settings.database_timeout):
            [row] = await self._database.read(_NOBODY, _API_KEY_SQL["exist"], {})
        return bool(row["found"])

    async def create(
        self,
        user_id: str,
        permissions: Iterable[Permission],
        *,
        name: str = "",
        lifetime: timedelta | None = None,
    ) -> tuple[ApiKey, NewSecret]:
        """Make a key; its secret is in the result and nowhere else.

        Raises:
            OptionInvalid: the user id or the name cannot be stored, or the key would never be valid.
        """
        Scope(user_id)  # raises if it is no user id
        secret = new_secret()
        values = {
            "id": secret.id,
            "user_id": user_id,
            "name": clean_text(name)[:_LONGEST_NAME],
            "digest": secret.digest,
            "permissions": sorted(permissions),
            "expires_at": _after(lifetime),
        }
        [row] = await self._owner("create", values)
        return _key(row), secret

    async def list_keys(self, user_id: str | None = None) -> list[ApiKey]:
        """Return the keys of a user, or everybody's, newest first."""
        return [_key(row) for row in await self._owner("list", {"user_id": user_id})]

    async def revoke(self, key_id: str, grace: timedelta = timedelta(0)) -> ApiKey:
        """End a key: now, or after `grace`.

        Raises:
            OptionInvalid: there is no such key.
        """
        rows = await self._owner("end", {"id": key_id, "grace": grace})
        if not rows:
            raise OptionInvalid(
                "There is no such key.",
                next_step="`sextant keys list --all` shows them; a key is named by its beginning.",
                field="key",
            )
        return _key(rows[0])

    async def rotate(
        self, key_id: str, grace: timedelta = timedelta(0)
    ) -> tuple[ApiKey, NewSecret]:
        """Make a key that may do what another may, for as long again, and end the other.

        Args:
            key_id: the key to be replaced.
            grace: how long the old one goes on working beside the new one.

        Raises:
            OptionInvalid: there is no such key that still opens anything.
        """
        old = next((key for key in await self.list_keys() if key.id == key_id), None)
        if old is None or old.ended:
            raise OptionInvalid(
                "There is no such key, or it has ended.",
                next_step="Make another: `sextant keys create`.",
                field="key",
            )
        lifetime = old.expires_at - old.created_at if old.expires_at else None
        made = await self.create(old.user_id, old.permissions, name=old.name, lifetime=lifetime)
        await self.revoke(key_id, grace)
        return made

    async def _owner(self, name: str, values: Mapping[str, Any]) -> list[DictRow]:
        async with self._database.owner() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            return await (await cursor.execute(_API_KEY_SQL[name], values)).fetchall()


def _after(lifetime: timedelta | None) -> datetime | None:
    if lifetime is None:
        return None
    if lifetime <= timedelta(0):
        raise OptionInvalid(
            "A key that has expired when it is made is of no use.",
            next_step="Give --expires like 90d or 12h.",
            field="expires",
        )
    return datetime.now(UTC) + lifetime


def _permissions(row: DictRow) -> tuple[Permission, ...]:
    return tuple(Permission(one) for one in row["permissions"])


def _key(row: DictRow) -> ApiKey:
    return ApiKey(**(row | {"permissions": _permissions(row)}))
