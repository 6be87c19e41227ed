"""BM25 over the texts of one user in a vector store, and the order that it gives to a few candidates."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

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
_Hashes = npt.NDArray[np.int64]
_Ints = npt.NDArray[np.int64]

_BM25 = BM25()
_NO_TERM = np.empty(0, np.uint32)
_NO_HASH = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class BM25Index:
    """Texts by row. It never changes: `updated` makes another.

    Terms, texts and parts are known by their hashes, terms by four bytes: of 100,000 terms one is taken for that of a
    question once in some 40,000 times. Takes 0.3 KB for a text of 84 terms (0.4 beyond 65,536 distinct ones).

    Attributes:
        ids: of the texts, rising.
        rows: of each id.
        parts: to which part the text of each row belongs.
        starts: where the terms of each row begin, and those of one more would.
        terms: of all texts, in order, with repetitions, by their places in `vocabulary`.
        vocabulary: the terms that any text holds, rising.
        holders: how many texts hold each of these.
    """

    ids: _Hashes = field(default_factory=lambda: _NO_HASH)
    rows: npt.NDArray[np.int32] = field(default_factory=lambda: _NO_HASH.astype(np.int32))
    parts: _Hashes = field(default_factory=lambda: _NO_HASH)
    starts: _Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    terms: npt.NDArray[np.unsignedinteger] = field(default_factory=lambda: _NO_TERM)
    vocabulary: Terms = field(default_factory=lambda: _NO_TERM)
    holders: npt.NDArray[np.int32] = field(default_factory=lambda: _NO_HASH.astype(np.int32))

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, text_id: str) -> bool:
        return bool(self._rows([text_id])[0] >= 0)

    def updated(self, gone: Iterable[Hashable], fresh: Iterable[StoredText]) -> BM25Index:
        """Without the texts of some parts, and with fresh ones; costs what cutting these does, and copying the others.

        Args:
            gone: parts whose texts are others now, or none.
            fresh: all texts of parts that are new or `gone`.
        """
        added = list(fresh)
        cut = [_terms_of(text.searched) for text in added]
        lengths = np.diff(self.starts)
        stays = ~np.isin(self.parts, _hashes(gone))
        is_kept = np.repeat(stays, lengths)
        new_lengths = np.array([len(text_terms) for text_terms in cut], np.int64)
        new_terms = np.concatenate([_NO_TERM, *cut])
        removed = _distinct(self.vocabulary[self.terms[~is_kept]], lengths[~stays])
        vocabulary, holders = self._holders_after(removed, _distinct(new_terms, new_lengths))
        old_positions = _find_positions(vocabulary, self.vocabulary)[self.terms[is_kept]]
        new_positions = _find_positions(vocabulary, new_terms)
        ids = np.empty(len(self.ids), np.int64)
        ids[self.rows] = self.ids
        ids = np.concatenate([ids[stays], _hashes(text.id for text in added)])
        rows = np.argsort(ids).astype(np.int32)
        return BM25Index(
            ids[rows],
            rows,
            np.concatenate([self.parts[stays], _hashes(text.part for text in added)]),
            np.append(0, np.cumsum(np.concatenate([lengths[stays], new_lengths]))),
            np.concatenate([old_positions, new_positions]).astype(
                np.min_scalar_type(len(vocabulary))
            ),
            vocabulary,
            holders,
        )

    def _holders_after(self, removed: Terms, added: Terms) -> tuple[Terms, npt.NDArray[np.int32]]:
        """Return which terms are held, and by how many texts, once these have gone and come, each once a text."""
        terms = np.concatenate([self.vocabulary, removed, added])
        change = np.concatenate([self.holders, np.full(len(removed), -1), np.ones(len(added))])
        vocabulary, number = np.unique(terms, return_inverse=True)
        holders = np.bincount(number, change, len(vocabulary)).astype(np.int32)
        return vocabulary[holders > 0], holders[holders > 0]

    def score(
        self, question: str, candidates: Sequence[tuple[str, str]], bm25: BM25 = _BM25
    ) -> list[float]:
        """Return BM25 of each candidate against the whole index.

        Args:
            question: whose distinct terms count.
            candidates: id and text; the text is cut only where the index does not know the id.
            bm25: k1 and b.
        """
        position = _find_positions(self.vocabulary, np.unique(_terms_of(question)))
        wanted = position[position >= 0]
        if not len(wanted) or not candidates:
            return [0.0] * len(candidates)
        rows = self._rows([one for one, _ in candidates]).tolist()
        terms_of_texts = [
            _find_positions(self.vocabulary, _terms_of(text))
            if row < 0
            else self.terms[self.starts[row] : self.starts[row + 1]].astype(np.int64)
            for row, (_, text) in zip(rows, candidates, strict=True)
        ]
        lengths = np.array([len(text_terms) for text_terms in terms_of_texts], np.float64)
        counts = _counts(terms_of_texts, wanted)
        weights = bm25.weights(
            np.asarray(idf(self.holders[wanted], len(self)), np.float64),
            np.maximum(counts, 1),  # with k1 = 0 a frequency of 0 would divide by 0
            bm25.saturation(lengths, len(self.terms) / len(self) or 1.0)[:, None],
        )
        scores: list[float] = np.where(counts > 0, weights, 0.0).sum(axis=1).tolist()
        return scores

    def _rows(self, text_ids: Sequence[str]) -> _Ints:
        """Return the row of each text; -1 for one that is not here."""
        position = _find_positions(self.ids, _hashes(text_ids))
        return np.where(position >= 0, self.rows[position], -1) if len(self) else position

    @property
    def nbytes(self) -> int:
        """Return the bytes that it takes."""
        return sum(getattr(self, one.name).nbytes for one in fields(self))


def _hashes(values: Iterable[Hashable]) -> _Hashes:
    """Return Python's own hashes, salted anew in each process."""
    return np.fromiter(map(hash, values), np.int64)


