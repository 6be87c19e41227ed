"""Cursors: where a page of a list or ranking ended, signed for that list."""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Callable, Sequence
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
    """The last result of a page of a ranking, and when the ranking was taken."""

    taken_at: datetime
    score: float
    id: UUID

    def end_in(self, ids: Sequence[str], scores: Sequence[float]) -> int:
        """Return the number of results of a ranking, best first and ties by id, up to and with this one.

        In a new ranking scores may differ, so the result is found by its id, and by its score only if it is gone.
        """
        text_id = str(self.id)
        if text_id in ids:
            return ids.index(text_id) + 1
        return bisect_right(
            range(len(ids)), (-self.score, text_id), key=lambda index: (-scores[index], ids[index])
        )


_SEAL = 12  # bytes


@dataclass(frozen=True, slots=True)
class ListingKey:
    """The identity of a list: its user, its name, and everything that determines its order.

    The signature is no secret: a forged cursor only leads to another position of a list that its user may read.
    """

    seal: bytes

    @classmethod
    def of(cls, *parts: object) -> ListingKey:
        """Return the key of the list that these parts determine."""
        text = "\0".join(repr(part) for part in parts)
        return cls(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest())

    def cursor(self, key: object) -> str:
        """Return the cursor after an entry with this sort key: JSON values, times and ids."""
        body = orjson.dumps(key)
        return base64.urlsafe_b64encode(self._sealed(body) + body).decode().rstrip("=")

    def page(
        self, found: Sequence[T], limit: int, key: Callable[[T], object]
    ) -> tuple[tuple[T, ...], str | None]:
        """Return the first `limit` entries and the cursor after them; None if there are no more.

        Args:
            found: the entries of the page, and one more if there is one.
            limit: entries on a page.
            key: returns what an entry sorts by.
        """
        page = tuple(found[:limit])
        return page, self.cursor(key(page[-1])) if len(found) > limit else None

    def after(self, cursor: str | None, kind: type[T]) -> T | None:
        """Return the sort key of a cursor; None without a cursor.

        Args:
            cursor: as the client sent it.
            kind: type of the key, such as `tuple[datetime, UUID]`.

        Raises:
            OptionInvalid: it is not a cursor of this list, or was changed.
        """
        if cursor is None:
            return None
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
