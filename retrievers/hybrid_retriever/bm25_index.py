"""BM25 over the texts of one user in a vector store, for ordering a few candidates.

What is kept: how many texts hold each term, how many texts there are and how long, and the terms of
every text. So a candidate is scored without reading or cutting its text again, and a text that is gone
from the store can be taken out without asking what it said.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.domain.system import give_back
from sextant.domain.versioned_cache import VersionedCache
from sextant.retrievers.arrays import BM25, idf
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
        kept_term = np.repeat(stays, lengths)
        new_lengths = np.array([len(own) for own in cut], np.int64)
        new_terms = np.concatenate([_NO_TERM, *cut])
        removed = _distinct(self.vocabulary[self.terms[~kept_term]], lengths[~stays])
        vocabulary, holders = self._holders_after(removed, _distinct(new_terms, new_lengths))
        places = _find_positions(vocabulary, self.vocabulary)[self.terms[kept_term]]
        new_places = _find_positions(vocabulary, new_terms)
        ids = np.empty(len(self.ids), np.int64)
        ids[self.rows] = self.ids
        ids = np.concatenate([ids[stays], _hashes(text.id for text in added)])
        rows = np.argsort(ids).astype(np.int32)
        return BM25Index(
            ids[rows],
            rows,
            np.concatenate([self.parts[stays], _hashes(text.part for text in added)]),
            np.append(0, np.cumsum(np.concatenate([lengths[stays], new_lengths]))),
            np.concatenate([places, new_places]).astype(np.min_scalar_type(len(vocabulary))),
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
        place = _find_positions(self.vocabulary, np.unique(_terms_of(question)))
        wanted = place[place >= 0]
        if not len(wanted) or not candidates:
            return [0.0] * len(candidates)
        rows = self._rows([one for one, _ in candidates]).tolist()
        held = [
            _find_positions(self.vocabulary, _terms_of(text))
            if row < 0
            else self.terms[self.starts[row] : self.starts[row + 1]].astype(np.int64)
            for row, (_, text) in zip(rows, candidates, strict=True)
        ]
        lengths = np.array([len(own) for own in held], np.float64)
        counts = _counts(held, wanted)
        weights = bm25.weights(
            np.asarray(idf(self.holders[wanted], len(self)), np.float64),
            np.maximum(counts, 1),  # with k1 = 0 a frequency of 0 would divide by 0
            bm25.saturation(lengths, len(self.terms) / len(self) or 1.0)[:, None],
        )
        scores: list[float] = np.where(counts > 0, weights, 0.0).sum(axis=1).tolist()
        return scores

    def _rows(self, text_ids: Sequence[str]) -> _Ints:
        """Return the row of each text; -1 for one that is not here."""
        place = _find_positions(self.ids, _hashes(text_ids))
        return np.where(place >= 0, self.rows[place], -1) if len(self) else place

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
    place = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    return np.where(rising[place] == wanted, place, -1)


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
        self._kept: VersionedCache[Hashable, str, _Current] = VersionedCache(
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
            await asyncio.to_thread(give_back)
            return _Current(states, index)

        current, _ = await self._kept.get(rows.key, await rows.stamp(), make, math.inf)
        return current.index

    async def rebuild(self, all_rows: Iterable[StoredTexts]) -> None:
        """Build the indexes of these rows one after the other: at start, before anybody asks."""
        for rows in all_rows:
            await self.get(rows)

    def release_idle(self) -> None:
        """Let go of what nobody has asked for during the idle time."""
        self._kept.release_idle()

    @property
    def keys(self) -> list[Hashable]:
        """Return whose indexes are there, those asked longest ago first."""
        return self._kept.keys


@cache
def get_shared_indexes() -> BM25Indexes:
    """Return the indexes that retrievers share which are given none of their own."""
    return BM25Indexes()
