"""Authentication of requests by API key or token, and rate limits.

Without any login configured, only requests from this machine are served.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Container
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from sextant.domain.errors import DatabaseUnavailable, Forbidden, Limited, Unauthorised
from sextant.domain.scope import (
    Permission,
    Principal,
    digest_of,
    include_lesser,
    is_api_key,
    unauthorized_error,
)
from sextant.domain.settings import Settings
from sextant.domain.system import is_loopback
from sextant.domain.versioned_cache import VersionedCache
from sextant.server.auth.tokens import REMEMBERED_SECONDS, tokens_of
from sextant.stores.api_keys import ApiKeyStore, KeyInUse
from sextant.stores.postgresql.database import Database


def require_local(connection: HTTPConnection, pages: Container[str] = ()) -> None:
    """Admit only requests of this machine's user.

    Args:
        connection: the request.
        pages: origins of other sites that are admitted.

    Raises:
        Forbidden: the request comes from another machine, or from a page of another site.
    """
    if connection.client is None or not is_loopback(connection.client.host):
        raise _forbidden("comes from another machine")
    host = connection.headers.get("host", "").lower()
    if not is_loopback(_name(host)):
        raise _forbidden("is meant for another host name")
    origin = connection.headers.get("origin")
    if origin in pages:
        return
    if origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}:
        raise _forbidden("comes from a page of another site")
    if connection.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise _forbidden("comes from a page of another site")


def _name(host: str) -> str:
    """Return a host without its port; "" if it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _forbidden(why: str) -> Forbidden:
    return Forbidden(
        f"This server has no login, so it serves this machine only, and the request {why}.",
        next_step="Make a key with `sextant keys create`; from then on keys are asked for.",
    )


_MOST = 50_000  # callers in memory, 0.2 KB each; one is removed once it has its whole burst again


