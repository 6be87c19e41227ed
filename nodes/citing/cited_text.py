"""Turns a model's text, piece by piece, into an answer whose citations hold.

The model cites passage n as `[n]`. What leaves here counts markers by first use, has no marker
without a passage that carries what was said, and is followed, after each finished sentence, by its
citations with the quoted span of the document. A finished sentence that carries no marker gets that of
a passage which says it, and where none does, a note that nothing vouches for it. Nothing that was
emitted is taken back here (`nodes.answers.revising` may begin anew), so the stream and the text are the same,
however the text was cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from domain.events import Cited, Token
from domain.happenings import CitationsDropped, emit
from domain.language.sentences import sentence_end, undecided
from domain.language.tongues import is_of_others
from domain.retrieval import RetrievedItem
from domain.text import language_of
from nodes.citing import markers
from nodes.citing.attached import label_of
from nodes.citing.cells import tables_among
from nodes.citing.citations import Citations
from nodes.citing.statements import says_nothing_found, states
from nodes.citing.support import Claim, Passages, Quote, claim_of

# Below this share of common terms a marker is dropped: the passage speaks of something else.
MARKER_SUPPORT = 0.15
# From this share on a sentence counts as carried by its quote; docs/rules.md has the numbers for both.
GROUNDED_SUPPORT = 0.35
# From this share on a sentence gets a marker that the model did not write. It is stricter than the
# above because the best of all passages is taken: docs/answers.md has the numbers.
FOUND_SUPPORT = 0.8
# A sentence of fewer terms says too little for its passage to be told by them.
_FEWEST_TERMS = 3

UNVERIFIED = {"en": " (unverified)", "zh": "（未核实）"}

# What code puts before an index: `owner[0]`, `rows()[0]`, `grid[1][2]`.
_SUBSCRIPTED = re.compile(r"[A-Za-z0-9_)\]]\Z")
# Rows of tables and lines of code take no note.
_NO_NOTE = re.compile(r"\s*[|`]")
_STOPS = "。！？；…"
_WORD = re.compile(r"\w")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_SENTENCE_WORDS = 6


class Verdict(StrEnum):
    """What became of a finished sentence."""

    STATES_NOTHING = "states nothing"
    SILENT = "says that the documents do not tell"
    CARRIED = "carried by a citation"
    FOREIGN = "cited to a passage in another language"
    WEAK = "cited, but its passage says little of it"
    UNSUPPORTED = "no citation holds"


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished sentence: its text as the model may write it again, and what was cited for it.

    `citations` are the places in the answer's citations, `passages` those of the passages they cite.
    """

    text: str
    verdict: Verdict
    citations: range
    passages: tuple[int, ...]


@dataclass(slots=True)
class _Sentence:
    """The sentence being written: its text without markers, and where its markers stand."""

    text: str = ""
    marks: list[tuple[int, int, Quote]] = field(default_factory=list[tuple[int, int, Quote]])

    def shown(self, marker: Callable[[int, str], str]) -> str:
        """The sentence with its markers, as `marker` writes that of a passage and its part."""
        pieces, position = [], 0
        for offset, index, quote in self.marks:
            pieces += [self.text[position:offset], marker(index, quote.place)]
            position = offset
        return "".join([*pieces, self.text[position:]])

    def marked_at(self, offset: int) -> bool:
        """Whether the last marker stands there, with nothing but a stop behind it."""
        last = self.marks[-1][0] if self.marks else None
        return last == offset and not _WORD.search(self.text, offset)

    def split(self, end: int) -> tuple[_Sentence, _Sentence]:
        """Cut behind `end`; markers that follow the stop on its line belong to the first part."""
        kept = []
        for mark in self.marks:
            between = self.text[end : max(end, mark[0])]
            if between.strip() or "\n" in between:
                break
            kept.append(mark)
        end = max([end, *(offset for offset, _, _ in kept)])
        rest = [(offset - end, index, quote) for offset, index, quote in self.marks[len(kept) :]]
        return _Sentence(self.text[:end], kept), _Sentence(self.text[end:], rest)


