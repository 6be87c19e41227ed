"""A knowledge base in memory, for the two searches that the store does by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from models.protocols import Vectors
from retrievers.index.rounded import Rounded
from retrievers.memory.postings import GramPostings
from retrievers.ranking.normalising import unit
from stores.chunks.grams import folded_words
from stores.chunks.packing import Block
from stores.postgresql.binary import Nearest

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

# How many texts are looked into first beyond those that are wanted: few hold a word's grams and not it.
_SPARE, _MORE = 12, 8


@dataclass(frozen=True, slots=True)
class PackedScope:
    """Chunks by row, in the order of their ids.

    Attributes:
        stamp: `stores.chunks.packing.stamp_of_chunks` of what is here.
        ids: halves of shape (n, 2), high first.
        rounded: vectors of length 1.
        texts: what the keyword lane looks in, UTF-8, with a line's end after each.
        starts: where each text begins, and where one more would.
        postings: which texts hold which grams.
    """

    stamp: str
    ids: npt.NDArray[np.uint64]
    rounded: Rounded
    texts: bytes
    starts: _Ints
    postings: GramPostings

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        arrays = (self.ids, self.rounded, self.starts, self.postings)
        return len(self.texts) + sum(one.nbytes for one in arrays)

    def fits(self, vector: Vectors) -> bool:
        """Whether a question's vector can be compared with those that are stored."""
        return vector.shape == self.rounded.vectors.shape[1:] and bool(vector.any())

    def nearest(self, vector: Vectors, k: int) -> Nearest:
        """As `ChunkStore.nearest` finds them; every vector is compared."""
        rows, cosines = self.rounded.nearest(unit(np.asarray(vector, np.float32)), k)
        return Nearest(self.ids[rows], cosines)

    def holding(self, keywords: Sequence[str], k: int) -> Nearest:
        """As `ChunkStore.holding` finds them, with the same scores and in the same order."""
        rows, matched, density = _Search(self, folded_words(keywords)).best(k)
        scores = (matched + density / (1 + density)).astype(np.float32)
        return Nearest(self.ids[rows], scores)


class _Search:
    """One search for words.

    What the grams say bounds what a text can hold, so texts are ordered by their bounds and looked into
    from the top, until the last one wanted is better than anything that the rest can hold: the threshold
    algorithm of Fagin, Lotem and Naor, "Optimal aggregation algorithms for middleware", 2003, over one
    list, as the server has it (`held_chunks`, migration 0057).
    """

    def __init__(self, packed: PackedScope, words: Sequence[str]) -> None:
        self._packed = packed
        self._words = [word.encode() for word in words]
        self._octets = np.array([len(word) for word in self._words], np.float64)
        self._held = packed.postings.holders(words)
        sizes = [len(held.rows) for held in self._held]
        self._word_of = np.repeat(np.arange(len(words)), sizes)
        # Every word and text that may go together, as one ascending number.
        self._first_of = np.arange(len(words)) * len(packed.ids)
        rows = [held.rows for held in self._held] or [np.empty(0, np.int64)]
        self._named = np.concatenate(rows) + self._first_of[self._word_of]

    def best(self, k: int) -> tuple[_Ints, _Ints, _Floats]:
        """Rows, numbers of words held and densities of the best, best first."""
        rows, matched, octets = self._bounds()
        density = self._densities(rows, octets)
        if all(held.certain for held in self._held):
            best = _first(rows, matched, density, k)
            return rows[best], matched[best], density[best]
        looked = _SPARE + k
        while True:
            top = _first(rows, matched, density, looked + 1)
            found = self._looked_into(rows[top[:looked]])
            best = _first(*found, k)
            held = (found[0][best], found[1][best], found[2][best])
            if len(top) <= looked or (
                len(best) == k and _order(held, -1) < _order((rows, matched, density), top[looked])
            ):
                return held
            looked *= _MORE

    def _bounds(self) -> tuple[_Ints, _Ints, _Ints]:
        """The texts that may hold a word, and the number and octets of the words that each may hold."""
        size = len(self._packed.ids)
        rows = self._named - self._word_of * size
        matched = np.bincount(rows, minlength=size)
        octets = np.bincount(rows, self._octets[self._word_of], size)
        there = np.flatnonzero(matched)
        return there, matched[there], octets[there].astype(np.int64)

    def _densities(self, rows: _Ints, octets: _Ints) -> _Floats:
        starts = self._packed.starts
        densities: _Floats = octets / np.maximum(1, starts[rows + 1] - starts[rows] - 1)
        return densities

    def _looked_into(self, rows: _Ints) -> tuple[_Ints, _Ints, _Floats]:
        """Of some texts those that hold a word, with what they hold."""
        wanted = self._first_of[:, None] + rows
        place = np.minimum(self._named.searchsorted(wanted), len(self._named) - 1)
        held = self._named[place] == wanted
        starts, find = self._packed.starts, self._packed.texts.find
        begins, ends = starts[rows].tolist(), (starts[rows + 1] - 1).tolist()
        numbers, texts = held.nonzero()
        for number, text in zip(numbers.tolist(), texts.tolist(), strict=True):
            certain = self._held[number].certain
            if not certain and find(self._words[number], begins[text], ends[text]) < 0:
                held[number, text] = False
        matched = held.sum(axis=0)
        there = np.flatnonzero(matched)
        octets = (self._octets @ held)[there].astype(np.int64)
        return rows[there], matched[there], self._densities(rows[there], octets)


