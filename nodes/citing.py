"""Turns a model's text, piece by piece, into an answer whose citations hold.

The model cites passage n as `[n]`. What leaves here counts markers by first use, has no marker
without a passage that carries what was said, and is followed, after each finished sentence, by its
citations with the quoted span of the document. Nothing that was emitted is taken back, so the
stream and the final answer are the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from domain.events import Cited, Token
from domain.retrieval import RetrievedItem
from domain.sentences import sentence_end
from nodes.citations import Citations
from nodes.support import Claim, Quote, QuotedPassage, claim_of

# Below this share of common terms a marker is dropped: the passage speaks of something else.
MARKER_SUPPORT = 0.15
# From this share on a sentence counts as carried by its quote; docs/rules.md has the numbers for both.
GROUNDED_SUPPORT = 0.35

_NUMBERS = r"\d{1,3}(?:\s*[,，、;；–-]\s*\d{1,3})*"
_MARKER = re.compile(rf"[\[【]\s*\^?({_NUMBERS})\s*[\]】]")
# What may still become a marker when more text comes.
_PART_OF_MARKER = re.compile(r"[\[【]\s*\^?[\d\s,，、;；–-]{0,32}")
_LISTED = re.compile(r"\s*[,，、;；]\s*")
_RANGE = re.compile(r"\s*[–-]\s*")
_OPENING = re.compile(r"[\[【]")
# What code puts before an index: `owner[0]`, `rows()[0]`, `grid[1][2]`.
_SUBSCRIPTED = re.compile(r"[A-Za-z0-9_)\]]\Z")
# Headings and lead-ins ("The steps are:") state nothing that a passage could carry.
_NO_STATEMENT = re.compile(r"\s*(?:#.*|\W*|.*[:：])\s*", re.DOTALL)


@dataclass(slots=True)
class _Sentence:
    """The sentence being written: its text without markers, and where its markers stand."""

    text: str = ""
    marks: list[tuple[int, int, Quote]] = field(default_factory=list[tuple[int, int, Quote]])

    def shown(self) -> str:
        """The sentence as the answer has it, with its markers."""
        pieces, position = [], 0
        for offset, marker, _ in self.marks:
            pieces += [self.text[position:offset], f"[{marker}]"]
            position = offset
        return "".join([*pieces, self.text[position:]]).strip()

    def split(self, end: int) -> tuple[_Sentence, _Sentence]:
        """Cut behind `end`; markers that follow the stop on its line belong to the first part."""
        kept = []
        for mark in self.marks:
            between = self.text[end : max(end, mark[0])]
            if between.strip() or "\n" in between:
                break
            kept.append(mark)
        end = max([end, *(offset for offset, _, _ in kept)])
        rest = [(offset - end, marker, quote) for offset, marker, quote in self.marks[len(kept) :]]
        return _Sentence(self.text[:end], kept), _Sentence(self.text[end:], rest)


class CitedText:
    """The answer in the making; `passages[n - 1]` is what the model calls `[n]`."""

    def __init__(self, passages: Sequence[RetrievedItem]) -> None:
        self._passages = passages
        self._quoted: dict[int, QuotedPassage] = {}
        self._given = Citations(passages)
        self._begun = False
        self._held = ""
        self._line = ""
        self._fenced = False
        self._sentence = _Sentence()
        self._claim = Claim(frozenset(), frozenset())
        self._claimed = 0
        self._unsupported = False

    @property
    def given(self) -> Citations:
        """Text, citations and sources given out so far."""
        return self._given

    @property
    def grounded(self) -> bool:
        """Whether there are citations and every statement is carried by one."""
        return bool(self._given.citations) and not self._unsupported

    def feed(self, piece: str) -> Iterator[Token | Cited]:
        """Take the next piece of the model's text, of any length."""
        self._held += piece
        yield from self._advance()

    def finish(self) -> Iterator[Token | Cited]:
        """Say that no more text comes."""
        yield from self._advance(final=True)
        self._held = ""
        yield from self._close(self._sentence)
        self._sentence = _Sentence()

    def _advance(self, *, final: bool = False) -> Iterator[Token | Cited]:
        """Emit what is held, but for white space and brackets that may belong to a marker."""
        while self._held:
            opening = _OPENING.search(self._held)
            ahead = self._held[: opening.start()] if opening else self._held
            body = ahead.rstrip()
            yield from self._write(body)
            gap = ahead[len(body) :]
            if opening is None:
                self._held = gap
                return
            rest = self._held[opening.start() :]
            if final or not _PART_OF_MARKER.fullmatch(rest):
                marker = None if self._subscript(gap) else _MARKER.match(rest)
                yield from self._mark(marker, gap) if marker else self._write(gap + rest[0])
                self._held = rest[marker.end() if marker else 1 :]
            else:
                self._held = gap + rest
                return

    def _subscript(self, gap: str) -> bool:
        """Whether a bracket that comes now belongs to code, as in `owner[0]`."""
        in_code = self._fenced or self._line.count("`") % 2 == 1
        return in_code and not gap and _SUBSCRIPTED.search(self._line) is not None

    def _write(self, text: str) -> Iterator[Token | Cited]:
        if not self._begun:
            text = text.lstrip()
        if not text:
            return
        self._begun = True
        yield self._given.token(text)
        *lines, self._line = (self._line + text).split("\n")
        self._fenced ^= sum(line.lstrip().startswith("```") for line in lines) % 2 == 1
        self._sentence.text += text
        while (end := sentence_end(self._sentence.text)) is not None:
            if not self._sentence.text[end:].strip():
                return  # a marker may still follow the stop, or digits make it a decimal point
            done, self._sentence = self._sentence.split(end)
            self._claimed = max(0, self._claimed - len(done.text))
            yield from self._close(done)

    def _mark(self, found: re.Match[str], gap: str) -> Iterator[Token]:
        """Emit those markers whose passage carries the words since the last marker."""
        self._claim = claim_of(self._sentence.text[self._claimed :]) or self._claim
        self._claimed = len(self._sentence.text)
        shown = []
        for index in dict.fromkeys(_indices(found[1])):
            if quote := self._quote(index):
                marker = self._given.marker(index)
                offset = len(self._sentence.text) + len(gap)
                self._sentence.marks.append((offset, marker, quote))
                shown.append(f"[{marker}]")
        if shown:
            self._sentence.text += gap
            yield self._given.token(gap + "".join(shown))

    def _quote(self, index: int) -> Quote | None:
        if not 0 <= index < len(self._passages):
            return None
        if index not in self._quoted:
            self._quoted[index] = QuotedPassage(self._passages[index])
        quote = self._quoted[index].best_quote(self._claim)
        return quote if quote and (quote.foreign or quote.support >= MARKER_SUPPORT) else None

    def _close(self, sentence: _Sentence) -> Iterator[Cited]:
        shown = sentence.shown()
        by_marker = {marker: quote for _, marker, quote in sentence.marks}
        for marker, quote in by_marker.items():
            yield self._given.cite(marker, shown, quote)
        carried = any(quote.support >= GROUNDED_SUPPORT for quote in by_marker.values())
        if not carried and not _NO_STATEMENT.fullmatch(sentence.text):
            self._unsupported = True


def _indices(text: str) -> list[int]:
    """The passages that a marker names, from 0: `1, 3` lists two, `2-4` three."""
    found = list[int]()
    for part in _LISTED.split(text):
        first, _, last = _RANGE.sub("-", part).partition("-")
        found += range(int(first) - 1, int(last or first))
    return found
