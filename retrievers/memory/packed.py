"""A knowledge base in memory, for the two searches that the store does by id.

Also here: which texts hold which grams, packed into three arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import add
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sextant.models.protocols import Vectors
from sextant.retrievers.index.vectors.rounded import Rounded
from sextant.retrievers.numeric.arrays import LEAST_LENGTH, leading, unit
from sextant.stores.chunks.grams import is_ideograph, is_word, lowercase_words, word_grams
from sextant.stores.chunks.snapshot import Block
from sextant.stores.graph.arrays import IdTable
from sextant.stores.postgresql.values import format_ids

Rows = npt.NDArray[np.unsignedinteger]
_Keys = npt.NDArray[np.uint64]
_Ints = npt.NDArray[np.int64]

_BITS = np.uint64(21)  # Unicode ends below 2^21, so a gram of up to three characters is one number
_ONE = np.uint64((1 << 21) - 1)
_CODES = 0x110000  # code points of Unicode
_TWO = np.uint64((1 << 42) - 1)
# Of so few texts, it is cheaper to look into them than to rule some of them out.
_FEW = 32


class Holders(NamedTuple):
    """The texts that may hold a word, by row, ascending; `certain`: they do."""

    rows: Rows
    certain: bool


@dataclass(frozen=True, slots=True)
class GramPostings:
    """The texts of each gram: those of `keys[i]` are `rows[starts[i]:starts[i + 1]]`, ascending.

    Takes two bytes for each gram of a text (four beyond 65,536 texts), and sixteen for each gram.
    """

    keys: _Keys
    starts: _Ints
    rows: Rows
    texts: int

    @classmethod
    def of(cls, texts: str, lengths: _Ints) -> GramPostings:
        """Return the postings of some texts, which are joined by line ends.

        Args:
            texts: folded (`sextant.text.characters.lowercase`); 1024 can be told apart whatever they hold.
            lengths: characters of each.

        Raises:
            ValueError: these cannot.
        """
        codes = np.frombuffer(texts.encode("utf-32-le"), np.uint32)
        letters = _Letters.of(codes)
        keys, at = _windows(letters)
        owner = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths + 1)
        bits = max(len(lengths) - 1, 1).bit_length()
        if 3 * letters.width + bits > 64:
            raise ValueError("too many texts at once")
        # Gram and text are one number, so that numbers are sorted and not places.
        pairs = _distinct(keys << np.uint64(bits) | owner[at])
        keys, rows = pairs >> np.uint64(bits), pairs & np.uint64((1 << bits) - 1)
        new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        starts = np.append(np.flatnonzero(new), len(keys))
        return cls(
            letters.spelt(keys[new]), starts, rows.astype(_width(len(lengths))), len(lengths)
        )

    @classmethod
    def joined(cls, parts: Sequence[GramPostings]) -> GramPostings:
        """Return the postings of all texts of the parts, in their order."""
        keys = _distinct(np.concatenate([part.keys for part in parts]))
        texts = sum(part.texts for part in parts)
        sizes = np.zeros(len(keys), np.int64)
        positions = [np.searchsorted(keys, part.keys) for part in parts]
        for position, part in zip(positions, parts, strict=True):
            sizes[position] += np.diff(part.starts)
        starts = np.append(0, np.cumsum(sizes))
        rows = np.empty(starts[-1], _width(texts))
        free, before = starts[:-1].copy(), 0
        for position, part in zip(positions, parts, strict=True):
            lengths = np.diff(part.starts)
            shift = np.repeat(free[position] - part.starts[:-1], lengths)
            rows[shift + np.arange(len(part.rows))] = part.rows.astype(rows.dtype) + before
            free[position] += lengths
            before += part.texts
        return cls(keys, starts, rows, texts)

    @property
    def nbytes(self) -> int:
        """Return bytes of the arrays."""
        return self.keys.nbytes + self.starts.nbytes + self.rows.nbytes

    def holders(self, words: Sequence[str]) -> list[Holders]:
        """Return the texts that may hold each of some folded words: every one that does is among them."""
        grams = [word_grams(word) for word in words]
        keys = np.array([gram for grams_of_word in grams for gram in grams_of_word], np.uint64)
        lists = iter(self._lists(keys))
        return [
            self._holders(word, grams_of_word, list(islice(lists, len(grams_of_word))))
            for word, grams_of_word in zip(words, grams, strict=True)
        ]

    def _lists(self, keys: _Keys) -> list[Rows]:
        """Return the texts of each gram."""
        if not len(self.keys):
            return [self.rows] * len(keys)
        positions = self.keys.searchsorted(keys)
        there = self.keys.take(positions, mode="clip") == keys
        bounds = zip(
            self.starts[positions].tolist(), self.starts[positions + there].tolist(), strict=True
        )
        return [self.rows[start:end] for start, end in bounds]

    def _holders(self, word: str, grams: list[int], lists: list[Rows]) -> Holders:
        if not grams:
            if len(word) <= 2 and word.isalnum():
                return Holders(self._with_part(word), certain=True)
            return Holders(np.arange(self.texts, dtype=self.rows.dtype), certain=False)
        alone = len(grams) == 1 and len(word) == (3 if grams[0] > int(_TWO) else 2)
        return Holders(lists[0] if len(lists) == 1 else _common(lists), certain=alone)

    def _with_part(self, word: str) -> Rows:
        """Return the texts of all grams that one character, or two letters, are part of."""
        if len(word) == 2:
            part = (np.uint64(ord(word[0])) << _BITS) | np.uint64(ord(word[1]))
            matches = (self.keys & _TWO == part) | (self.keys >> _BITS == part)
        else:
            part = np.uint64(ord(word))
            matches = (self.keys & _ONE == part) | (self.keys >> _BITS & _ONE == part)
            matches |= self.keys >> (_BITS + _BITS) == part
        positions = np.flatnonzero(matches).tolist()
        lists = [
            self.rows[self.starts[position] : self.starts[position + 1]] for position in positions
        ]
        return np.unique(np.concatenate(lists)) if lists else self.rows[:0]


def _common(lists: Sequence[Rows]) -> Rows:
    """Return what is in all of some ascending lists; a few that are not may remain."""
    common, *rest = sorted(lists, key=len)
    for rows in rest:
        if len(common) <= _FEW:
            break
        positions = np.minimum(rows.searchsorted(common), len(rows) - 1)
        common = common[rows[positions] == common]
    return common


def _width(texts: int) -> type[np.unsignedinteger]:
    return np.uint16 if texts <= 1 << 16 else np.uint32


def _distinct(keys: _Keys) -> _Keys:
    keys = np.sort(keys)
    distinct: _Keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return distinct


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters and digits of some texts, each by its rank among those that occur.

    Few do, so a gram of three leaves room for a text's number within 64 bits.

    Attributes:
        ranks: of every character, from 1; 0 of what is neither letter nor digit.
        codes: of each rank, in ascending order.
        width: bits of a rank.
    """

    ranks: npt.NDArray[np.uint32]
    codes: npt.NDArray[np.uint32]
    width: int

    @classmethod
    def of(cls, codes: npt.NDArray[np.uint32]) -> _Letters:
        """Return the letters of a text."""
        seen = np.zeros(_CODES, np.bool_)
        seen[codes] = True
        there = np.flatnonzero(seen).astype(np.uint32)
        there = there[is_word(there)]
        rank_of = np.zeros(_CODES, np.uint32)
        rank_of[there] = np.arange(1, len(there) + 1)
        known = np.append(np.zeros(1, np.uint32), there)
        return cls(rank_of[codes], known, len(there).bit_length() or 1)

    def keys(self, at: _Ints, length: int) -> _Keys:
        """Return the windows of so many characters that begin at these places, in the order of their codes."""
        keys = np.zeros(len(at), np.uint64)
        for offset in range(length):
            keys = (keys << np.uint64(self.width)) | self.ranks[at + offset]
        return keys

    def spelt(self, keys: _Keys) -> _Keys:
        """Return windows given as keys, as codes of 21 bits a letter."""
        spelt, mask = np.zeros(len(keys), np.uint64), np.uint64((1 << self.width) - 1)
        for index in (2, 1, 0):
            letters = self.codes[keys >> np.uint64(index * self.width) & mask]
            spelt = (spelt << _BITS) | letters
        return spelt


