"""BM25 over the texts of one user in a vector store, for ordering a few candidates.

What is kept: how many texts hold each term, how many texts there are and how long, and the terms of
every text as numbers. So a candidate is scored without reading or cutting its text again, and a text
that is gone from the store can be taken out without asking what it said.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from rpds import HashTrieMap

from sextant.domain.versioned_cache import VersionedCache
from sextant.retrievers.numeric.sparse import BM25, idf
from sextant.stores.rows import StoredText, StoredTexts
from sextant.text.analysis import SEGMENTED

Ints = npt.NDArray[np.int32]

_BM25 = BM25()
_NONE = np.empty(0, np.int32)
_NOTHING: HashTrieMap[Any, Any] = HashTrieMap()
# Renumbering costs as much as copying all texts, so it waits until half of the numbers are of no use.
_DEAD_SHARE = 2


class TermNumbers:
    """Terms by number, in the order in which they came; shared by an index and those made from it."""

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self._numbers = {term: number for number, term in enumerate(terms)}
        self._adding = Lock()  # indexes are made in threads

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._numbers))  # another index may be made meanwhile

    def added(self, terms: Iterable[str]) -> Ints:
        """Return the number of each term, in order; new terms get the next numbers."""
        numbers = self._numbers
        with self._adding:
            return np.asarray([numbers.setdefault(one, len(numbers)) for one in terms], np.int32)

    def get(self, term: str, below: int) -> int:
        """Return the number of a term; -1 for one that is not among the first `below`."""
        number = self._numbers.get(term, -1)
        return number if number < below else -1


@dataclass(frozen=True, slots=True)
class BM25Index:
    """Texts by id. It never changes: `updated` makes another that shares what has stayed.

    The maps are hash tries (Bagwell, "Ideal Hash Trees", 2001), so that another index costs what has
    changed, where a copy of a dictionary of 100,000 texts takes 1.4 ms.

    Attributes:
        parts: the ids of a part's texts.
        texts: the numbers of a text's terms, in order, with repetitions.
        vocabulary: term → number; the terms of later indexes have numbers beyond `holders`.
        holders: how many texts hold each term, by number.
        length: number of terms of all texts together.
    """

    parts: HashTrieMap[Hashable, tuple[str, ...]] = _NOTHING
    texts: HashTrieMap[str, Ints] = _NOTHING
    vocabulary: TermNumbers = field(default_factory=TermNumbers)
    holders: Ints = field(default_factory=lambda: _NONE)
    length: int = 0

    def updated(self, gone: Iterable[Hashable], fresh: Iterable[StoredText]) -> BM25Index:
        """Without the texts of some parts, and with fresh ones; costs what cutting these does.

        Args:
            gone: parts whose texts are others now, or none.
            fresh: all texts of parts that are new or `gone`.
        """
        parts, texts, vocabulary = self.parts, self.texts, self.vocabulary
        removed, added = list[Ints](), dict[str, Ints]()
        joined = defaultdict[Hashable, list[str]](list)
        for part in gone:
            for one in parts.get(part, ()):
                removed.append(texts[one])
                texts = texts.remove(one)
            parts = parts.discard(part)
        for text in fresh:
            added[text.id] = vocabulary.added(SEGMENTED.terms(text.searched))
            joined[text.part].append(text.id)
        grown = np.zeros(len(vocabulary) - len(self.holders), np.int32)
        holders = np.concatenate([self.holders, grown])
        for numbers in added.values():
            holders[np.unique(numbers)] += 1
        for numbers in removed:
            holders[np.unique(numbers)] -= 1
        index = BM25Index(
            parts.update({part: tuple(ids) for part, ids in joined.items()}),
            texts.update(added),
            vocabulary,
            holders,
            self.length + sum(map(len, added.values())) - sum(map(len, removed)),
        )
        return index._renumbered() if removed else index

    def _renumbered(self) -> BM25Index:
        """Without the terms that no text holds any longer, once they are many."""
        if np.count_nonzero(self.holders) * _DEAD_SHARE >= len(self.holders):
            return self
        used = self.holders > 0
        number = (np.cumsum(used) - 1).astype(np.int32)
        texts = HashTrieMap({one: number[terms] for one, terms in self.texts.items()})
        vocabulary = TermNumbers(compress(self.vocabulary, used))
        return BM25Index(self.parts, texts, vocabulary, self.holders[used], self.length)

    def score(
        self, question: str, candidates: Sequence[tuple[str, str]], bm25: BM25 = _BM25
    ) -> list[float]:
        """Return BM25 of each candidate against the whole index.

        Args:
            question: whose distinct terms count.
            candidates: id and text; the text is cut only where the index does not know the id.
            bm25: k1 and b.
        """
        below = len(self.holders)
        numbers_asked = {self.vocabulary.get(term, below) for term in SEGMENTED.terms(question)} - {
            -1
        }
        wanted = np.array(sorted(numbers_asked), np.int32)
        wanted = wanted[self.holders[wanted] > 0]
        if not len(wanted) or not candidates:
            return [0.0] * len(candidates)
        scored = [self._numbers(*candidate) for candidate in candidates]
        lengths = np.array([len(numbers) for numbers in scored], np.float64)
        counts = _counts(scored, wanted)
        weights = bm25.weights(
            np.asarray(idf(self.holders[wanted], len(self.texts)), np.float64),
            np.maximum(counts, 1),  # with k1 = 0 a frequency of 0 would divide by 0
            bm25.saturation(lengths, self.length / len(self.texts) or 1.0)[:, None],
        )
        scores: list[float] = np.where(counts > 0, weights, 0.0).sum(axis=1).tolist()
        return scores

    def _numbers(self, one: str, text: str) -> Ints:
        known = self.texts.get(one)
        if known is not None:
            return known
        # Unknown terms keep the text's length right; no question has their number.
        below = len(self.holders)
        return np.array(
            [self.vocabulary.get(term, below) for term in SEGMENTED.terms(text)], np.int32
        )

    @property
    def memory(self) -> int:
        """About how many bytes it takes: arrays, their objects, names and table entries."""
        numbers = self.length * _NONE.itemsize
        return numbers + 500 * len(self.texts) + 150 * len(self.vocabulary) + 300 * len(self.parts)


def _counts(texts: Sequence[Ints], wanted: Ints) -> npt.NDArray[np.float64]:
    """Return how often each text (row) holds each wanted term (column); `wanted` is sorted."""
    numbers = np.concatenate(texts)
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    position = np.minimum(np.searchsorted(wanted, numbers), len(wanted) - 1)
    hit = wanted[position] == numbers
    cells = np.bincount(
        owner[hit] * len(wanted) + position[hit], minlength=len(texts) * len(wanted)
    )
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
            most, lambda one: one.index.memory, idle=idle
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
            return _Current(states, await asyncio.to_thread(known.index.updated, gone, fresh))

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