class CitedText:
    """The answer in the making; `passages[n - 1]` is what the model calls `[n]`.

    Args:
        passages: what may be cited; without any, nothing is checked.
        language: of the note behind sentences that nothing vouches for.
        withheld: places of passages that are no longer to be cited.
        rejected: texts of sentences, without markers, that a model found to be unsupported.
    """

    def __init__(
        self,
        passages: Sequence[RetrievedItem],
        *,
        language: str = "en",
        withheld: Collection[int] = (),
        rejected: Collection[str] = (),
    ) -> None:
        self._passages = Passages(passages)
        self._tables = tables_among(passages)
        self._labels = {
            label: index for index, item in enumerate(passages) if (label := label_of(item))
        }
        self._checked = bool(passages)
        self._note = UNVERIFIED.get(language, UNVERIFIED["en"])
        self._withheld = frozenset(withheld)
        self._rejected = frozenset(rejected)
        self._given = Citations(passages)
        self._begun = False
        self._held = ""
        self._left = ""  # the gap before a marker that was dropped, for one that follows it
        self._line = ""
        self._fenced = False
        self._sentence = _Sentence()
        self._emitted = 0
        self._searched = 0
        self._claim = Claim(frozenset(), frozenset())
        self._claimed = 0
        self.finished: list[Finished] = []

    @property
    def given(self) -> Citations:
        """Text, citations and sources given out so far."""
        return self._given

    @property
    def grounded(self) -> bool:
        """Whether there are citations and every statement is carried by one."""
        fine = {Verdict.CARRIED, Verdict.STATES_NOTHING, Verdict.SILENT}
        return bool(self._given.citations) and all(one.verdict in fine for one in self.finished)

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
            opening = markers.OPENING.search(self._held)
            ahead = self._held[: opening.start()] if opening else self._held
            body = ahead.rstrip()
            self._left = "" if body else self._left
            yield from self._write(body)
            own = ahead[len(body) :]
            if opening is None:
                self._held = own
                return
            rest = self._held[opening.start() :]
            if final or not markers.PART.fullmatch(rest):
                gap, self._left = own or self._left, ""
                marker = None if self._subscript(gap) else self._marker(rest)
                yield from self._mark(marker, gap) if marker else self._write(gap + rest[0])
                self._held = rest[marker.end() if marker else 1 :]
            else:
                self._held = own + rest
                return

    def _marker(self, text: str) -> re.Match[str] | None:
        """The marker that a text begins with; a label is one only where something has labels."""
        found = markers.MARKER.match(text)
        return None if found and markers.is_label(found[1]) and not self._labels else found

    def _subscript(self, gap: str) -> bool:
        """Whether a bracket that comes now belongs to code, as in `owner[0]`."""
        in_code = self._fenced or self._line.count("`") % 2 == 1
        return in_code and not gap and _SUBSCRIPTED.search(self._line) is not None

    def _write(self, text: str, *, ends_line: bool = False) -> Iterator[Token | Cited]:
        if not self._begun:
            text = text.lstrip()
        if not text:
            return
        self._begun = True
        self._sentence.text += text
        while (end := sentence_end(self._sentence.text, since=self._searched)) is not None:
            if not (ends_line or self._sentence.text[end:].strip()):
                if self._sentence.marked_at(self._emitted):
                    return  # what follows the stop may be a marker that belongs to the one before it
                break  # a marker may still follow the stop, or digits make it a decimal point
            done, self._sentence = self._sentence.split(end)
            self._searched = 0
            yield from self._close(done)
        else:
            self._searched = undecided(self._sentence.text)
        yield from self._emit(self._sentence.text[self._emitted :])
        self._emitted = len(self._sentence.text)

    def _emit(self, text: str) -> Iterator[Token]:
        if text:
            *lines, self._line = (self._line + text).split("\n")
            self._fenced ^= sum(line.lstrip().startswith("```") for line in lines) % 2 == 1
            yield self._given.token(text)

    def _mark(self, found: re.Match[str], gap: str) -> Iterator[Token | Cited]:
        """Emit those markers whose passage carries the words since the last marker."""
        if "\n" in gap:
            yield from self._write(gap, ends_line=True)
            gap = ""
        self._claim = claim_of(self._sentence.text[self._claimed :]) or self._claim
        self._claimed = len(self._sentence.text)
        sentence, end, shown = self._sentence, self._emitted, []
        gap = "" if sentence.text[end:] else gap  # a stop that waits: both markers stand before it
        for index, place in markers.places(found[1], self._labels):
            if quote := self._quote(index, place):
                sentence.marks.append((end + len(gap), index, quote))
                shown.append(self._given.shown(index, quote.place))
            else:
                emit(CitationsDropped("unsupported", 1))
        if shown:
            sentence.text = sentence.text[:end] + gap + sentence.text[end:]
            self._emitted += len(gap)
            yield self._given.token(gap + "".join(shown))
        else:
            self._left = gap

    def _quote(self, index: int, place: str) -> Quote | None:
        if not 0 <= index < len(self._passages) or index in self._withheld:
            return None
        if table := self._tables.get(index):
            return table.quote(place, self._sentence.text)
        quote = self._passages[index].best_quote(self._claim)
        return quote if quote and (quote.foreign or quote.support >= MARKER_SUPPORT) else None

    def _close(self, sentence: _Sentence) -> Iterator[Token | Cited]:
        """Emit the rest of a finished sentence, what it still needs, and its citations."""
        text, emitted = sentence.text, self._emitted
        self._emitted = 0
        self._claimed = max(0, self._claimed - len(text))
        seen = max(emitted, len(text.rstrip()))
        place = emitted if sentence.marked_at(emitted) else seen
        yield from self._emit(text[emitted:place])
        verdict = self._verdict(sentence)
        bare = verdict in {Verdict.WEAK, Verdict.UNSUPPORTED}
        if found := self._found(sentence) if bare else None:
            verdict = Verdict.CARRIED
            yield self._add(sentence, place, *found)
        yield from self._emit(text[place:seen])
        if bare and not found and not self._is_code(text):
            yield self._given.token(self._note)
        yield from self._cite(sentence, verdict)
        yield from self._emit(text[seen:])

    def _verdict(self, sentence: _Sentence) -> Verdict:
        if not self._checked or not states(sentence.text):
            silent = self._checked and says_nothing_found(sentence.text)
            return Verdict.SILENT if silent else Verdict.STATES_NOTHING
        quotes = [quote for _, _, quote in sentence.marks]
        carried = any(quote.support >= GROUNDED_SUPPORT for quote in quotes)
        if carried and not self._passages.invents(sentence.text):
            return Verdict.CARRIED
        if not quotes:
            return Verdict.UNSUPPORTED
        return Verdict.FOREIGN if all(quote.foreign for quote in quotes) else Verdict.WEAK

    def _found(self, sentence: _Sentence) -> tuple[int, Quote] | None:
        """The passage that says what a sentence says, though the model did not cite it."""
        if " ".join(sentence.text.split()) in self._rejected:
            return None
        for index, table in self._tables.items():
            if quote := table.found(sentence.text):
                return index, quote
        claim = claim_of(sentence.text)
        if len(claim) < _FEWEST_TERMS or self._passages.invents(sentence.text):
            return None
        return self._passages.best(claim, FOUND_SUPPORT, self._withheld)

    def _add(self, sentence: _Sentence, offset: int, index: int, quote: Quote) -> Token:
        before, behind = sentence.text[:offset], sentence.text[offset:]
        close = before.endswith(tuple(_STOPS)) or sentence.marked_at(offset)
        gap = "" if close else " "
        sentence.text = before + gap + behind
        sentence.marks.append((offset + len(gap), index, quote))
        return self._given.token(gap + self._given.shown(index, quote.place))

    def _cite(self, sentence: _Sentence, verdict: Verdict) -> Iterator[Cited]:
        by_place = {(index, quote.place): quote for _, index, quote in sentence.marks}
        first = len(self._given.citations)
        shown = sentence.shown(self._given.shown).strip()
        cited = [self._given.cite(index, shown, quote) for (index, _), quote in by_place.items()]
        places = range(first, len(self._given.citations))
        if sentence.text:
            passages = tuple(index for index, _ in by_place)
            whole = Finished(sentence.shown(self._as_written), verdict, places, passages)
            self.finished.append(whole)
        yield from cited

    def _as_written(self, index: int, place: str) -> str:
        """A marker as the model writes it."""
        label = next((label for label, at in self._labels.items() if at == index), "")
        return markers.labelled(label, place) if label else markers.written(index + 1)

    def _is_code(self, text: str) -> bool:
        return self._fenced or _NO_NOTE.match(text) is not None


def language_differs(text: str, language: str, question: str) -> bool:
    """Whether an answer is in another language than its question, as far as that is told.

    A few words of another script or language are a name or a term. A question in neither Chinese nor English may be
    answered in its own language or in English.
    """
    said, latin = language_of(text), len(_LATIN_WORD.findall(text))
    if said != language:
        return said == "zh" or latin >= _SENTENCE_WORDS
    few = 0 < latin < _SENTENCE_WORDS
    return said == "en" and not few and is_of_others(text) and not is_of_others(question)
