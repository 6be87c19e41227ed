"""Locate the words of a page in the stored text.

A parser closes up divided words, writes raised figures out, removes leaders, separates cells by bars and repeats
merged ones. So the words of a block are found again in its text, by their letters and figures alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from sextant.domain.page_boxes import PlacedText
from sextant.ingestion.parsing.blocks import Word

_TOKEN = re.compile(r"[^\W_]+")
# To the label of a note, which touches its word on the page.
_ADDED = re.compile(r"(?<=\[)(?:note |注)")
_MOST_PARTS = 100  # of what is one token on the one side and divided on the other
_NEAR = 3  # tokens ahead: what a raised figure or leaders may take
_BACK = 4  # a step back counts as so many ahead
_MOST_TRIED = 40  # words that say the same, from the nearest on


class _WordSpan(NamedTuple):
    """Letters and figures of the text, or of the word of that index, and where they begin in it."""

    text: str
    start: int
    word: int = 0
    is_first: bool = True


def locate_words(
    text: str, words: Sequence[Word], offset: int, *, is_table: bool = False
) -> list[PlacedText]:
    """Return the words with their spans in the document's text; words that are not in it are left out.

    Args:
        text: of a block, as it is stored.
        words: of the block in the order in which they are read.
        offset: of the block in the document's text.
        is_table: whether neighbours in the text may be drawn apart, so that a token is found without the next one.
    """
    return [*_WordFinder(text, words, offset, is_table=is_table).locate()]


class _WordFinder:
    def __init__(self, text: str, words: Sequence[Word], offset: int, *, is_table: bool) -> None:
        self._text, self._words, self._offset = text, words, offset
        self._is_table = is_table
        if not any("[note" in word.text or "[注" in word.text for word in words):
            text = _ADDED.sub(lambda added: " " * len(added[0]), text)
        self._stored = [_WordSpan(found[0], found.start()) for found in _TOKEN.finditer(text)]
        self._drawn = [
            _WordSpan(found[0], found.start(), index, not number)
            for index, word in enumerate(words)
            for number, found in enumerate(_TOKEN.finditer(word.text))
        ]
        self._is_placed = bytearray(len(self._drawn))

    def locate(self) -> Iterator[PlacedText]:
        stored, drawn = 0, 0
        while stored < len(self._stored):
            counts = self._match(stored, drawn)
            if counts is None:
                drawn, counts = self._look_around(stored, drawn)
            if counts is None:
                stored += 1
                continue
            yield from self._placed(stored, drawn, counts)
            self._is_placed[drawn : drawn + counts[1]] = b"\1" * counts[1]
            stored, drawn = stored + counts[0], drawn + counts[1]

    def _match(self, stored: int, drawn: int) -> tuple[int, int] | None:
        """Return how many tokens of both sides, from these on, are the same letters; None if they differ."""
        if drawn >= len(self._drawn) or stored >= len(self._stored):
            return None
        one, other = self._stored[stored].text, self._drawn[drawn].text
        ones, others = 1, 1
        while one != other:
            if one.startswith(other) and drawn + others < len(self._drawn):
                other += self._drawn[drawn + others].text
                others += 1
            elif other.startswith(one) and stored + ones < len(self._stored):
                one += self._stored[stored + ones].text
                ones += 1
            else:
                return None
            if ones + others > _MOST_PARTS:
                return None
        return ones, others

    def _look_around(self, stored: int, drawn: int) -> tuple[int, tuple[int, int] | None]:
        """Return where the nearest words are that go on like the text."""
        places = self._by_beginning.get(self._stored[stored].text[:2], ())
        middle = bisect_left(places, drawn)
        near = places[max(0, middle - _MOST_TRIED) : middle + _MOST_TRIED]
        for place in sorted(
            near, key=lambda at: at - drawn if at >= drawn else _BACK * (drawn - at)
        ):
            counts = None if self._is_placed[place] else self._match(stored, place)
            if not counts:
                continue
            after, place_after = stored + counts[0], place + counts[1]
            is_end = self._is_table or after == len(self._stored)
            is_near = drawn <= place <= drawn + _NEAR
            if is_near or is_end or self._match(after, place_after):
                return place, counts
        return drawn, None

    @cached_property
    def _by_beginning(self) -> dict[str, list[int]]:
        places = defaultdict[str, list[int]](list)
        for place, token in enumerate(self._drawn):
            places[token.text[:2]].append(place)
        return places

    def _placed(self, stored: int, drawn: int, counts: tuple[int, int]) -> Iterator[PlacedText]:
        """Yield each of the words, or what of it matches, with its place in the text."""
        if counts == (1, 1):  # nearly always
            token = self._stored[stored]
            end = token.start + len(token.text)
            yield from self._with_box(self._drawn[drawn], token.start, end)
            return
        at = [
            *chain.from_iterable(
                range(token.start, token.start + len(token.text))
                for token in self._stored[stored : stored + counts[0]]
            )
        ]
        done = 0
        for token in self._drawn[drawn : drawn + counts[1]]:
            start, done = done, done + len(token.text)
            yield from self._with_box(token, at[start], at[done - 1] + 1)

    def _with_box(self, token: _WordSpan, start: int, end: int) -> Iterator[PlacedText]:
        """Yield a word whole, at its first token; or the token with its share of the word's box."""
        word = self._words[token.word]
        begin, length = start - token.start, len(word.text)
        if begin >= 0 and self._text.startswith(word.text, begin):
            if token.is_first:
                begin += self._offset
                box = (word.page, word.x0, word.y0, word.x1, word.y1)
                yield PlacedText(begin, begin + length, *box)
            return
        letter = (word.x1 - word.x0) / length
        stop = token.start + len(token.text)
        yield PlacedText(
            self._offset + start,
            self._offset + end,
            word.page,
            word.x0 if token.is_first else word.x0 + token.start * letter,
            word.y0,
            word.x0 + stop * letter,
            word.y1,
        )