def _windows(letters: _Letters) -> tuple[_Keys, _Ints]:
    """Return each gram and run that is too short for one, and the place where it begins."""
    word = letters.ranks > 0
    ideograph = is_ideograph(letters.codes)[letters.ranks]
    plain = word & ~ideograph
    pairs = np.flatnonzero(word[:-1] & word[1:] & (ideograph[:-1] | ideograph[1:]))
    triples = np.flatnonzero(plain[:-2] & plain[1:-1] & plain[2:])
    word, plain = np.pad(word, 1), np.pad(plain, 1)
    alone = np.flatnonzero(word[1:-1] & ~word[:-2] & ~word[2:])
    two = plain[:-3] < plain[1:-2]  # a run of letters begins
    two &= plain[2:-1] & ~plain[3:]
    short = np.flatnonzero(two)
    windows = ((alone, 1), (pairs, 2), (short, 2), (triples, 3))
    keys = np.concatenate([letters.keys(at, length) for at, length in windows])
    return keys, np.concatenate([at for at, _ in windows])


# Characters of an id as text.
_ID = 36

# How many texts are looked into first beyond those that are wanted: few hold a word's grams and not it.
_SPARE, _MORE = 12, 8
# So many words are counted at once: a float holds a bit for each, and beside them so many bits of octets.
_TOGETHER, _OCTETS = 20, 32
_ALL = (1 << _OCTETS) - 1
# No words take so many times the octets of a text.
_MOST_DENSE = 2.0**_OCTETS


