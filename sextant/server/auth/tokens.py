"""JSON Web Tokens of a login service, or signed with a secret of one's own.

What is refused follows RFC 8725 (JWT best current practices): the algorithms are pinned by the
configuration and never taken from the token; `exp`, `iss`, `aud` and `sub` must be there; a public key
verifies only what its own algorithm signed, so none can pass for a secret.

Also here: the public keys of a login service.
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
_LARGEST_BYTES = 262_144
# A token with an unknown `kid` makes us look whether there are new keys, but not more often than this.
_PAUSE = 30.0
# How long keys are believed while the login service does not answer.
_LONGEST_STALE = 86_400.0
_TYPES = frozenset({"RSA", "EC", "OKP"})


class PublicKeys:
    """Keys by their `kid`.

    Args:
        url: of the JSON Web Key Set (RFC 7517); https, or http on this machine.
        seconds: after which they are fetched anew.

    Raises:
        SettingsInvalid: the URL would let anybody on the way replace the keys.
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
        """Return the key that a token names.

        Raises:
            jwt.InvalidKeyError: the login service has no such key.
            DependencyError: it does not answer, and never has.
        """
        wanted = _name(kid, algorithm)
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
                # Those known go on: a login service that is down locks nobody out who has a token.
                if self._keys and now < self._believed_until:
                    return
                self._keys, self._not_before = {}, now + 1
                raise DependencyError(
                    "The login service does not publish its keys.",
                    next_step="Check SEXTANT_AUTH__JWKS_URL, and try again.",
                ) from error
            self._fresh_until = now + self._seconds
            self._believed_until = now + _LONGEST_STALE

    async def _fetch(self) -> list[Mapping[str, Any]]:
        body = bytearray()
        async with asyncio.timeout(_TIMEOUT), self._client.stream("GET", self._url) as answer:
            answer.raise_for_status()
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > _LARGEST_BYTES:
                    raise ValueError("too large")
        return [one for one in orjson.loads(body)["keys"] if isinstance(one, dict)]


def _name(kid: object, algorithm: str) -> tuple[str | None, str]:
    return (kid if isinstance(kid, str) else None, algorithm)


def _usable(keys: list[Mapping[str, Any]]) -> Iterator[tuple[tuple[str | None, str], jwt.PyJWK]]:
    """Yield keys that verify signatures; a shared secret among public keys is a trap, and left out."""
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
_LONGEST = 8192  # characters, as much as proxies let a header have
# Tokens that did not hold are remembered for a while, 0.2 KB each.
_CACHED = 4096
REMEMBERED_SECONDS = 60.0
_REQUIRED = ["exp", "iss", "aud", "sub"]
# Not only InvalidTokenError: hostile headers and claims reach libraries below.
_NOT_HOLDING = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)


class Tokens:
    """Verifies tokens; make one by `tokens_of`.

    Args:
        settings: issuer, audience, claims, leeway.
        algorithms: those that are taken, and no others.
        keys: the secret, or where the public keys come from.
    """

    def __init__(
        self, settings: AuthSettings, algorithms: Iterable[str], keys: bytes | PublicKeys
    ) -> None:
        self._settings = settings
        self._algorithms = tuple(algorithms)
        self._keys = keys
        self._refused = VersionedCache[bytes, None, None](_CACHED, lifetime=REMEMBERED_SECONDS)

    async def principal(self, token: str) -> Principal:
        """Return whom a token stands for.

        Raises:
            Unauthorised: it does not hold.
            DependencyError: the login service's keys cannot be fetched.
        """
        try:
            header = self._header(token)
            keys = self._keys
            key = keys if isinstance(keys, bytes) else await keys.find(*_claim_name(header))
            return self._principal(token, key)
        except _NOT_HOLDING as error:
            self._note_refused(token, error)
            raise unauthorized_error() from None

    def _note_refused(self, token: str, error: Exception) -> None:
        """Log it for whoever sets the login service up; the caller is not told, and nothing of the token is."""
        digest = digest_of(token)
        if not self._refused.peek(digest):
            missing = getattr(error, "claim", "")
            _log.info("token refused: %s", " ".join([type(error).__name__, missing]).strip())
        self._refused.put(digest, None, None)

    def _header(self, token: str) -> Mapping[str, Any]:
        if len(token) > _LONGEST:
            raise jwt.DecodeError("too long")
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in self._algorithms or "crit" in header:
            raise jwt.InvalidAlgorithmError("not an algorithm that is taken")
        return header

    def _principal(self, token: str, key: bytes | jwt.PyJWK) -> Principal:
        settings = self._settings
        claims: Mapping[str, Any] = jwt.decode(
            token,
            key,
            algorithms=self._algorithms,
            audience=settings.jwt_audience,
            issuer=settings.jwt_issuer,
            leeway=settings.jwt_leeway,
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
        """End what fetches keys."""
        if isinstance(self._keys, PublicKeys):
            await self._keys.close()


def tokens_of(settings: AuthSettings) -> Tokens | None:
    """Return what verifies tokens; None where none are configured.

    Raises:
        SettingsInvalid: what is configured would take tokens that nobody should.
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
        return Tokens(settings, algorithms, PublicKeys(settings.jwks_url, settings.jwks_seconds))
    if len(secret) < _LEAST_SECRET_BYTES:
        raise _invalid("jwt_secret", f"The secret must have {_LEAST_SECRET_BYTES} bytes or more.")
    return Tokens(settings, [_HS256], secret)


def _claim_name(header: Mapping[str, Any]) -> tuple[object, str]:
    return header.get("kid"), header["alg"]


def _invalid(name: str, sentence: str) -> SettingsInvalid:
    return SettingsInvalid(
        sentence,
        next_step=f"Set SEXTANT_AUTH__{name.upper()}; docs/security.md shows how.",
        field=f"auth.{name}",
    )
