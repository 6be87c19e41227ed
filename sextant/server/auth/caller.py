"""Who asks, and the answer to whoever is nobody."""

from __future__ import annotations

from dataclasses import dataclass

from sextant.domain.api_keys import Permission
from sextant.domain.errors import Unauthorised


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
