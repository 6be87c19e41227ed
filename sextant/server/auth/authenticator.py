"""Finds out who asks, from an API key, a token, or the want of any login.

Also here: where no login is configured, only this machine's own user is served; how often one
caller may ask, counted in this process.
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
    """Let through what the user of this machine asks.

    Args:
        connection: the request.
        pages: origins of other sites whose pages may ask all the same.

    Raises:
        Forbidden: it comes from elsewhere, or through a page of somebody else's.
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
    """Return a host without its port; nothing where it is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _forbidden(why: str) -> Forbidden:
    return Forbidden(
        f"This server has no login, so it serves this machine only, and the request {why}.",
        next_step="Make a key with `sextant keys create`; from then on keys are asked for.",
    )


# Callers remembered, 0.2 KB each; one is forgotten as soon as it has its whole burst again.
_MOST = 50_000


class Rates:
    """Requests by caller: `burst` at once, `per_second` in the long run.

    The generic cell rate algorithm (ITU-T I.371, ATM Forum TM 4.0): of each caller one moment is kept,
    that at which it has its whole burst again. Each request moves it by `1 / per_second`.

    Args:
        per_second: requests in the long run.
        burst: requests at once.
        what: is told to whoever has had too many.
    """

    def __init__(self, per_second: float, burst: int, what: str) -> None:
        self._gap = 1 / per_second
        self._tolerance = self._gap * (burst - 1)
        self._message = f"{what}: more than {burst} at once, or {per_second:g} a second."
        # The one counted longest ago comes first.
        self._whole_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """Return callers that do not have their whole burst."""
        return len(self._whole_at)

    def count(self, caller: str) -> None:
        """Count one request.

        Raises:
            Limited: the caller has had all it may have for now; carries when to come again.
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
        self._forget(now)

    def give_back(self, caller: str) -> None:
        """Take one request of a caller as not counted."""
        if caller in self._whole_at:
            self._whole_at[caller] -= self._gap

    def _forget(self, now: float) -> None:
        """Two are looked at for one that came, so what is over goes soon, and no call takes long."""
        for _ in range(2):
            oldest = next(iter(self._whole_at))
            if self._whole_at[oldest] <= now or len(self._whole_at) > _MOST:
                del self._whole_at[oldest]
            else:
                self._whole_at.move_to_end(oldest)


# Keys, and as many tokens, remembered between requests, about 0.5 KB each.
_CACHED = 4096
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
        self._keys = VersionedCache[bytes, int, KeyInUse](_CACHED)
        self._wrong = VersionedCache[bytes, None, None](_CACHED, lifetime=REMEMBERED_SECONDS)
        # A flood of keys that this server does not know shall not take the connections of those whose keys it knows.
        self._strangers = asyncio.Semaphore(2)
        self._tries = Rates(1.0, settings.auth.wrong_keys, "Too many wrong keys from this address")
        self._login = settings.auth.required or self._tokens is not None
        self._open_until = 0.0

    async def login_required(self) -> bool:
        """Return whether a key or token is asked for: one is configured, or a key was ever made.

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
            Limited: too many wrong keys have come from its address, and this one is not known.
            DependencyError: what knows the keys does not answer.
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
        """Return who asks, as far as that can be said at once; a stranger, and whoever has a token, is None.

        A key counts that held when it was last looked up, however long ago: it lets nobody in.
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
        """End what was begun."""
        await self._keys.close()
        if self._tokens is not None:
            await self._tokens.close()

    def _nobody(self) -> Principal:
        return Principal(self._settings.user_id, frozenset(Permission), login=False)

    async def _by_key(self, digest: bytes, address: str) -> Principal:
        """Return whose key it is, asked for once however many requests wait for it, and again after a while.

        Raises:
            Unauthorised: it is nobody's, or has expired.
            DatabaseUnavailable: its turn and its connection take longer than a statement may.
        """
        if self._wrong.peek(digest):
            raise unauthorized_error()
        seconds = 2 * self._settings.database_timeout
        try:
            async with asyncio.timeout(seconds):
                key, _ = await self._keys.get(
                    digest, self._period(digest), lambda known: self._use(digest, address, known)
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

    def _period(self, digest: bytes) -> int:
        """Return in which period it is: a key is looked up once in each, not all keys at once."""
        seconds = self._settings.auth.key_cache_seconds or 1e-6
        return int(time.monotonic() / seconds + digest[0] / 256)

    async def _use(
        self, digest: bytes, address: str, known: tuple[int, KeyInUse] | None
    ) -> KeyInUse:
        """Look a key up; whoever brings many that are nobody's is not heard.

        Those that are known go on working from the same address. A refusal is remembered apart from
        what holds, so garbage drives none of them out.
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
    """Return whom a key stands for until it expires."""
    if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
        return None
    return Principal(key.user_id, include_lesser(key.permissions), key.id)


def _neighbourhood(connection: HTTPConnection) -> str:
    """Return the address that a request comes from; of IPv6 the part that its owner cannot change (RFC 6177)."""
    if connection.client is None:
        return ""
    try:
        address = ip_address(connection.client.host)
    except ValueError:  # a name, as tests have it
        return connection.client.host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return address.exploded[:19]
    return str(address)


def _credential(connection: HTTPConnection) -> str:
    """Return the one key or token that a request brings.

    Raises:
        Unauthorised: it brings none, or several that differ.
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
