"""JSON Web Tokens, signed by a login service or with a configured secret.

The checks follow RFC 8725 (JWT best current practices): the configuration fixes the algorithms, never the token;
`exp`, `iss`, `aud` and `sub` are required; a public key verifies only its own algorithm, so it cannot serve as a secret.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
import orjson

from sextant.domain.errors import DependencyError, OptionInvalid, SettingsInvalid
from sextant.domain.scope import (
    Permission,
    Principal,
    Scope,
    digest_of,
    include_lesser,
    unauthorized_error,
)
from sextant.domain.settings import AuthSettings
from sextant.domain.system import is_loopback
from sextant.domain.versioned_cache import VersionedCache

_log = logging.getLogger(__name__)

_TIMEOUT = 5.0  # seconds
_PAUSE = 30.0  # seconds between two fetches that an unknown `kid` causes
_TYPES = frozenset({"RSA", "EC", "OKP"})


class PublicKeys:
    """The public keys of a login service, by `kid`.

    Args:
        url: of the JSON Web Key Set (RFC 7517): https, or http on this machine.
        seconds: after which the keys are fetched again.

    Raises:
        SettingsInvalid: the URL is plain http to another machine.
    """

    def __init__(self, url: str, seconds: float) -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" and not (
            parts.scheme == "http" and is_loopback(parts.hostname or "")
        ):
            raise SettingsInvalid(
                "The keys of a login service are fetched by https.",
                next_step="Set SEXTANT_AUTH__JWKS_URL to an https URL.",
                field="auth.jwks_url",
            )
        self._url = url
        self._seconds = seconds
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False)
        self._fetching = asyncio.Lock()
        self._keys: dict[tuple[str | None, str], jwt.PyJWK] = {}
        self._fresh_until = self._not_before = self._believed_until = 0.0

    async def find(self, kid: object, algorithm: str) -> jwt.PyJWK:
        """Return the key of a token.

        Raises:
            jwt.InvalidKeyError: the login service has no such key.
            DependencyError: the login service does not answer, and no keys are cached.
        """
        wanted = (kid if isinstance(kid, str) else None, algorithm)
        if wanted not in self._keys or monotonic() >= self._fresh_until:
            await self._refresh(wanted)
        if wanted not in self._keys:
            raise jwt.InvalidKeyError("unknown key")
        return self._keys[wanted]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _refresh(self, wanted: tuple[str | None, str]) -> None:
        async with self._fetching:
            now = monotonic()
            fresh = wanted in self._keys and now < self._fresh_until
            if fresh or now < self._not_before:
                return
            self._not_before = now + _PAUSE
            try:
                self._keys = dict(_usable(await self._fetch()))
            except (httpx.HTTPError, TimeoutError, ValueError, TypeError, KeyError) as error:
                _log.warning(
                    "the login service does not publish its keys: %s", type(error).__name__
                )
                # Cached keys stay valid, so that tokens work while the login service is down.
                if self._keys and now < self._believed_until:
                    return
                self._keys, self._not_before = {}, now + 1
                raise DependencyError(
                    "The login service does not publish its keys.",
                    next_step="Check SEXTANT_AUTH__JWKS_URL, and try again.",
                ) from error
            self._fresh_until = now + self._seconds
            self._believed_until = now + 86_400.0  # for a day while the login service is down

    async def _fetch(self) -> list[Mapping[str, Any]]:
        body = bytearray()
        async with asyncio.timeout(_TIMEOUT), self._client.stream("GET", self._url) as answer:
            answer.raise_for_status()
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > 262_144:
                    raise ValueError("too large")
        return [one for one in orjson.loads(body)["keys"] if isinstance(one, dict)]


def _usable(keys: list[Mapping[str, Any]]) -> Iterator[tuple[tuple[str | None, str], jwt.PyJWK]]:
    """Yield the keys that verify signatures; shared secrets are skipped."""
    for one in keys:
        if one.get("kty") not in _TYPES or one.get("use", "sig") != "sig":
            continue
        try:
            key = jwt.PyJWK.from_dict(dict(one))
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        yield (key.key_id, key.algorithm_name), key


_HS256 = "HS256"
# RFC 7518 §3.2: a key as long as the hash, at least.
_LEAST_SECRET_BYTES = 32
_ASYMMETRIC = frozenset({
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
})  # fmt: skip
_CACHED = 4096  # refused tokens in memory, 0.2 KB each
REMEMBERED_SECONDS = 60.0
_REQUIRED = ["exp", "iss", "aud", "sub"]
# Besides PyJWT's errors, those that malformed headers and claims cause in the libraries below.
_INVALID = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)


class Tokens:
    """Verifies tokens; made by `tokens_of`.

    Args:
        settings: issuer, audience, claims, leeway.
        algorithms: the accepted ones.
        keys: the secret, or the public keys.
    """

    def __init__(
        self, settings: AuthSettings, algorithms: Iterable[str], keys: bytes | PublicKeys
    ) -> None:
        self._settings = settings
        self._algorithms = tuple(algorithms)
        self._keys = keys
        self._refused = VersionedCache[bytes, None, None](_CACHED, lifetime=REMEMBERED_SECONDS)

    async def principal(self, token: str) -> Principal:
        """Return the caller that a token names.

        Raises:
            Unauthorised: the token is invalid.
            DependencyError: the login service's keys cannot be fetched.
        """
        try:
            # As many characters as proxies allow in a header.
            if len(token) > 8192:
                raise jwt.DecodeError("too long")
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in self._algorithms or "crit" in header:
                raise jwt.InvalidAlgorithmError("not an algorithm that is taken")
            keys = self._keys
            key = (
                keys
                if isinstance(keys, bytes)
                else await keys.find(header.get("kid"), header["alg"])
            )
            return self._principal(token, key)
        except _INVALID as error:
            # Logged once, without the token, for the administrator of the login service.
            digest = digest_of(token)
            if not self._refused.peek(digest):
                missing = getattr(error, "claim", "")
                _log.info("token refused: %s", " ".join([type(error).__name__, missing]).strip())
            self._refused.put(digest, None, None)
            raise unauthorized_error() from None

    def _principal(self, token: str, key: bytes | jwt.PyJWK) -> Principal:
        settings = self._settings
        claims: Mapping[str, Any] = jwt.decode(
            token,
            key,
            algorithms=self._algorithms,
            audience=settings.jwt_audience,
            issuer=settings.jwt_issuer,
            leeway=30.0,  # seconds by which the clocks of issuer and server may differ
            options={"require": _REQUIRED},
        )
        try:
            user_id = Scope(claims["sub"]).user_id
        except OptionInvalid:
            raise unauthorized_error("The token's `sub` is not a user id.") from None
        return Principal(user_id, self._permissions(claims))

    def _permissions(self, claims: Mapping[str, Any]) -> frozenset[Permission]:
        claimed = claims.get(self._settings.jwt_scope_claim)
        words = claimed.split() if isinstance(claimed, str) else claimed
        if not isinstance(words, list):
            return frozenset()
        prefix = self._settings.jwt_scope_prefix
        named = {prefix + one.value: one for one in Permission}
        return include_lesser(
            named[word] for word in words if isinstance(word, str) and word in named
        )

    async def close(self) -> None:
        """Close the connections."""
        if isinstance(self._keys, PublicKeys):
            await self._keys.close()


def tokens_of(settings: AuthSettings) -> Tokens | None:
    """Return the verifier of tokens; None if none are configured.

    Raises:
        SettingsInvalid: the configuration is incomplete or unsafe.
    """
    secret = settings.jwt_secret.get_secret_value().encode() if settings.jwt_secret else b""
    if not secret and not settings.jwks_url:
        return None
    if secret and settings.jwks_url:
        raise _invalid("jwks_url", "Set a JWT secret or a JWKS URL, not both.")
    for name in ("jwt_issuer", "jwt_audience"):
        if not getattr(settings, name):
            raise _invalid(name, f"Tokens are taken only with {name} set, and only those for it.")
    if settings.jwks_url:
        algorithms = settings.jwt_algorithms.replace(",", " ").split()
        if not algorithms or not _ASYMMETRIC.issuperset(algorithms):
            raise _invalid("jwt_algorithms", f"Choose from {', '.join(sorted(_ASYMMETRIC))}.")
        return Tokens(settings, algorithms, PublicKeys(settings.jwks_url, seconds=600.0))
    if len(secret) < _LEAST_SECRET_BYTES:
        raise _invalid("jwt_secret", f"The secret must have {_LEAST_SECRET_BYTES} bytes or more.")
    return Tokens(settings, [_HS256], secret)


def _invalid(name: str, sentence: str) -> SettingsInvalid:
    return SettingsInvalid(
        sentence,
        next_step=f"Set SEXTANT_AUTH__{name.upper()}; docs/security.md shows how.",
        field=f"auth.{name}",
    )