@dataclass(frozen=True, slots=True)
class PackedScope:
    """Chunks by row, in the order of their ids.

    Attributes:
        stamp: `sextant.stores.chunks.snapshot.read_chunks_stamp` of what is here.
        ids: halves of shape (n, 2), high first.
        written: the same as text, one after the other.
        rounded: vectors of length 1.
        texts: what the keyword lane looks in, UTF-8, with a line's end after each.
        starts: where each text begins, and where one more would.
        octets: how long each is, at least 1.
        postings: which texts hold which grams.
    """

    stamp: str
    ids: npt.NDArray[np.uint64]
    written: str
    rounded: Rounded
    texts: bytes
    starts: _Ints
    octets: npt.NDArray[np.int32]
    postings: GramPostings

    @property
    def table(self) -> IdTable:
        """Return the ids by row; they are in the order in which it keeps them, so nothing is copied."""
        return IdTable(self.ids)

    @property
    def nbytes(self) -> int:
        """Return bytes that it takes."""
        arrays = (self.ids, self.rounded, self.starts, self.octets, self.postings)
        return len(self.texts) + len(self.written) + sum(one.nbytes for one in arrays)

    def written_ids(self, rows: Sequence[int]) -> list[str]:
        """Return the ids of some rows as text."""
        return [self.written[_ID * row : _ID * row + _ID] for row in rows]

    def nearest(self, vector: Vectors, k: int) -> tuple[list[int], list[float]] | None:
        """Return rows and cosines of the `k` nearest to a vector of shape (dimension,), best first; every vector is compared.

        None for a vector that cannot be compared with those that are stored.
        """
        if vector.shape != self.rounded.centre.shape:
            return None
        question = np.asarray(vector, np.float32)
        length = math.sqrt(np.vecdot(question, question))
        if length < LEAST_LENGTH:
            return None
        rows, products = self.rounded.nearest(question, k)
        return rows, [product / length for product in products]

    def keyword_arrays(self, keywords: Sequence[str], k: int) -> tuple[list[int], list[float]]:
        """Return rows and scores of those that `ChunkStore.holding` finds, in the same order."""
        best = _WordSearch(self, lowercase_words(keywords)).best(k)
        return [one.row for one in best], [one.score for one in best]


class _Bound(NamedTuple):
    """What a text can hold at most, in the order of the best: most words, then densest, then first."""

    fewer: int  # minus the number of words
    thinner: float  # minus their density
    row: int
    words: int  # a bit for each

    @property
    def score(self) -> float:
        """As `ChunkStore.holding` scores a text that holds so much."""
        return -self.fewer - self.thinner / (1 - self.thinner)


