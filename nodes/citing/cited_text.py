"""Turn the text of a chat model, piece by piece, into an answer with checked citations.

The model cites passage n as `[n]`, or in another form (`sextant.nodes.citing.markers`). The answer numbers markers by their
first use and drops those whose passage says something else. Each finished sentence is judged
(`sextant.nodes.citing.verdicts`). It gets the markers of the passages that support it, or a note that none does, and its
citations follow it. Text that was emitted is never changed, and the answer does not depend on how the model's text was cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import regex

from sextant.domain.answers import Cited, Token, Trust
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.telemetry import CitationsDropped, emit
from sextant.nodes.citing import markers
from sextant.nodes.citing.assessment import AnswerEvidence
from sextant.nodes.citing.citations import (
    Citations,
    DraftSentence,
    Finished,
    Verdict,
    format_label,
    format_marker,
    is_head_row,
    label_of,
)
from sextant.nodes.citing.support import SupportedQuote
from sextant.nodes.citing.terms import numbers_in, terms_of
from sextant.nodes.citing.verdicts import SentenceJudge
from sextant.text.sentences import find_undecided, sentence_end

UNVERIFIED = {"en": " (unverified)", "zh": "（未核实）"}

_STOPS = "。！？；…"

_NOT_SUPPORTED = {Verdict.PARTIAL, Verdict.UNSUPPORTED, Verdict.CONTRADICTED}


class CitedText:
    """An answer that is being written; `passages[n - 1]` is what the model calls `[n]`.

    Args:
        passages: what may be cited; without any, nothing is checked.
        language: of the note behind sentences that are not supported.
        question: what it says needs no support.
        withheld: indexes of passages that may not be cited.
        rejected: sentences, without markers, that a model found to be unsupported.

    Attributes:
        given: text, citations and sources given out so far.
        finished: the sentences so far, with their verdicts.
    """

    def __init__(
        self,
        passages: Sequence[RetrievedItem],
        *,
        language: str = "en",
        question: str = "",
        withheld: Collection[int] = (),
        rejected: Collection[str] = (),
    ) -> None:
        self._passages = passages
        self._judge = SentenceJudge(passages, question, withheld, rejected)
        self._labels = {
            label: index for index, item in enumerate(passages) if (label := label_of(item))
        }
        self.language = language
        self.given = Citations(passages)
        self.finished: list[Finished] = []
        self._begun = False
        self._buffer = ""
        self._left = ""  # the gap before a marker that was dropped, for one that follows it
        self._line = ""
        self._fenced = False
        self._was_row = False
        self._head = ""  # the names of the columns of the last table
        self._sentence = DraftSentence()
        self._emitted = 0  # characters of the sentence
        self._searched = 0
        self._clause = ""  # the words that the last marker stood behind
        self._claimed = 0

    @property
    def evidence(self) -> AnswerEvidence:
        """Return the evidence that sentences are judged by."""
        return self._judge.evidence

    @property
    def grounded(self) -> bool:
        """Return whether there are citations, and every statement is supported."""
        return self.trust is Trust.SUPPORTED

    @property
    def trust(self) -> Trust:
        """Return how far the sentences so far are supported."""
        verdicts = {one.verdict for one in self.finished}
        if not self.given.citations:
            return Trust.UNSUPPORTED
        if verdicts <= {Verdict.SUPPORTED, Verdict.STATES_NOTHING, Verdict.SILENT}:
            return Trust.SUPPORTED
        has_support = verdicts & {Verdict.SUPPORTED, Verdict.PARTIAL, Verdict.FOREIGN}
        return Trust.PARTIAL if has_support else Trust.UNSUPPORTED

    @property
    def has_statement(self) -> bool:
        """Return whether a whole sentence that states something has come so far."""
        return self._has_stated or sentence_end(self._sentence.text) is not None

    @property
    def _has_stated(self) -> bool:
        return any(one.verdict is not Verdict.STATES_NOTHING for one in self.finished)

    def feed(self, piece: str) -> Iterator[Token | Cited]:
        """Take the next piece of the model's text, of any length."""
        self._buffer += piece
        yield from self._advance()

    def finish(self) -> Iterator[Token | Cited]:
        """Say that no more text comes."""
        yield from self._advance(final=True)
        if "|" in self._buffer:  # the end of the last row
            self._sentence.text += self._buffer.rstrip()
        self._buffer = ""
        yield from self._close(self._sentence)
        self._sentence = DraftSentence()

    def _advance(self, *, final: bool = False) -> Iterator[Token | Cited]:
        """Emit the buffer, except white space and what may belong to a marker."""
        while self._buffer:
            marker = markers.MARKER.search(self._buffer, partial=not final)
            at = marker.start() if marker else len(self._buffer)
            ahead = self._buffer[:at]
            body = ahead.rstrip() if not self._in_row(ahead) else ahead.rstrip(" \t|\n")
            self._left = "" if body else self._left
            yield from self._write(body)
            own, rest = ahead[len(body) :], self._buffer[at:]
            if marker is None or marker.partial:
                self._buffer = own + rest
                return
            gap, self._left = own or self._left, ""
            behind = rest[len(marker[0]) :]
            if self._is_no_marker(marker, gap):
                yield from self._write(gap + rest[0])
                self._buffer = rest[1:]
            elif not self._leads(gap):
                self._buffer = behind
                yield from self._mark(marker["names"], gap)
            elif not (final or _is_whole(rest)):
                self._buffer, self._left = own + rest, ""
                return
            else:
                self._buffer = behind
                if behind.lstrip(" \t")[:1] in {"", "\n"}:  # it stands alone on its line
                    yield from self._mark(marker["names"], gap)
                elif not (self._sentence.text + gap).strip():
                    self._buffer = _move_behind(marker[0], behind)
                else:
                    yield from self._lead(marker["names"], gap, behind)

    def _in_row(self, ahead: str) -> bool:
        """Return whether a row of a table is written, whose last bar comes behind its marker."""
        line = (self._line + ahead).rstrip("\n").rpartition("\n")[2]
        return line.lstrip().startswith("|") and not self._fenced

    def _is_no_marker(self, found: regex.Match[str], gap: str) -> bool:
        """Return whether it is an index in code, or a label that a passage has."""
        if markers.is_label(found["names"]):
            return not self._labels and any(found[0] in item.text for item in self._passages)
        in_code = self._fenced or self._line.count("`") % 2 == 1
        ahead = self._line[-1:]  # of an index: `owner[0]`, `rows()[0]`, `grid[1][2]`
        return in_code and not gap and (ahead.isalnum() or ahead in set("_)]"))

    def _leads(self, gap: str) -> bool:
        """Return whether a marker stands ahead of its statement: "According to passage [1], …"."""
        said = self._sentence.text + gap
        return (
            not self._sentence.marks
            and "\n" not in gap
            and markers.leads(said)
            and (bool(said.strip()) or not self.finished)
        )

    def _lead(self, names: str, gap: str, behind: str) -> Iterator[Token | Cited]:
        """Emit a marker ahead of its sentence, for a passage that supports it."""
        statement = markers.statement_text(behind[: sentence_end(behind)].lstrip(" ,，:："))
        cited = [index for index, _ in markers.find_targets(names, self._labels)]
        quotes = self._judge.find_quotes(statement, cited)
        index = next((one for one in cited if one in quotes), next(iter(quotes), None))
        if index is None:
            emit(CitationsDropped("unsupported", 1))
        yield from self._place([] if index is None else [(index, quotes[index])], gap)

    def _place(self, quotes: Sequence[tuple[int, SupportedQuote]], gap: str) -> Iterator[Token]:
        """Emit the markers of passages, and note them in the sentence; where there are none, keep the gap."""
        if not quotes:
            self._left = gap
            return
        end, sentence = self._emitted, self._sentence
        sentence.text = sentence.text[:end] + gap + sentence.text[end:]
        self._emitted += len(gap)
        sentence.marks += [(self._emitted, index, quote) for index, quote in quotes]
        shown = (self.given.shown(index, quote.place) for index, quote in quotes)
        yield self.given.token(gap + "".join(shown))

    def _write(self, text: str, *, ends_line: bool = False) -> Iterator[Token | Cited]:
        if not self._begun:
            text = text.lstrip()
        if not text:
            return
        self._begun = True
        self._sentence.text += text
        while (end := sentence_end(self._sentence.text, since=self._searched)) is not None:
            if not (ends_line or self._sentence.text[end:].strip()):
                if self._sentence.has_marker_at(self._emitted):
                    return  # what follows the stop may be a marker that belongs to the one before it
                break  # a marker may still follow the stop, or digits make it a decimal point
            done, self._sentence = self._sentence.split(end)
            self._searched = 0
            yield from self._close(done)
        else:
            self._searched = find_undecided(self._sentence.text)
        yield from self._emit(self._sentence.text[self._emitted :])
        self._emitted = len(self._sentence.text)

    def _emit(self, text: str) -> Iterator[Token]:
        if text:
            *lines, self._line = (self._line + text).split("\n")
            if lines:
                self._was_row = lines[-1].lstrip().startswith("|")
            self._fenced ^= sum(line.lstrip().startswith("```") for line in lines) % 2 == 1
            yield self.given.token(text)

    def _mark(self, names: str, gap: str) -> Iterator[Token | Cited]:
        """Emit those markers whose passage has the words since the last marker."""
        if "\n" in gap:
            yield from self._write(gap, ends_line=True)
            gap = ""
        since = self._sentence.text[self._claimed :]
        if terms_of(since) or numbers_in(since):
            self._clause = since
        self._claimed = len(self._sentence.text)
        bars, gap = (gap.rstrip(), " ") if "|" in gap else ("", gap)  # the end of a row of a table
        # A stop that waits: both markers stand before it.
        gap = "" if self._sentence.text[self._emitted :] else gap
        # The first line of a table names columns, and states nothing.
        is_head = self._line.lstrip().startswith("|") and not self._was_row
        targets = [] if is_head else markers.find_targets(names, self._labels)
        found = [
            (index, self._judge.quote(index, place, self._sentence.text, self._clause))
            for index, place in targets
        ]
        quotes = [(index, quote) for index, quote in found if quote]
        if len(quotes) < len(found):
            emit(CitationsDropped("unsupported", len(found) - len(quotes)))
        yield from self._place(quotes, gap)
        if bars:
            self._left = ""
            yield from self._write(bars)

    def _close(self, sentence: DraftSentence) -> Iterator[Token | Cited]:
        """Emit the rest of a finished sentence, further markers or a note, and its citations."""
        text, emitted = sentence.text, self._emitted
        self._emitted = 0
        self._claimed = max(0, self._claimed - len(text))
        seen = max(emitted, len(text.rstrip()))
        place = emitted if sentence.has_marker_at(emitted) else seen
        if text.lstrip().startswith("|") and not self._fenced:
            place = max(emitted, len(text.rstrip().rstrip("| \t")))
        yield from self._emit(text[emitted:place])
        before = self.finished[-1].text if self.finished else ""
        is_head = not self._fenced and is_head_row(text, before)
        self._head = text if is_head and terms_of(text) else self._head
        verdict, found = self._judge.judge(
            sentence, is_head=is_head, head=self._head, opens=not self._has_stated
        )
        at = place
        for index, quote in found.items():
            yield self._add(sentence, at, index, quote)
            at = sentence.marks[-1][0]
        yield from self._emit(text[place:seen])
        is_of_block = self._fenced or text.lstrip().startswith(("|", "`"))  # a table or code
        if verdict in _NOT_SUPPORTED and not is_of_block:
            yield self.given.token(UNVERIFIED.get(self.language, UNVERIFIED["en"]))
        yield from self._cite(sentence, verdict)
        yield from self._emit(text[seen:])

    def _add(
        self, sentence: DraftSentence, offset: int, index: int, quote: SupportedQuote
    ) -> Token:
        before, behind = sentence.text[:offset], sentence.text[offset:]
        close = before.endswith(tuple(_STOPS)) or sentence.has_marker_at(offset)
        gap = "" if close else " "
        sentence.text = before + gap + behind
        sentence.marks.append((offset + len(gap), index, quote))
        return self.given.token(gap + self.given.shown(index, quote.place))

    def _cite(self, sentence: DraftSentence, verdict: Verdict) -> Iterator[Cited]:
        by_place = {(index, quote.place): quote for _, index, quote in sentence.marks}
        first = len(self.given.citations)
        shown = sentence.shown(self.given.shown).strip()
        cited = [self.given.cite(index, shown, quote) for (index, _), quote in by_place.items()]
        places = range(first, len(self.given.citations))
        if sentence.text:
            passages = tuple(index for index, _ in by_place)
            whole = Finished(sentence.shown(self._as_written), verdict, places, passages)
            self.finished.append(whole)
        yield from cited

    def _as_written(self, index: int, place: str) -> str:
        """Return a marker as the model writes it."""
        label = next((label for label, at in self._labels.items() if at == index), "")
        return format_label(label, place) if label else format_marker(index + 1)


def _is_whole(text: str) -> bool:
    """Return whether a text begins with a whole sentence."""
    end = sentence_end(text)
    return end is not None and (text[end - 1] == "\n" or bool(text[end:].strip()))


def _move_behind(marker: str, text: str) -> str:
    """Return a text whose first sentence has the marker behind it, if it has none."""
    end = sentence_end(text) or len(text)
    sentence = text[:end].strip()
    own = "" if markers.MARKER.search(sentence) else marker
    return f"{sentence}{own}{text[len(text[:end].rstrip()) :]}"
