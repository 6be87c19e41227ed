"""The public keys of a login service: fetched when needed, kept, and never asked for in a storm."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
import orjson

from sextant.domain.errors import DependencyError, SettingsInvalid
from sextant.domain.loopback import is_loopback

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

    def kept(self, kid: object, algorithm: str) -> jwt.PyJWK | None:
        """Return the key that a token names, if it is here; asks nobody."""
        return self._keys.get(_name(kid, algorithm))

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
