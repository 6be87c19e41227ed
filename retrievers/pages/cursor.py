"""Cursors: where a page ended, in a ranking of a moment, sealed against another search and changes.

Also here: lists come in pages; rankings of the last minutes, kept for those who ask the same
again or want the next page.
"""

from __future__ import annotations

import base64
import binascii
import struct
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from hmac import compare_digest
from threading import RLock
from typing import Generic, TypeVar
from uuid import UUID

import orjson

from sextant.domain.errors import OptionInvalid

_FORM = struct.Struct(">Bqd16s")
_VERSION = 1  # of the form above
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 200  # characters; ours have far fewer


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
    """Return the cursor of a position in the results of `search` (`identity` of its question and options).

    The seal says that nobody has changed it and that it belongs to this search of this user. It keeps
    no secret: a cursor opens nothing that the search by itself does not.
    """
    micros = (position.taken_at - _EPOCH) // timedelta(microseconds=1)
    body = _FORM.pack(_VERSION, micros, position.score, position.id.bytes)
    return base64.urlsafe_b64encode(body + _seal(body, search)).decode().rstrip("=")


def decode(cursor: str, search: bytes) -> Position:
    """Return the position that `encode` made a cursor of.

    Raises:
        OptionInvalid: it is no cursor of this search, or has been changed.
    """
    if not isinstance(cursor, str) or len(cursor) > _LONGEST or not cursor.isascii():
        raise _cursor_error()
    try:
        sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _cursor_error() from None
    body, seal = sealed[: _FORM.size], sealed[_FORM.size :]
    if len(body) < _FORM.size or not compare_digest(seal, _seal(body, search)):
        raise _cursor_error()
    version, micros, score, raw = _FORM.unpack(body)
    if version != _VERSION:
        raise _cursor_error()
    try:
        return Position(_EPOCH + timedelta(microseconds=micros), score, UUID(bytes=raw))
    except OverflowError:  # the seal keeps no secret, so anybody can make one for any moment
        raise _cursor_error() from None


def identity(*parts: object) -> bytes:
    """Return what a search is told from others by: a hash of what was asked of what."""
    text = "\0".join(repr(part) for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def _seal(body: bytes, search: bytes) -> bytes:
    return blake2b(body, key=search, digest_size=_SEAL, person=b"sextant-cursor").digest()


def _cursor_error() -> OptionInvalid:
    return OptionInvalid(
        "The cursor is not one of this search, or was changed.",
        next_step="Pass `nextCursor` as it came, with the same query, graph, weights, filters and "
        "limit; or leave it out to start again.",
        field="cursor",
    )


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


Ranking = TypeVar("Ranking")


@dataclass(frozen=True, slots=True)
class CachedRanking(Generic[Ranking]):
    """A ranking, the stamp of the graph that it was taken from, and when."""

    ranking: Ranking
    stamp: str
    taken_at: datetime
    until: float


class HotRankings(Generic[Ranking]):
    """Rankings by user and search, for a few minutes and a bounded number.

    Asked for the same search, it gives a ranking only while the graph's stamp is what it was, so a
    write is never missed; asked for the next page, the ranking that the page before came from. No
    user takes more than their share, and the least recently used go first.

    Args:
        seconds: how long a ranking is kept; 0 keeps none.
        entries: rankings in all.
        per_user: rankings of one user.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        seconds: float,
        entries: int,
        per_user: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._entries, self._per_user = seconds, entries, per_user
        self._clock = clock
        self._lock = RLock()  # a synchronous caller brings a thread of its own
        self._kept: OrderedDict[tuple[str, bytes, datetime], CachedRanking[Ranking]] = OrderedDict()
        self._latest: dict[tuple[str, bytes], datetime] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def latest(self, user_id: str, search: bytes, stamp: str) -> CachedRanking[Ranking] | None:
        """Return the ranking of a search, if nothing was written since."""
        with self._lock:
            taken_at = self._latest.get((user_id, search))
            found = taken_at and self.of(user_id, search, taken_at)
            return found if found and found.stamp == stamp else None

    def of(self, user_id: str, search: bytes, taken_at: datetime) -> CachedRanking[Ranking] | None:
        """Return the ranking of a search that was taken at that moment."""
        key = (user_id, search, taken_at)
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if found.until <= self._clock():
                self._drop(key)
                return None
            self._kept.move_to_end(key)
            return found

    def keep(
        self, user_id: str, search: bytes, ranking: Ranking, stamp: str, taken_at: datetime
    ) -> None:
        """Keep a ranking that was taken at that moment."""
        if not (self._seconds > 0 and self._entries and self._per_user):
            return
        key = (user_id, search, taken_at)
        with self._lock:
            self._kept[key] = CachedRanking(ranking, stamp, taken_at, self._clock() + self._seconds)
            self._kept.move_to_end(key)
            self._latest[key[:2]] = taken_at
            keys_of_user = [one for one in self._kept if one[0] == user_id]
            for old in keys_of_user[: -self._per_user]:
                self._drop(old)
            while len(self._kept) > self._entries:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, bytes, datetime]) -> None:
        del self._kept[key]
        if self._latest.get(key[:2]) == key[2]:
            del self._latest[key[:2]]