def _first(rows: _Ints, matched: _Ints, density: _Floats, k: int) -> npt.NDArray[np.intp]:
    """The places of the best `k`: most words, then densest, then first; all of them are not sorted."""
    places = np.arange(len(rows))
    if len(rows) > k:
        rank = matched + density / (1 + density)  # never falls as density rises
        places = np.flatnonzero(rank >= np.partition(rank, len(rank) - k)[len(rank) - k])
    order = np.lexsort((rows[places], -density[places], -matched[places]))
    return places[order[:k]]


def _order(texts: tuple[_Ints, _Ints, _Floats], place: int) -> tuple[int, float, int]:
    rows, matched, density = texts
    return (-int(matched[place]), -float(density[place]), int(rows[place]))


@dataclass(slots=True)
class Packing:
    """A scope as it is being packed, block by block, each in some ten milliseconds of a thread.

    Args:
        stamp, chunks: of the scope.
    """

    stamp: str
    chunks: int
    _ids: list[npt.NDArray[np.uint64]] = field(default_factory=list[npt.NDArray[np.uint64]])
    _vectors: Vectors | None = None
    _texts: list[bytes] = field(default_factory=list[bytes])
    _octets: list[_Ints] = field(default_factory=list[_Ints])
    _postings: list[GramPostings] = field(default_factory=list[GramPostings])
    _at: int = 0

    def add(self, block: Block) -> None:
        """Take in the next chunks."""
        texts = (block.texts + "\n").encode()
        starts = np.cumsum(block.octets + 1) - block.octets - 1
        before = np.cumsum(
            (np.frombuffer(texts, np.uint8) & 0xC0) != 0x80
        )  # where a character begins
        characters = np.diff(before[starts], append=before[-1] + 1) - 1
        if self._vectors is None:
            self._vectors = np.empty((self.chunks, block.vectors.shape[1]), np.float32)
        self._vectors[self._at : self._at + len(block.ids)] = unit(block.vectors)
        self._at += len(block.ids)
        self._ids.append(block.ids)
        self._texts.append(texts)
        self._octets.append(block.octets)
        self._postings.append(GramPostings.of(block.texts, characters))

    def packed(self) -> PackedScope | None:
        """All of it; None if a vector has no direction: what the store says of it cannot be said here."""
        assert self._vectors is not None  # noqa: S101 - nothing is packed of no chunk
        if self._at != self.chunks or not self._vectors.any(axis=1).all():
            return None
        texts = b"".join(self._texts)
        self._texts.clear()  # not twice while the rest is joined
        postings = GramPostings.joined(self._postings)
        self._postings.clear()
        return PackedScope(
            self.stamp,
            np.concatenate(self._ids),
            Rounded.of(self._vectors),
            texts,
            np.append(0, np.cumsum(np.concatenate(self._octets) + 1)),
            postings,
        )
