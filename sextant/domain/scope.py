"""Whose data, and which knowledge base of theirs.

Also here: who asks and what for, with API keys and permissions.
"""

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

    Every query binds it, and `Database.transaction` sets the tenant for row-level security besides
    (`sextant/stores/postgresql/database.py`; policies: `sextant/stores/sql/schema/01_tenants.sql`).

    Raises:
        OptionInvalid: a name is no text, blank, longer than 200 characters, or holds what no store
            can hold or U+FFFD, in whose place different bytes that are no UTF-8 would be one name.
    """

    user_id: str = DEFAULT_USER
    graph_id: str = DEFAULT_GRAPH

    def __post_init__(self) -> None:
        for field, name in (("user_id", self.user_id), ("graph_id", self.graph_id)):
            if not _is_name(name):
                raise OptionInvalid(
                    f"{field} must be a name of 1 to {LONGEST_NAME} characters.",
                    next_step="Give a name that is valid text, like `handbooks`.",
                    field=field,
                )


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name.strip()) <= len(name) <= LONGEST_NAME
        and clean_text(name) == name
        and "\ufffd" not in name
    )


def key_of(scope: Scope) -> dict[str, object]:
    """Return a scope as parameters of a query."""
    return {"user_id": scope.user_id, "graph_id": scope.graph_id}


# 256 random bits: no guessing, and a plain SHA-256 of them is as good as a slow hash, which exists to
# protect secrets that people make up (OWASP Password Storage Cheat Sheet).
_SECRET_BYTES = 32
_ID_BYTES = 6
_SHAPE = re.compile(r"(sxt_[0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)


class Permission(StrEnum):
    """What a key may do. `admin` includes the others, `ingest` includes `read`."""

    READ = "read"
    INGEST = "ingest"
    ADMIN = "admin"


_ASCENDING = tuple(Permission)


def with_lesser(granted: Iterable[Permission]) -> frozenset[Permission]:
    """Return `granted` with all that they include."""
    highest = max((_ASCENDING.index(one) for one in granted), default=-1)
    return frozenset(_ASCENDING[: highest + 1])


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key; the secret is not among it.

    Attributes:
        id: its beginning, `sxt_` and 12 hexadecimal digits, which tell keys apart and open nothing.
        permissions: as granted; `with_lesser` says what they include.
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
        """Return whether it opens nothing any more."""
        expired = self.expires_at is not None and self.expires_at <= datetime.now(UTC)
        return self.revoked_at is not None or expired


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A key just made. `text` is told to its holder once, and kept nowhere."""

    id: str
    text: str

    @property
    def digest(self) -> bytes:
        """Return what is kept of it."""
        return digest_of(self.text)


def new_secret() -> NewSecret:
    """Make a key of 256 random bits."""
    name = f"sxt_{secrets.token_hex(_ID_BYTES)}"
    return NewSecret(name, f"{name}_{secrets.token_urlsafe(_SECRET_BYTES)}")


def digest_of(secret: str) -> bytes:
    """Return the SHA-256 of a key."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def is_api_key(text: str) -> bool:
    """Return whether `text` has the shape of a key."""
    return _SHAPE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose data a request works on, and what it may do with them.

    Attributes:
        permissions: all of them, those that others include among them.
        key_id: the beginning of the API key; None for a token, and where there is no login.
        login: whether it has proved who it is; without any login configured, nobody has.
    """

    user_id: str
    permissions: frozenset[Permission]
    key_id: str | None = None
    login: bool = True

    @property
    def quota_key(self) -> str:
        """Return what is counted together against a quota: a key, or all tokens of a user."""
        return self.key_id or f"user {self.user_id}"


def unauthorized_error(sentence: str = "The key or token does not hold.") -> Unauthorised:
    """Return the answer to a caller we do not know; it tells nobody what was wrong with a key."""
    return Unauthorised(
        sentence,
        next_step="Send `Authorization: Bearer sxt_...` with a key of `sextant keys create`.",
    )
