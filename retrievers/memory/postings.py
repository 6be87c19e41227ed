"""Which texts hold which grams, packed into three arrays.

The grams are those of `sextant.stores.chunks.grams`, unhashed: pairs of letters and digits where a CJK ideograph takes
part, triples where none does. Beside them stand runs too short to have one, alone, so that every word of
one or two characters is part of some gram of each text that contains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sextant.stores.chunks.grams import is_ideograph, is_word, word_grams

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
            texts: folded (`sextant.stores.chunks.grams.fold`); 1024 can be told apart whatever they hold.
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
        held = _distinct(keys << np.uint64(bits) | owner[at])
        keys, rows = held >> np.uint64(bits), held & np.uint64((1 << bits) - 1)
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
        places = [np.searchsorted(keys, part.keys) for part in parts]
        for place, part in zip(places, parts, strict=True):
            sizes[place] += np.diff(part.starts)
        starts = np.append(0, np.cumsum(sizes))
        rows = np.empty(starts[-1], _width(texts))
        free, before = starts[:-1].copy(), 0
        for place, part in zip(places, parts, strict=True):
            own = np.diff(part.starts)
            shift = np.repeat(free[place] - part.starts[:-1], own)
            rows[shift + np.arange(len(part.rows))] = part.rows.astype(rows.dtype) + before
            free[place] += own
            before += part.texts
        return cls(keys, starts, rows, texts)

    @property
    def nbytes(self) -> int:
        """Return bytes of the arrays."""
        return self.keys.nbytes + self.starts.nbytes + self.rows.nbytes

    def holders(self, words: Sequence[str]) -> list[Holders]:
        """Return the texts that may hold each of some folded words: every one that does is among them."""
        grams = [word_grams(word) for word in words]
        keys = np.array([gram for own in grams for gram in own], np.uint64)
        lists = iter(self._lists(keys))
        return [
            self._holders(word, own, list(islice(lists, len(own))))
            for word, own in zip(words, grams, strict=True)
        ]

    def _lists(self, keys: _Keys) -> list[Rows]:
        """Return the texts of each gram."""
        if not len(self.keys):
            return [self.rows] * len(keys)
        place = self.keys.searchsorted(keys)
        there = self.keys.take(place, mode="clip") == keys
        bounds = zip(self.starts[place].tolist(), self.starts[place + there].tolist(), strict=True)
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
            within = (self.keys & _TWO == part) | (self.keys >> _BITS == part)
        else:
            part = np.uint64(ord(word))
            within = (self.keys & _ONE == part) | (self.keys >> _BITS & _ONE == part)
            within |= self.keys >> (_BITS + _BITS) == part
        places = np.flatnonzero(within).tolist()
        lists = [self.rows[self.starts[place] : self.starts[place + 1]] for place in places]
        return np.unique(np.concatenate(lists)) if lists else self.rows[:0]


def _common(lists: Sequence[Rows]) -> Rows:
    """Return what is in all of some ascending lists; a few that are not may remain."""
    common, *rest = sorted(lists, key=len)
    for rows in rest:
        if len(common) <= _FEW:
            break
        place = np.minimum(rows.searchsorted(common), len(rows) - 1)
        common = common[rows[place] == common]
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
        for place in (2, 1, 0):
            letters = self.codes[keys >> np.uint64(place * self.width) & mask]
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
    places = ((alone, 1), (pairs, 2), (short, 2), (triples, 3))
    keys = np.concatenate([letters.keys(at, length) for at, length in places])
    return keys, np.concatenate([at for at, _ in places])
