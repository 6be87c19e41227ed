"""Store API keys: the owner creates and revokes them, the serving role verifies them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.rows import DictRow, dict_row

from sextant.domain.errors import OptionInvalid, SettingsInvalid
from sextant.domain.scope import ApiKey, NewSecret, Permission, Scope, new_secret
from sextant.domain.settings import Settings
from sextant.domain.system import is_loopback
from sextant.stores.postgresql.database import Database, fetch_rows
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import limit_statements
from sextant.text.characters import clean_text

_SQL = load_queries("api_keys")
# The user is unknown until a key is verified; without a tenant no table shows a row.
_NO_TENANT = ""


@dataclass(frozen=True, slots=True)
class KeyInUse:
    """The properties of a valid key that a request needs."""

    id: str
    user_id: str
    permissions: tuple[Permission, ...]
    expires_at: datetime | None


class ApiKeyStore:
    """Create, verify and revoke API keys.

    `use` and `exist` run as the serving role; the other methods need the owner's login.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def use(self, digest: bytes) -> KeyInUse | None:
        """Return the key with this SHA-256; None if it is revoked, expired or unknown.

        Raises:
            DatabaseUnavailable: the server does not answer.
        """
        with limit_statements(self._database.settings.database_timeout):
            key = {"digest": digest}
            rows = await self._database.fetch(_NO_TENANT, dict_row, _SQL["use"], key)
        return KeyInUse(**rows[0] | {"permissions": _permissions(rows[0])}) if rows else None

    async def exist(self) -> bool:
        """Return whether a key was ever created, even one that is revoked now.

        Raises:
            DatabaseUnavailable: the server does not answer.
        """
        with limit_statements(self._database.settings.database_timeout):
            [row] = await self._database.read(_NO_TENANT, _SQL["exist"], {})
        return bool(row["found"])

    async def create(
        self,
        user_id: str,
        permissions: Iterable[Permission],
        *,
        name: str = "",
        lifetime: timedelta | None = None,
    ) -> tuple[ApiKey, NewSecret]:
        """Create a key; its secret is in the result and nowhere else.

        Raises:
            OptionInvalid: the user id cannot be stored, or the key would never be valid.
        """
        Scope(user_id)  # raises if it is no user id
        if lifetime is not None and lifetime <= timedelta(0):
            raise OptionInvalid(
                "The key would expire before it is created.",
                next_step="Give --expires like 90d or 12h.",
                field="expires",
            )
        secret = new_secret()
        values = {
            "id": secret.id,
            "user_id": user_id,
            "name": clean_text(name)[:200],
            "digest": secret.digest,
            "permissions": sorted(permissions),
            "expires_at": None if lifetime is None else datetime.now(UTC) + lifetime,
        }
        [row] = await self._owner("create", values)
        return _key(row), secret

    async def list_keys(self, user_id: str | None = None) -> list[ApiKey]:
        """Return the keys of a user, or of all users, newest first."""
        return [_key(row) for row in await self._owner("list", {"user_id": user_id})]

    async def revoke(self, key_id: str, grace: timedelta = timedelta(0)) -> ApiKey:
        """Revoke a key, now or after `grace`.

        Raises:
            OptionInvalid: there is no such key.
        """
        rows = await self._owner("end", {"id": key_id, "grace": grace})
        if not rows:
            raise OptionInvalid(
                "There is no such key.",
                next_step="List the keys with `sextant keys list --all`; name one by its beginning.",
                field="key",
            )
        return _key(rows[0])

    async def rotate(
        self, key_id: str, grace: timedelta = timedelta(0)
    ) -> tuple[ApiKey, NewSecret]:
        """Create a key with the permissions and lifetime of another, and revoke the other.

        Args:
            key_id: the key to replace.
            grace: how long the old key stays valid.

        Raises:
            OptionInvalid: there is no such key, or it is no longer valid.
        """
        old = next((key for key in await self.list_keys() if key.id == key_id), None)
        if old is None or old.ended:
            raise OptionInvalid(
                "There is no such key, or it has ended.",
                next_step="Create another one with `sextant keys create`.",
                field="key",
            )
        lifetime = old.expires_at - old.created_at if old.expires_at else None
        created = await self.create(old.user_id, old.permissions, name=old.name, lifetime=lifetime)
        await self.revoke(key_id, grace)
        return created

    async def _owner(self, name: str, values: Mapping[str, Any]) -> list[DictRow]:
        async with self._database.owner() as connection:
            return await fetch_rows(connection, dict_row, _SQL[name], values)


def _permissions(row: DictRow) -> tuple[Permission, ...]:
    return tuple(Permission(one) for one in row["permissions"])


def _key(row: DictRow) -> ApiKey:
    return ApiKey(**row | {"permissions": _permissions(row)})


@asynccontextmanager
async def open_keys(settings: Settings) -> AsyncIterator[ApiKeyStore]:
    """Open the API keys of a database.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached or started.
    """
    async with await Database.open(settings) as database:
        yield ApiKeyStore(database)


async def may_listen(settings: Settings, host: str) -> None:
    """Check that a server may listen on an address: only with a login, or on loopback.

    Raises:
        SettingsInvalid: the address can be reached from elsewhere, and no login is configured.
        DatabaseUnavailable: it is unknown whether there are keys.
    """
    auth = settings.auth
    if is_loopback(host) or auth.required or auth.jwt_secret or auth.jwks_url:
        return
    async with open_keys(settings) as keys:
        if not await keys.exist():
            raise SettingsInvalid(
                f"Without a login, the server listens on this machine only, and not on {host or '*'}.",
                next_step="Make a key with `sextant keys create`, or leave --host out.",
                field="host",
            )
