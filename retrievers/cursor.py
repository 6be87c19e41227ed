"""Cursors: where a page of a list or of a ranking ended, sealed against other lists and changes."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from hmac import compare_digest
from uuid import UUID

import orjson

from sextant.domain.errors import OptionInvalid

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Position:
    """The last result of a page, and when the ranking it belongs to was taken."""

    taken_at: datetime
    score: float
    id: UUID

    def end_in(self, ids: Sequence[str], scores: Sequence[float]) -> int:
        """Return how many results of a ranking are on this page and those before it: best first, ties by id.

        In a ranking taken anew the scores may be others: by a rounding, where it came from memory instead of
        PostgreSQL; by more, where a write moved what they are measured against. So the result itself is gone by,
        and its score only where it is not there any more.
        """
        text_id = str(self.id)
        if text_id in ids:
            return ids.index(text_id) + 1
        return bisect_right(
            range(len(ids)), (-self.score, text_id), key=lambda index: (-scores[index], ids[index])
        )


def encode(position: Position, search: bytes) -> str:
    """Return the cursor of a position in the results of `search` (`identity` of its question and options)."""
    micros = (position.taken_at - _EPOCH) // timedelta(microseconds=1)
    return ListingKey(search).cursor((micros, position.score, str(position.id)))


def decode(cursor: str, search: bytes) -> Position:
    """Return the position that `encode` made a cursor of.

    Raises:
        OptionInvalid: it is no cursor of this search, or has been changed.
    """
    micros, score, text_id = ListingKey(search).after(cursor, (int, float, str))
    try:
        moment = _EPOCH + timedelta(microseconds=int(micros))
        return Position(moment, float(score), UUID(str(text_id)))
    except (OverflowError, ValueError):
        # The seal keeps no secret: anybody can make one for anything.
        raise not_a_cursor() from None


def identity(*parts: object) -> bytes:
    """Return what a search is told from others by: a hash of what was asked of what."""
    text = "\0".join(repr(part) for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


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
        "The cursor is not one of this search or list, or was changed.",
        next_step="Pass `nextCursor` as it came, with everything else as it was; or start again without it.",
        field="cursor",
    )