def _terms_of(text: str) -> Terms:
    return _hashes(SEGMENTED.terms(text)).astype(np.uint32)


def _distinct(terms: Terms, lengths: _Ints) -> Terms:
    """Return the terms of some texts, one after the other and each so long, each once a text."""
    owner = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    return np.unique(owner << np.uint64(32) | terms).astype(np.uint32)


def _find_positions(rising: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> _Ints:
    """Return where each of some values stands among rising ones; -1 for one that does not."""
    if not len(rising):
        return np.full(len(wanted), -1)
    position = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return np.where(rising[position] == wanted, position, -1)


def _counts(texts: Sequence[_Ints], wanted: _Ints) -> npt.NDArray[np.float64]:
    """Return how often each text (row) holds each wanted term (column); `wanted` is sorted."""
    terms = np.concatenate(texts)
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    place = np.minimum(np.searchsorted(wanted, terms), len(wanted) - 1)
    hit = wanted[place] == terms
    cells = np.bincount(owner[hit] * len(wanted) + place[hit], minlength=len(texts) * len(wanted))
    return cells.reshape(len(texts), len(wanted)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Current:
    """An index with the states of the parts that it was built from."""

    states: Mapping[Hashable, str]
    index: BM25Index


def _differing(
    before: Mapping[Hashable, str], now: Mapping[Hashable, str]
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the parts whose texts are no longer so, and those whose texts must be read."""
    gone = [part for part, state in before.items() if now.get(part) != state]
    return gone, [part for part, state in now.items() if before.get(part) != state]


class BM25Indexes:
    """The indexes of the users asked last: built on demand, brought up to date by what has changed.

    Args:
        most: bytes kept over all users; indexes asked longest ago go first, the last never.
        idle: seconds after which an index that nobody asks goes.
    """

    def __init__(self, most: float = 256e6, idle: float = 1800.0) -> None:
        self._cached: VersionedCache[Hashable, str, _Current] = VersionedCache(
            most, lambda one: one.index.nbytes, idle=idle
        )

    async def get(self, rows: StoredTexts) -> BM25Index:
        """Return the index of these rows as they are now.

        A caller that stops waiting does not stop the build.
        """

        async def make(before: tuple[str, _Current] | None) -> _Current:
            known = before[1] if before else _Current({}, BM25Index())
            states = await rows.states()
            gone, come = await asyncio.to_thread(_differing, known.states, states)
            fresh = await rows.texts(come)
            index = await asyncio.to_thread(known.index.updated, gone, fresh)
            del fresh
            await asyncio.to_thread(trim_memory)
            return _Current(states, index)

        current, _ = await self._cached.get(rows.key, await rows.stamp(), make, math.inf)
        return current.index

    async def rebuild(self, all_rows: Iterable[StoredTexts]) -> None:
        """Build the indexes of these rows one after the other: at start, before anybody asks."""
        for rows in all_rows:
            await self.get(rows)

    def release_idle(self) -> None:
        """Let go of what nobody has asked for during the idle time."""
        self._cached.release_idle()

    @property
    def keys(self) -> list[Hashable]:
        """Return whose indexes are there, those asked longest ago first."""
        return self._cached.keys


@cache
def get_shared_indexes() -> BM25Indexes:
    """Return the indexes that retrievers share which are given none of their own."""
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
    """Order by `lane_weight · similarity + weight · BM25`, both brought to 0..1 over the items.

    What the lane did not find has a similarity of 0, like the last that it found. Ties keep the
    order given. `lanes` of every item keeps its BM25 score.

    Args:
        items: what was found, best first.
        scores: BM25 of each.
        lane: whose score is the similarity.
        lane_weight: of the lanes' own order.
        weight: of the BM25 score.
    """
    near = lane_weight * _similarities(items, lane)
    weighted = weight * min_max(scores)
    total = near + weighted
    ranks = _ranks(scores)
    ordered = []
    for at in np.argsort(-total, kind="stable").tolist():
        lanes = {
            name: replace(lane_score, contribution=float(near[at]) if name == lane else 0.0)
            for name, lane_score in items[at].lanes.items()
        }
        lanes[BM25_LANE] = LaneScore(ranks[at], scores[at], weight, float(weighted[at]))
        score = max(float(total[at]), LEAST_SCORE)
        ordered.append(replace(items[at], score=score, lanes=lanes))
    return ordered


def rerank_rrf(
    items: Sequence[RetrievedItem],
    scores: Sequence[float],
    *,
    given_weight: float,
    weight: float,
    k: float,
) -> list[RetrievedItem]:
    """Fuse the order given with the order by BM25 by reciprocal ranks: a second RRF.

    Items that hold no word of the question (score 0) have no rank by BM25.
    """
    names = [item.id for item in items]
    lexical = [names[at] for at in _by_score(scores)]
    fused = rrf({_FUSED: names, BM25_LANE: lexical}, {_FUSED: given_weight, BM25_LANE: weight}, k)
    ranks, position = _ranks(scores), {name: at for at, name in enumerate(names)}
    ordered = []
    for name, score in fused:
        at = position[name]
        item, before = items[at], rrf_share(at + 1, given_weight, k)
        lanes = {  # of the first fusion's score each lane gave a part, and of its rank the same part
            lane: replace(
                lane_score, contribution=(lane_score.contribution or 0.0) * before / item.score
            )
            for lane, lane_score in item.lanes.items()
        }
        lanes[BM25_LANE] = LaneScore(ranks[at], scores[at], weight, score - before)
        ordered.append(replace(item, score=max(score, LEAST_SCORE), lanes=lanes))
    return ordered


def _similarities(items: Sequence[RetrievedItem], lane: str) -> Scores:
    shares = np.zeros(len(items))
    found = [at for at, item in enumerate(items) if lane in item.lanes]
    shares[found] = min_max([items[at].lanes[lane].score for at in found])
    return shares


def _by_score(scores: Sequence[float]) -> list[int]:
    """Return places of the scores above 0, best first, ties as given."""
    return [at for at in np.argsort(-np.asarray(scores), kind="stable").tolist() if scores[at] > 0]


def _ranks(scores: Sequence[float]) -> list[int]:
    """Rank of every score; those that are 0 share the one after the last."""
    ranks = {at: rank for rank, at in enumerate(_by_score(scores), start=1)}
    return [ranks.get(at, len(ranks) + 1) for at in range(len(scores))]
