"""BM25 over the texts of one user in a vector store, and reranking a few candidates by it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import compress

import numpy as np

from sextant.domain.retrieval import LEAST_SCORE, LaneScore, RetrievedItem
from sextant.domain.system import trim_memory
from sextant.domain.versioned_cache import VersionedCache
from sextant.retrievers.arrays import BM25, Scores, min_max
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.ranking.fusion import rrf, rrf_share
from sextant.stores.rows import StoredText, StoredTexts
from sextant.text.analysis import SEGMENTED

_BM25 = BM25()
# What a text takes beside its terms: its id, a row and their slots.
_BYTES_PER_TEXT = 300


@dataclass(frozen=True, slots=True)
class BM25Index:
    """BM25 over a set of texts by their ids. An index never changes: `updated` returns another.

    Attributes:
        rows: id → row of the text, rising.
        parts: the part of the store that holds each row.
        lexical: the terms of the texts.
    """

    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    parts: Sequence[Hashable] = ()
    lexical: LexicalIndex = field(default_factory=partial(LexicalIndex.build, (), SEGMENTED.terms))

    def updated(self, gone: Iterable[Hashable], fresh: Iterable[StoredText]) -> BM25Index:
        """Return the index without the texts of some parts, and with fresh ones.

        Args:
            gone: parts whose texts were changed or deleted.
            fresh: all texts of parts that are new or changed.
        """
        added = {one.id: one for one in fresh}
        parts = set(gone)
        stays = np.array(
            [
                part not in parts and id_ not in added
                for id_, part in zip(self.rows, self.parts, strict=True)
            ],
            np.bool_,
        )
        ids = [*compress(self.rows, stays), *added]
        return BM25Index(
            {id_: row for row, id_ in enumerate(ids)},
            [*compress(self.parts, stays), *(one.part for one in added.values())],
            self.lexical.updated(
                np.where(stays, stays.cumsum() - 1, -1), [one.searched for one in added.values()]
            ),
        )

    def score(self, question: str, ids: Sequence[str], bm25: BM25 = _BM25) -> list[float]:
        """Return the BM25 score of each text, with the statistics of the whole index; 0 for unknown ones."""
        scores = self.lexical.score(question, bm25)
        return [float(scores[self.rows[id_]]) if id_ in self.rows else 0.0 for id_ in ids]

    @property
    def nbytes(self) -> int:
        """Return about how many bytes the index takes."""
        return self.lexical.nbytes + _BYTES_PER_TEXT * len(self.rows)


@dataclass(frozen=True, slots=True)
class _Current:
    """An index with the states of the parts that it was built from."""

    states: Mapping[Hashable, str]
    index: BM25Index


class BM25Indexes:
    """The BM25 indexes of the users who searched last, built on demand and updated with what has changed.

    Args:
        max_bytes: size of all indexes together; the least recently used is evicted first, the last one never.
        idle: seconds after which an unused index is evicted.
    """

    def __init__(self, max_bytes: float = 256e6, idle: float = 1800.0) -> None:
        self._cached: VersionedCache[Hashable, str, _Current] = VersionedCache(
            max_bytes, lambda one: one.index.nbytes, idle=idle
        )

    async def get(self, rows: StoredTexts) -> BM25Index:
        """Return the index of the rows as they are now.

        A caller that is cancelled does not stop the build.
        """

        async def make(before: tuple[str, _Current] | None) -> _Current:
            known = before[1] if before else _Current({}, BM25Index())
            states = await rows.states()
            gone = [part for part, state in known.states.items() if states.get(part) != state]
            come = [part for part, state in states.items() if known.states.get(part) != state]
            fresh = await rows.texts(come)
            index = await asyncio.to_thread(known.index.updated, gone, fresh)
            del fresh
            await asyncio.to_thread(trim_memory)
            return _Current(states, index)

        current, _ = await self._cached.get(rows.key, await rows.stamp(), make, math.inf)
        return current.index

    @property
    def keys(self) -> list[Hashable]:
        """Return the keys of the cached indexes, the least recently used first."""
        return self._cached.keys


@cache
def get_shared_indexes() -> BM25Indexes:
    """Return the cache that all retrievers of the process share by default."""
    return BM25Indexes()


BM25_LANE = "bm25"
_FUSED = "fused"


def rerank_linear(
    items: Sequence[RetrievedItem],
    scores: Sequence[float],
    *,
    lane: str,
    lane_weight: float,
    weight: float,
) -> list[RetrievedItem]:
    """Order items by `lane_weight · similarity + weight · BM25`, both normalized to 0..1 over the items.

    An item that the lane did not find has a similarity of 0, like the last one that it found. Ties keep the
    given order. `lanes` of every item gets its BM25 score.

    Args:
        items: best first.
        scores: BM25 of each item.
        lane: the lane whose score is the similarity.
        lane_weight: weight of the similarity.
        weight: weight of the BM25 score.
    """
    similarity = lane_weight * _normalize_lane(items, lane)
    lexical = weight * min_max(scores)
    total, ranks = similarity + lexical, _rank_scores(scores)
    ordered = []
    for at in np.argsort(-total, kind="stable").tolist():
        lanes = {
            name: replace(score, contribution=float(similarity[at]) if name == lane else 0.0)
            for name, score in items[at].lanes.items()
        }
        lanes[BM25_LANE] = LaneScore(ranks[at], scores[at], weight, float(lexical[at]))
        ordered.append(replace(items[at], score=max(float(total[at]), LEAST_SCORE), lanes=lanes))
    return ordered


def rerank_rrf(
    items: Sequence[RetrievedItem],
    scores: Sequence[float],
    *,
    given_weight: float,
    weight: float,
    k: float,
) -> list[RetrievedItem]:
    """Fuse the given order with the order by BM25 in a second reciprocal rank fusion.

    Items that hold no term of the question (score 0) have no rank by BM25.
    """
    position = {item.id: at for at, item in enumerate(items)}
    lexical = [items[at].id for at in _best_first(scores)]
    rankings = {_FUSED: list(position), BM25_LANE: lexical}
    ranks, ordered = _rank_scores(scores), []
    for id_, score in rrf(rankings, {_FUSED: given_weight, BM25_LANE: weight}, k):
        at = position[id_]
        item, first_share = items[at], rrf_share(at + 1, given_weight, k)
        # A lane keeps its part of the first fusion's score, scaled to what that counts in the second.
        lanes = {
            lane: replace(one, contribution=(one.contribution or 0.0) * first_share / item.score)
            for lane, one in item.lanes.items()
        }
        lanes[BM25_LANE] = LaneScore(ranks[at], scores[at], weight, score - first_share)
        ordered.append(replace(item, score=max(score, LEAST_SCORE), lanes=lanes))
    return ordered


def _normalize_lane(items: Sequence[RetrievedItem], lane: str) -> Scores:
    """Return the lane's scores mapped to 0..1; 0 for items that it did not find."""
    shares = np.zeros(len(items))
    found = [at for at, item in enumerate(items) if lane in item.lanes]
    shares[found] = min_max([items[at].lanes[lane].score for at in found])
    return shares


def _best_first(scores: Sequence[float]) -> list[int]:
    """Return the positions of the scores above 0, best first, ties in order."""
    return [at for at in np.argsort(-np.asarray(scores), kind="stable").tolist() if scores[at] > 0]


def _rank_scores(scores: Sequence[float]) -> list[int]:
    """Return the rank of every score from 1; all scores of 0 share the rank after the last."""
    ranks = {at: rank for rank, at in enumerate(_best_first(scores), start=1)}
    return [ranks.get(at, len(ranks) + 1) for at in range(len(scores))]
