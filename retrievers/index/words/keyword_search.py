"""The texts that hold the most of some words, in the order in which the store finds them.

An index of grams (`sextant.stores.chunks.grams`) bounds what each text can hold, and the best are looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import add
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sextant.retrievers.numeric.arrays import leading
from sextant.stores.chunks.grams import is_ideograph, is_word, lowercase_words, word_grams

Rows = npt.NDArray[np.unsignedinteger]
_Keys = npt.NDArray[np.uint64]
_Ints = npt.NDArray[np.int64]
TextAt = Callable[[int], str]

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

    Takes two bytes for each gram of a text (four beyond 65,536 texts), and twelve for each gram.
    """

    keys: _Keys
    starts: npt.NDArray[np.uint32]
    rows: Rows
    texts: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> GramPostings:
        """Return the postings of some texts.

        Args:
            texts: folded (`sextant.text.characters.lowercase`); 1024 can be told apart whatever they hold.

        Raises:
            ValueError: these cannot.
        """
        lengths = np.array([len(text) for text in texts])
        codes = np.frombuffer("\n".join(texts).encode("utf-32-le"), np.uint32)
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
        starts = np.append(np.flatnonzero(new), len(keys)).astype(np.uint32)
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
            shift = np.repeat(free[position] - part.starts[:-1].astype(np.int64), lengths)
            rows[shift + np.arange(len(part.rows))] = part.rows.astype(rows.dtype) + before
            free[position] += lengths
            before += part.texts
        return cls(keys, starts.astype(np.uint32), rows, texts)

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


# How many texts are looked into first beyond those that are wanted: few hold a word's grams and not it.
_SPARE, _MORE = 12, 8
# So many words are counted at once: a float holds a bit for each, and beside them so many bits of octets.
_TOGETHER, _OCTETS = 20, 32
_ALL = (1 << _OCTETS) - 1
# No words take so many times the octets of a text.
_MOST_DENSE = 2.0**_OCTETS


class _Bound(NamedTuple):
    """What a text can hold at most, in the order of the best: most words, then densest, then first."""

    fewer: int  # minus the number of words
    thinner: float  # minus their density
    row: int
    words: int  # a bit for each

    @property
    def score(self) -> float:
        """As the store scores a text that holds so much."""
        return -self.fewer - self.thinner / (1 - self.thinner)


@dataclass(frozen=True, slots=True)
class KeywordIndex:
    """What of texts tells which of them hold some words.

    Attributes:
        postings: which texts hold which grams.
        octets: how long each text is in UTF-8, at least 1.
    """

    postings: GramPostings
    octets: npt.NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """Return the bytes that it takes."""
        return self.postings.nbytes + self.octets.nbytes

    def search(
        self, keywords: Sequence[str], k: int, text_at: TextAt
    ) -> tuple[list[int], list[float]]:
        """Return rows and scores of those that `ChunkStore.keyword_matches` finds, in the same order.

        Args:
            keywords: what is looked for, in any case.
            k: how many texts are wanted.
            text_at: the text of a row in lower case.
        """
        best = _WordSearch(self, lowercase_words(keywords), text_at).best(k)
        return [one.row for one in best], [one.score for one in best]


class _WordSearch:
    """One search for words.

    What the grams say bounds what a text can hold, so texts are ordered by their bounds and looked into
    from the top, until as many as are wanted hold all that they were named for: nothing after these is
    better. That is the threshold algorithm of Fagin, Lotem and Naor, "Optimal aggregation algorithms for
    middleware", 2003, over one list, as the server has it (`keyword_matches`).
    """

    def __init__(self, index: KeywordIndex, words: Sequence[str], text_at: TextAt) -> None:
        self._index = index
        self._text_at = text_at
        self._words = words
        self._sizes = [len(word.encode()) for word in words]
        holders = index.postings.holders(words)
        # Only these are looked for in a text: the others are where they are named.
        self._doubtful = sum(
            1 << index for index, holder in enumerate(holders) if not holder.certain
        )
        self._named = [
            self._together(
                holders[first : first + _TOGETHER], self._sizes[first : first + _TOGETHER]
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

    def _together(self, holders: Sequence[Holders], sizes: Sequence[int]) -> _Ints:
        """Of every text a bit for each of some words that it may hold, above the octets of all of these."""
        weights = [float((1 << _OCTETS << index) + size) for index, size in enumerate(sizes)]
        rows = [holder.rows for holder in holders]
        weighed = np.repeat(weights, [*map(len, rows)])
        return np.bincount(np.concatenate(rows), weighed, self._index.postings.texts).astype(
            np.int64
        )

    def _highest(self, count: int) -> list[tuple[int, float, int, int]]:
        """Return the fields of the highest bounds, best first; all of them are not sorted."""
        number = reduce(add, [np.bitwise_count(named >> _OCTETS) for named in self._named])
        rows = np.flatnonzero(number)
        octets = reduce(add, [named[rows] & _ALL for named in self._named])
        number, density = number[rows], octets / self._index.octets[rows]
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
        text = self._text_at(bound.row)
        while left:
            word = left & -left
            left ^= word
            if self._words[word.bit_length() - 1] not in text:
                words ^= word
        if words == bound.words:
            return bound
        octets = sum(size for index, size in enumerate(self._sizes) if words >> index & 1)
        density = octets / int(self._index.octets[bound.row])
        return _Bound(-words.bit_count(), -density, bound.row, words)
