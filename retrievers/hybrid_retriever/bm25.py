"""BM25 over the texts of one user in a vector store, and reranking a few candidates by it."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sextant.domain.retrieval import LEAST_SCORE, LaneScore, RetrievedItem
from sextant.domain.system import trim_memory
from sextant.domain.versioned_cache import VersionedCache
from sextant.retrievers.arrays import BM25, Scores, idf, min_max
from sextant.retrievers.ranking.fusion import rrf, rrf_share
from sextant.stores.rows import StoredText, StoredTexts
from sextant.text.analysis import SEGMENTED

Terms = npt.NDArray[np.uint32]

_BM25 = BM25()
_BYTES_PER_TERM = 4
# What a text takes beside its terms, and a distinct term in the count of its texts: keys, tuples, slots.
_BYTES_PER_TEXT, _BYTES_PER_DISTINCT_TERM = 300, 100


class IndexedText(NamedTuple):
    """The terms of a text, with repetitions, as bytes of `Terms`; `part` is the part of the store that holds it."""

    part: Hashable
    terms: bytes


@dataclass(frozen=True, slots=True)
class BM25Index:
    """The term statistics of a set of texts. An index never changes: `updated` returns another.

    A term is stored as four bytes of its hash, so that one of 100,000 terms is mistaken for a term of the
    question about once in 40,000 times.

    Attributes:
        texts: id → terms of the text.
        holders: term → number of texts that hold it.
        length: number of terms of all texts.
    """

    texts: Mapping[str, IndexedText] = field(default_factory=dict[str, IndexedText])
    holders: Counter[int] = field(default_factory=Counter[int])
    length: int = 0

    def updated(self, gone: Iterable[Hashable], fresh: Iterable[StoredText]) -> BM25Index:
        """Return the index without the texts of some parts, and with fresh ones.

        Args:
            gone: parts whose texts were changed or deleted.
            fresh: all texts of parts that are new or changed.
        """
        parts = set(gone)
        removed = [text.terms for text in self.texts.values() if text.part in parts]
        texts = {id_: text for id_, text in self.texts.items() if text.part not in parts}
        added = {one.id: IndexedText(one.part, _hash_terms(one.searched)) for one in fresh}
        holders = self.holders.copy()
        for terms in removed:
            holders.subtract(_distinct_terms(terms))
        for text in added.values():
            holders.update(_distinct_terms(text.terms))
        if removed:
            holders = +holders  # without the terms that no text holds any longer
        size = sum(len(text.terms) for text in added.values()) - sum(map(len, removed))
        return BM25Index(texts | added, holders, self.length + size // _BYTES_PER_TERM)

    def score(
        self, question: str, candidates: Sequence[tuple[str, str]], bm25: BM25 = _BM25
    ) -> list[float]:
        """Return the BM25 score of each candidate, with the statistics of the whole index.

        Args:
            question: its distinct terms count.
            candidates: id and text; the text is tokenized only if the index does not have the id.
            bm25: k1 and b.
        """
        wanted = sorted(_distinct_terms(_hash_terms(question)) & self.holders.keys())
        if not wanted or not candidates:
            return [0.0] * len(candidates)
        known = (self.texts.get(id_) for id_, _ in candidates)
        texts = [
            _hash_terms(text) if indexed is None else indexed.terms
            for indexed, (_, text) in zip(known, candidates, strict=True)
        ]
        counts = _count_terms(texts, np.array(wanted, np.uint32))
        lengths = np.array([len(text) // _BYTES_PER_TERM for text in texts], np.float64)
        mean = self.length / len(self.texts) or 1.0
        holders = np.array([self.holders[term] for term in wanted])
        weights = bm25.weights(
            np.asarray(idf(holders, len(self.texts)), np.float64),
            np.maximum(counts, 1),  # with k1 = 0 a frequency of 0 would divide by 0
            bm25.saturation(lengths, mean)[:, None],
        )
        scores: list[float] = np.where(counts > 0, weights, 0.0).sum(axis=1).tolist()
        return scores

    @property
    def nbytes(self) -> int:
        """Return about how many bytes the index takes."""
        return (
            self.length * _BYTES_PER_TERM
            + len(self.texts) * _BYTES_PER_TEXT
            + len(self.holders) * _BYTES_PER_DISTINCT_TERM
        )


def _hash_terms(text: str) -> bytes:
    """Return the terms of a text as bytes of `Terms`, by Python's own hashes, which differ in each process."""
    return np.fromiter(map(hash, SEGMENTED.terms(text)), np.int64).astype(np.uint32).tobytes()


def _distinct_terms(terms: bytes) -> set[int]:
    return set(np.frombuffer(terms, np.uint32).tolist())


def _count_terms(texts: Sequence[bytes], wanted: Terms) -> npt.NDArray[np.float64]:
    """Return how often each text (row) holds each wanted term (column), which rise."""
    terms = np.frombuffer(b"".join(texts), np.uint32)
    owner = np.repeat(np.arange(len(texts)), [len(text) // _BYTES_PER_TERM for text in texts])
    column = np.minimum(np.searchsorted(wanted, terms), len(wanted) - 1)
    is_wanted = wanted[column] == terms
    cells = owner[is_wanted] * len(wanted) + column[is_wanted]
    counts = np.bincount(cells, minlength=len(texts) * len(wanted))
    return counts.reshape(len(texts), len(wanted)).astype(np.float64)


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
