"""Lists come in pages: a cursor says where one ended, sealed to the list and the user it is of."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest

import orjson

from sextant.domain.errors import OptionInvalid
from sextant.retrievers.pages.cursor import identity

Key = Sequence[str | int | float]

_SEAL = 12  # bytes


@dataclass(frozen=True, slots=True)
class ListingKey:
    """What a cursor belongs to: made of the user, the list, and all that decides about its order.

    The seal keeps no secret: whoever makes one up gets what he may list anyway, from another place on.
    """

    seal: bytes

    @classmethod
    def of(cls, *parts: object) -> ListingKey:
        """Return the listing that these tell from others."""
        return cls(identity(*parts))

    def cursor(self, key: Key) -> str:
        """Return the cursor after an entry that sorts by `key`."""
        body = orjson.dumps(list(key))
        return base64.urlsafe_b64encode(self._sealed(body) + body).decode().rstrip("=")

    def after(self, cursor: str, like: tuple[type, ...]) -> Key:
        """Return the key that a cursor was made of.

        Args:
            cursor: as it came.
            like: the types of the key's parts.

        Raises:
            OptionInvalid: it is no cursor of this listing, or was changed.
        """
        if not isinstance(cursor, str):
            raise not_a_cursor()
        try:
            sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
            seal, body = sealed[:_SEAL], sealed[_SEAL:]
            if not compare_digest(seal, self._sealed(body)):
                raise not_a_cursor()
            key = orjson.loads(body)
        except (binascii.Error, ValueError):
            raise not_a_cursor() from None
        if not isinstance(key, list) or tuple(map(type, key)) != like:
            raise not_a_cursor()
        return key

    def _sealed(self, body: bytes) -> bytes:
        return blake2b(body, key=self.seal, digest_size=_SEAL, person=b"sextant-listing").digest()


def not_a_cursor() -> OptionInvalid:
    """Return the error, also of a key that is none of an entry: whoever makes up a seal is refused here."""
    return OptionInvalid(
        "The cursor is not one of this list, or was changed.",
        next_step="Pass `nextCursor` as it came, with everything else as it was; or start again without it.",
        field="cursor",
    )
