"""Tenants and their knowledge bases (`Scope`), API keys, and callers with their permissions (`Principal`)."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sextant.domain.errors import OptionInvalid, Unauthorised
from sextant.text.characters import clean_text

DEFAULT_USER = "local"
DEFAULT_GRAPH = "default"
LONGEST_NAME = 200  # characters


@dataclass(frozen=True, slots=True)
class Scope:
    """The key that every store call carries: a tenant and one of its knowledge bases.

    Every query binds it, and `Database.transaction` also sets the tenant for row-level security
    (`sextant/stores/postgresql/database.py`; policies: `sextant/stores/sql/schema/01_tenants.sql`).

    Raises:
        OptionInvalid: a name is not text, is blank, is longer than 200 characters, or holds characters that no
            store can hold or U+FFFD, which stands for different invalid bytes.
    """

    user_id: str = DEFAULT_USER
    graph_id: str = DEFAULT_GRAPH

    def __post_init__(self) -> None:
        for field, name in (("user_id", self.user_id), ("graph_id", self.graph_id)):
            if not (
                isinstance(name, str)
                and 0 < len(name.strip()) <= len(name) <= LONGEST_NAME
                and clean_text(name) == name
                and "\ufffd" not in name
            ):
                raise OptionInvalid(
                    f"{field} must be a name of 1 to {LONGEST_NAME} characters.",
                    next_step="Give a name that is valid text, like `handbooks`.",
                    field=field,
                )


def key_of(scope: Scope) -> dict[str, object]:
    """Return a scope as parameters of a query."""
    return {"user_id": scope.user_id, "graph_id": scope.graph_id}


_SHAPE = re.compile(r"(sxt_[0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)


class Permission(StrEnum):
    """What a key may do. `admin` includes the others, `ingest` includes `read`."""

    READ = "read"
    INGEST = "ingest"
    ADMIN = "admin"


_ASCENDING = tuple(Permission)


def include_lesser(granted: Iterable[Permission]) -> frozenset[Permission]:
    """Return the granted permissions and all that they include."""
    highest = max((_ASCENDING.index(permission) for permission in granted), default=-1)
    return frozenset(_ASCENDING[: highest + 1])


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key without its secret.

    Attributes:
        id: the beginning of the key, `sxt_` and 12 hexadecimal digits; it grants nothing.
        permissions: as granted; `include_lesser` adds what they include.
    """

    id: str
    user_id: str
    name: str
    permissions: tuple[Permission, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    @property
    def ended(self) -> bool:
        """Return whether the key is revoked or expired."""
        expired = self.expires_at is not None and self.expires_at <= datetime.now(UTC)
        return self.revoked_at is not None or expired


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A new key. Its `text` is shown to the user once and never stored."""

    id: str
    text: str

    @property
    def digest(self) -> bytes:
        """Return the hash that is stored."""
        return digest_of(self.text)


def new_secret() -> NewSecret:
    """Make a key of 256 random bits."""
    name = f"sxt_{secrets.token_hex(6)}"
    # 256 random bits cannot be guessed, so a plain SHA-256 of them suffices; slow hashes protect secrets that
    # people choose (OWASP Password Storage Cheat Sheet).
    return NewSecret(name, f"{name}_{secrets.token_urlsafe(32)}")


def digest_of(secret: str) -> bytes:
    """Return the SHA-256 of a key."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def is_api_key(text: str) -> bool:
    """Return whether `text` has the shape of a key."""
    return _SHAPE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request: whose data it works on, and what it may do.

    Attributes:
        permissions: with those that they include.
        key_id: the beginning of the API key; None for a token, or without a login.
        login: whether the caller has authenticated; False where no login is configured.
    """

    user_id: str
    permissions: frozenset[Permission]
    key_id: str | None = None
    login: bool = True

    @property
    def quota_key(self) -> str:
        """Return what counts as one caller against quotas: a key, or all tokens of a user."""
        return self.key_id or f"user {self.user_id}"


def unauthorized_error(sentence: str = "The key or token does not hold.") -> Unauthorised:
    """Return the error for an unknown caller; it does not say what was wrong with a key."""
    return Unauthorised(
        sentence,
        next_step="Send `Authorization: Bearer sxt_...` with a key of `sextant keys create`.",
    )