class _WordSearch:
    """One search for words.

    What the grams say bounds what a text can hold, so texts are ordered by their bounds and looked into
    from the top, until as many as are wanted hold all that they were named for: nothing after these is
    better. That is the threshold algorithm of Fagin, Lotem and Naor, "Optimal aggregation algorithms for
    middleware", 2003, over one list, as the server has it (`keyword_matches`).
    """

    def __init__(self, packed: PackedScope, words: Sequence[str]) -> None:
        self._packed = packed
        self._words = [word.encode() for word in words]
        holders = packed.postings.holders(words)
        # Only these are looked for in a text: the others are where they are named.
        self._doubtful = sum(
            1 << index for index, holder in enumerate(holders) if not holder.certain
        )
        self._named = [
            self._together(
                holders[first : first + _TOGETHER], self._words[first : first + _TOGETHER]
            )
            for first in range(0, len(words), _TOGETHER)
        ]

    def best(self, k: int) -> list[_Bound]:
        """Return the best texts that hold a word, best first."""
        looked = k + _SPARE
        while self._named:
            bounds, kept_bounds, whole = self._highest(looked), list[_Bound](), 0
            for bound in map(_Bound._make, bounds):
                exact = self._looked_into(bound)
                kept_bounds.append(exact)
                whole += exact is bound
                if whole == k:
                    break
            if whole == k or len(bounds) < looked:
                return [one for one in sorted(kept_bounds)[:k] if one.words]
            looked *= _MORE
        return []

    def _together(self, holders: Sequence[Holders], words: Sequence[bytes]) -> _Ints:
        """Of every text a bit for each of some words that it may hold, above the octets of all of these."""
        weights = [float((1 << _OCTETS << index) + len(word)) for index, word in enumerate(words)]
        rows = [holder.rows for holder in holders]
        weighed = np.repeat(weights, [*map(len, rows)])
        return np.bincount(np.concatenate(rows), weighed, len(self._packed.ids)).astype(np.int64)

    def _highest(self, count: int) -> list[tuple[int, float, int, int]]:
        """Return the fields of the highest bounds, best first; all of them are not sorted."""
        number = reduce(add, [np.bitwise_count(named >> _OCTETS) for named in self._named])
        rows = np.flatnonzero(number)
        octets = reduce(add, [named[rows] & _ALL for named in self._named])
        number, density = number[rows], octets / self._packed.octets[rows]
        if len(rows) > count:
            best = leading(number * _MOST_DENSE + density, count)  # never falls as either rises
            rows, number, density = rows[best], number[best], density[best]
        words, *more = [(named[rows] >> _OCTETS).tolist() for named in self._named]
        for turn, named in enumerate(more, start=1):
            words = [low | high << _TOGETHER * turn for low, high in zip(words, named, strict=True)]
        fewer, thinner = np.negative(number, dtype=np.int64).tolist(), (-density).tolist()
        return sorted(zip(fewer, thinner, rows.tolist(), words, strict=True))[:count]

    def _looked_into(self, bound: _Bound) -> _Bound:
        """Return what a text really holds of what it may; the same where that is all."""
        words, left = bound.words, bound.words & self._doubtful
        if not left:
            return bound
        start, end = self._packed.starts[bound.row : bound.row + 2].tolist()
        while left:
            word = left & -left
            left ^= word
            if self._packed.texts.find(self._words[word.bit_length() - 1], start, end - 1) < 0:
                words ^= word
        if words == bound.words:
            return bound
        octets = sum(len(word) for index, word in enumerate(self._words) if words >> index & 1)
        return _Bound(-words.bit_count(), -octets / max(1, end - 1 - start), bound.row, words)


@dataclass(slots=True)
class Packing:
    """A scope as it is being packed, block by block, each in some ten milliseconds of a thread.

    Args:
        stamp, chunks: of the scope.
    """

    stamp: str
    chunks: int
    _ids: list[npt.NDArray[np.uint64]] = field(default_factory=list[npt.NDArray[np.uint64]])
    _written: list[str] = field(default_factory=list[str])
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
        self._written.append("".join(format_ids(block.ids)))
        self._texts.append(texts)
        self._octets.append(block.octets)
        self._postings.append(GramPostings.of(block.texts, characters))

    def packed(self) -> PackedScope | None:
        """Return all of it; None if a vector has no direction: what the store says of it cannot be said here."""
        assert self._vectors is not None  # noqa: S101 - nothing is packed of no chunk
        if self._at != self.chunks or not self._vectors.any(axis=1).all():
            return None
        texts = b"".join(self._texts)
        self._texts.clear()  # not twice while the rest is joined
        postings = GramPostings.joined(self._postings)
        self._postings.clear()
        octets, ids = np.concatenate(self._octets), IdTable(np.concatenate(self._ids)).halves
        return PackedScope(
            self.stamp,
            ids,
            "".join(self._written),
            Rounded.of(self._vectors),
            texts,
            np.append(0, np.cumsum(octets + 1)),
            np.maximum(1, octets).astype(np.int32),
            postings,
        )