class Rates:
    """A rate limit for each caller: `burst` requests at once, `per_second` in the long run.

    It uses the generic cell rate algorithm (ITU-T I.371, ATM Forum TM 4.0): for each caller it stores the moment at
    which the whole burst is available again; each request moves that by `1 / per_second`.

    Args:
        per_second: requests in the long run.
        burst: requests at once.
        what: begins the message of the error.
    """

    def __init__(self, per_second: float, burst: int, what: str) -> None:
        self._gap = 1 / per_second
        self._tolerance = self._gap * (burst - 1)
        self._message = f"{what}: more than {burst} at once, or {per_second:g} a second."
        # The least recently counted caller comes first.
        self._whole_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of callers without their whole burst."""
        return len(self._whole_at)

    def count(self, caller: str) -> None:
        """Count one request.

        Raises:
            Limited: the caller has used up its rate; `retry_after` says when to try again.
        """
        now = time.monotonic()
        whole_at = max(self._whole_at.get(caller, now), now)
        wait = whole_at - now - self._tolerance
        if wait > 0:
            error = Limited(
                self._message, next_step="Ask again in a moment; Retry-After says when."
            )
            error.retry_after = math.ceil(wait)
            raise error
        self._whole_at[caller] = whole_at + self._gap
        self._whole_at.move_to_end(caller)
        # Checking the two oldest callers at each request bounds both memory and time.
        for _ in range(2):
            oldest = next(iter(self._whole_at))
            if self._whole_at[oldest] <= now or len(self._whole_at) > _MOST:
                del self._whole_at[oldest]
            else:
                self._whole_at.move_to_end(oldest)

    def give_back(self, caller: str) -> None:
        """Undo the count of one request."""
        if caller in self._whole_at:
            self._whole_at[caller] -= self._gap


_CACHED = 4096  # keys in memory, 0.5 KB each
_OPEN_SECONDS = 2.0  # until the database is asked again whether a key was ever made
_BEARER = "bearer "


class Authenticator:
    """Authenticates callers.

    Args:
        settings: the configured logins.
        database: holds the keys.

    Raises:
        SettingsInvalid: the configuration of tokens would admit anyone.
    """

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._store = ApiKeyStore(database)
        self._tokens = tokens_of(settings.auth)
        self._keys = VersionedCache[bytes, int, KeyInUse](_CACHED)
        self._wrong = VersionedCache[bytes, None, None](_CACHED, lifetime=REMEMBERED_SECONDS)
        # Look-ups of unknown keys at a time, so that a flood of them leaves connections to known callers.
        self._strangers = asyncio.Semaphore(2)
        self._tries = Rates(1.0, settings.auth.wrong_keys, "Too many wrong keys from this address")
        self._login = settings.auth.required or self._tokens is not None
        self._open_until = 0.0

    async def login_required(self) -> bool:
        """Return whether a key or token is required: tokens are configured, or a key was ever made.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        if not self._login and time.monotonic() >= self._open_until:
            self._login = await self._store.exist()
            self._open_until = time.monotonic() + _OPEN_SECONDS
        return self._login

    async def authenticate(
        self, connection: HTTPConnection, pages: Container[str] = ()
    ) -> Principal:
        """Return the caller.

        Args:
            connection: the request.
            pages: origins of other sites that are admitted where there is no login.

        Raises:
            Unauthorised: the request has no valid key or token.
            Forbidden: there is no login, and the request does not come from this machine.
            Limited: too many wrong keys came from this address, and this key is not known.
            DependencyError: the database or the login service does not answer.
        """
        if not await self.login_required():
            require_local(connection, pages)
            return self._nobody()
        credential = _credential(connection)
        if is_api_key(credential):
            return await self._by_key(digest_of(credential), _neighbourhood(connection))
        if self._tokens is None:
            raise unauthorized_error()
        return await self._tokens.principal(credential)

    def known(self, connection: HTTPConnection) -> Principal | None:
        """Return the caller as far as memory knows it; None for unknown keys and for tokens.

        This does not authenticate: the key may have been revoked since it was looked up.
        """
        try:
            if not self._login:
                require_local(connection)
                return self._nobody()
            known = self._keys.peek(digest_of(_credential(connection)))
        except (Unauthorised, Forbidden):
            return None
        return _principal_of(known[1]) if known else None

    async def close(self) -> None:
        """Close the connections."""
        await self._keys.close()
        if self._tokens is not None:
            await self._tokens.close()

    def _nobody(self) -> Principal:
        return Principal(self._settings.user_id, frozenset(Permission), login=False)

    async def _by_key(self, digest: bytes, address: str) -> Principal:
        """Return the owner of a key; concurrent requests share one look-up, which is repeated after a while.

        Raises:
            Unauthorised: the key is unknown or has expired.
            DatabaseUnavailable: the look-up takes too long.
        """
        if self._wrong.peek(digest):
            raise unauthorized_error()
        seconds = 2 * self._settings.database_timeout
        try:
            async with asyncio.timeout(seconds):
                # Periods of keys begin at different times.
                lifetime = self._settings.auth.key_cache_seconds or 1e-6
                key, _ = await self._keys.get(
                    digest,
                    int(time.monotonic() / lifetime + digest[0] / 256),
                    lambda known: self._use(digest, address, known),
                )
        except TimeoutError as error:
            raise DatabaseUnavailable(
                f"PostgreSQL did not say within {seconds:g} s whose key this is.",
                next_step="Run `sextant doctor`, and try again once the database is back.",
            ) from error
        principal = _principal_of(key)
        if principal is None:
            raise unauthorized_error()
        return principal

    async def _use(
        self, digest: bytes, address: str, known: tuple[int, KeyInUse] | None
    ) -> KeyInUse:
        """Look a key up, unless its address has sent too many wrong ones.

        Known keys go on working from such an address. Wrong keys have a cache of their own, so that they cannot evict
        valid ones.
        """
        if known:
            key = await self._store.use(digest)
        else:
            self._tries.count(address)
            async with self._strangers:
                key = await self._store.use(digest)
        if key is None:
            self._keys.drop(digest)
            self._wrong.put(digest, None, None)
            raise unauthorized_error()
        if not known:
            self._tries.give_back(address)
        return key


def _principal_of(key: KeyInUse) -> Principal | None:
    """Return the owner of a key; None if it has expired."""
    if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
        return None
    return Principal(key.user_id, include_lesser(key.permissions), key.id)


def _neighbourhood(connection: HTTPConnection) -> str:
    """Return the address of a request; of IPv6 only the part that its owner cannot change (RFC 6177)."""
    if connection.client is None:
        return ""
    try:
        address = ip_address(connection.client.host)
    except ValueError:  # a host name, as in tests
        return connection.client.host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return address.exploded[:19]
    return str(address)


def _credential(connection: HTTPConnection) -> str:
    """Return the key or token of a request.

    Raises:
        Unauthorised: it has none, or several different ones.
    """
    brought = {value.strip() for value in connection.headers.getlist("x-api-key")}
    for value in connection.headers.getlist("authorization"):
        if value[: len(_BEARER)].lower() != _BEARER:
            raise unauthorized_error("Only `Authorization: Bearer` is understood.")
        brought.add(value[len(_BEARER) :].strip())
    if not brought:
        raise unauthorized_error("This needs a key or token.")
    if len(brought) > 1:
        raise unauthorized_error("The request brings several keys.")
    return brought.pop()
