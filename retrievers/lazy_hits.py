"""What lanes find by id, of which an item is made when it is asked for."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from sextant.domain.retrieval import (
    LEAST_SCORE,
    ItemKind,
    LaneScore,
    PassageContent,
    RetrievedItem,
    rerank_item,
)
from sextant.stores.postgresql.values import Scored


@dataclass(frozen=True, slots=True)
class LazyHits(Sequence[RetrievedItem]):
    """Hits, best first, none twice; an item is made when it is asked for.

    Attributes:
        ids: of all.
        scores: the lane's own.
        content_at: the content of the hit at a place, if it is at hand; else hits have no text yet.
    """

    ids: Sequence[str]
    scores: Sequence[float]
    content_at: Callable[[int], PassageContent | None] | None = None

    @classmethod
    def of(
        cls, found: Scored, content_at: Callable[[int], PassageContent | None] | None = None
    ) -> LazyHits:
        """Return chunks that a store, or a scope in memory, found; scores of 32 bits, as both give them."""
        scores = [max(score, LEAST_SCORE) for score in array("f", found.scores)]
        return cls(found.ids, scores, content_at)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> RetrievedItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[RetrievedItem]: ...
    def __getitem__(self, index: int | slice) -> RetrievedItem | list[RetrievedItem]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        return self.item(index, self.scores[index], {})

    def item(self, index: int, score: float, lanes: Mapping[str, LaneScore]) -> RetrievedItem:
        """Return the hit at a place with some score and lanes."""
        id_ = self.ids[index]
        content = None if self.content_at is None else self.content_at(index)
        if content is None:
            return RetrievedItem(ItemKind.CHUNK, id_, "", score, None, None, lanes)
        return RetrievedItem(
            ItemKind.CHUNK,
            id_,
            content.text,
            score,
            content.document_id,
            content.external_id,
            lanes,
            content.metadata,
        )

    def __iter__(self) -> Iterator[RetrievedItem]:
        return map(self.__getitem__, range(len(self)))


def ids_of(hits: Sequence[RetrievedItem]) -> Sequence[str]:
    """Return the ids of a lane's hits."""
    return hits.ids if isinstance(hits, LazyHits) else [hit.id for hit in hits]


def score_at(hits: Sequence[RetrievedItem], index: int) -> float:
    """Return the lane's score of the hit at a place."""
    return hits.scores[index] if isinstance(hits, LazyHits) else hits[index].score


def hit_at(
    hits: Sequence[RetrievedItem], index: int, score: float, lanes: Mapping[str, LaneScore]
) -> RetrievedItem:
    """Return the hit at a place with another score and other lanes."""
    return (
        hits.item(index, score, lanes)
        if isinstance(hits, LazyHits)
        else rerank_item(hits[index], score, lanes)
    )


def has_content(hits: Sequence[RetrievedItem], index: int) -> bool:
    """Return whether the hit at a place comes with its text."""
    return hits.content_at is not None if isinstance(hits, LazyHits) else bool(hits[index].text)
