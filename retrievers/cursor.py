"""Cursors: where a page of a list or of a ranking ended, sealed against other lists and changes."""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from hmac import compare_digest
from typing import TypeVar
from uuid import UUID

import orjson
from pydantic import TypeAdapter

from sextant.domain.errors import OptionInvalid

T = TypeVar("T")


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


def identity(*parts: object) -> bytes:
    """Return what a search is told from others by: a hash of what was asked of what."""
    text = "\0".join(repr(part) for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


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

    def cursor(self, key: object) -> str:
        """Return the cursor after an entry that sorts by `key`, of values that JSON holds, times and ids."""
        body = orjson.dumps(key)
        return base64.urlsafe_b64encode(self._sealed(body) + body).decode().rstrip("=")

    def after(self, cursor: str, kind: type[T]) -> T:
        """Return the key that a cursor was made of.

        Args:
            cursor: as it came.
            kind: the key's type, such as `tuple[datetime, UUID]`.

        Raises:
            OptionInvalid: it is no cursor of this listing, or was changed.
        """
        try:
            sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
            seal, body = sealed[:_SEAL], sealed[_SEAL:]
            if compare_digest(seal, self._sealed(body)):
                return TypeAdapter(kind).validate_python(orjson.loads(body))
        except (TypeError, ValueError):
            pass
        raise OptionInvalid(
            "The cursor is not one of this search or list, or was changed.",
            next_step="Pass `nextCursor` as it came, with everything else as it was; or start again without it.",
            field="cursor",
        )

    def _sealed(self, body: bytes) -> bytes:
        return blake2b(body, key=self.seal, digest_size=_SEAL, person=b"sextant-listing").digest()
