"""API keys for those who run Sextant, and whether a server without any may listen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import Settings
from sextant.domain.system import is_loopback
from sextant.stores.api_keys import ApiKeyStore
from sextant.stores.postgresql.database import Database


@asynccontextmanager
async def open_keys(settings: Settings) -> AsyncIterator[ApiKeyStore]:
    """Provide the keys of a database, and nothing else of it.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached or started.
    """
    async with await Database.open(settings) as database:
        yield ApiKeyStore(database)


async def may_listen(settings: Settings, host: str) -> None:
    """Let a server listen on an address only if it knows who asks, or nobody else can.

    Raises:
        SettingsInvalid: the address can be reached from elsewhere, and no login is configured.
        DatabaseUnavailable: whether there are keys cannot be found out.
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
