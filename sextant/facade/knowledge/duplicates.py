"""The pairs of entities that may be one thing, page by page, for their owner to decide."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sextant.domain.options import in_range
from sextant.domain.scope import Scope
from sextant.retrievers.pages.listing import ListingKey, not_a_cursor
from sextant.stores.graph.resolution.comparing import (
    CandidateCursor,
    MergeCandidate,
    ResolutionStore,
)


@dataclass(frozen=True, slots=True)
class Duplicates:
    """A page of pairs, the likeliest first; `next_cursor` leads to the next page, None on the last."""

    pairs: tuple[MergeCandidate, ...]
    next_cursor: str | None


async def duplicates(
    names: ResolutionStore, scope: Scope, limit: int, cursor: str | None
) -> Duplicates:
    """Return the pairs of a knowledge base after a page of them.

    Args:
        names: where they are.
        scope: the knowledge base.
        limit: pairs on the page.
        cursor: `next_cursor` of the page before; None: from the first.

    Raises:
        OptionInvalid: the limit is no number that there can be, or the cursor is not one of this list.
    """
    from sextant.ingestion.graph.resolution.resolve import candidates

    limit = in_range(limit, "limit")
    listing = ListingKey.of("duplicates", scope.user_id, scope.graph_id)
    after = _read_cursor(listing, cursor) if cursor is not None else None
    found = await candidates(names, scope, limit + 1, after=after)
    page = found[:limit]
    more = len(found) > len(page)
    return Duplicates(tuple(page), listing.cursor(_key(page[-1])) if more else None)


def _key(one: MergeCandidate) -> tuple[int, float, str, str]:
    place = CandidateCursor.of(one)
    return int(place.near), place.score, str(place.first_id), str(place.second_id)


def _read_cursor(listing: ListingKey, cursor: str) -> CandidateCursor:
    near, score, first, second = listing.after(cursor, (int, float, str, str))
    try:
        return CandidateCursor(bool(near), float(score), UUID(str(first)), UUID(str(second)))
    except ValueError:
        raise not_a_cursor() from None
