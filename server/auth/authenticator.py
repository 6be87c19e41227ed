"""Finds out who asks, from an API key, a token, or the want of any login."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Container
from datetime import UTC, datetime

from starlette.requests import HTTPConnection

from domain.api_keys import Permission, digest_of, is_api_key, with_lesser
from domain.settings import Settings
from server.auth.caller import Principal, unauthorised
from server.auth.local import require_local
from server.auth.tokens import tokens_of
from stores.api_keys import ApiKeyStore, KeyInUse
from stores.database import Database

# Keys remembered between requests, about 0.5 KB each.
_KEPT = 4096
# Seconds for which "no key was ever made" is believed.
_OPEN_SECONDS = 2.0
_BEARER = "bearer "


class Authenticator:
    """Tells callers apart.

    Args:
        settings: which logins there are.
        database: where the keys are.

    Raises:
        SettingsInvalid: tokens are configured in a way that would let anybody in.
    """

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._store = ApiKeyStore(database)
        self._tokens = tokens_of(settings.auth)
        self._known: OrderedDict[bytes, tuple[float, asyncio.Task[KeyInUse | None]]] = OrderedDict()
        self._login = settings.auth.required or self._tokens is not None
        self._open_until = 0.0

    async def login_required(self) -> bool:
        """Whether a key or token is asked for: one is configured, or a key was ever made.

        Raises:
            DatabaseUnavailable: nobody knows whether there are keys.
        """
        if not self._login and time.monotonic() >= self._open_until:
            self._login = await self._store.exist()
            self._open_until = time.monotonic() + _OPEN_SECONDS
        return self._login

    async def authenticate(
        self, connection: HTTPConnection, pages: Container[str] = ()
    ) -> Principal:
        """Return who asks.

        Args:
            connection: the request.
            pages: where there is no login, origins of other sites whose pages may ask all the same.

        Raises:
            Unauthorised: a login is needed, and this is none.
            Forbidden: there is no login, and the request does not come from this machine's user.
            DependencyError: what knows the keys does not answer.
        """
        if not await self.login_required():
            require_local(connection, pages)
            return Principal(self._settings.user_id, frozenset(Permission), login=False)
        return await self.principal_of(_credential(connection))

    async def principal_of(self, credential: str) -> Principal:
        """Return whom a key or token stands for.

        Raises:
            Unauthorised: it does not hold.
            DependencyError: what knows the keys does not answer.
        """
        if is_api_key(credential):
            return await self._by_key(digest_of(credential))
        if self._tokens is None:
            raise unauthorised()
        return await self._tokens.principal(credential)

    async def close(self) -> None:
        """End what was begun."""
        if self._tokens is not None:
            await self._tokens.close()

    async def _by_key(self, digest: bytes) -> Principal:
        key = await self._key(digest)
        if key is None or (key.expires_at is not None and key.expires_at <= datetime.now(UTC)):
            raise unauthorised()
        return Principal(key.user_id, with_lesser(key.permissions), key.id)

    async def _key(self, digest: bytes) -> KeyInUse | None:
        """The key, asked for once however many requests wait for it, and again after a while."""
        until, asked = self._known.get(digest, (0.0, None))
        if asked is None or time.monotonic() >= until:
            asked = asyncio.create_task(self._store.use(digest))
            until = time.monotonic() + self._settings.auth.key_cache_seconds
            self._known[digest] = until, asked
            self._known.move_to_end(digest)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        try:
            key = await asyncio.shield(asked)
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._forget(digest, asked)
            raise
        if key is None:
            self._forget(digest, asked)
        return key

    def _forget(self, digest: bytes, asked: asyncio.Task[KeyInUse | None]) -> None:
        """What does not hold is not kept: garbage drives no good key out, and a new key works at once."""
        if self._known.get(digest, (0.0, None))[1] is asked:
            del self._known[digest]


def _credential(connection: HTTPConnection) -> str:
    """The one key or token that a request brings.

    Raises:
        Unauthorised: it brings none, or several that differ.
    """
    brought = {value.strip() for value in connection.headers.getlist("x-api-key")}
    for value in connection.headers.getlist("authorization"):
        if value[: len(_BEARER)].lower() != _BEARER:
            raise unauthorised("Only `Authorization: Bearer` is understood.")
        brought.add(value[len(_BEARER) :].strip())
    if not brought:
        raise unauthorised("This needs a key or token.")
    if len(brought) > 1:
        raise unauthorised("The request brings several keys.")
    return brought.pop()
