"""Where the sentences of some passages stand: under which titles, beside which others, in which list, table or code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.listings import listings
from sextant.models.offline.passages import (
    document_of,
    is_row,
    item_titles,
    quotable_spans,
    table_heads,
    unruled_tables,
)
from sextant.models.offline.scenarios import given_in
from sextant.models.offline.sentence_form import points_to_table
from sextant.text.sentences import code_spans

_NOTE = re.compile(r"\[(?:note |注)[\w*†‡§¶#]{1,3}\]")  # as parsers write marks of notes


def without_note_mark(text: str) -> str:
    """Return what a note says behind its mark; "" of what is no note."""
    mark = _NOTE.match(text)
    return text[mark.end() :] if mark else ""


class Standing:
    """The sentences of some passages; a `place` counts them through all passages, a `source` these.

    Attributes:
        spans: of each sentence its source, start and end.
        texts: what each says.
        titled: what stands over each like a title: that of its item, the introduction of its list.
        noted: of a note, the sentences or rows that refer to it, with which it is one statement.
        is_title: whether it is a title of an item, the head of a table without rules, or what a scenario presupposes,
            which say no more.
        table_heads: of each passage.
        sections: of each passage, by its document and headings.
    """

    def __init__(self, passages: Sequence[RetrievedItem]) -> None:
        self.spans = [
            (source, start, end)
            for source, passage in enumerate(passages)
            for start, end in quotable_spans(passage.text)
        ]
        self.texts = [passages[source].text[start:end] for source, start, end in self.spans]
        titles = [
            [*item_titles(passage.text), *unruled_tables(passage.text)] for passage in passages
        ]
        self.is_title = [
            any(title.has(start) for title in titles[source]) for source, start, _ in self.spans
        ]
        self.titled = [
            "".join(title.text for title in titles[source] if title.stands_over(start))
            for source, start, _ in self.spans
        ]
        # Where sentences end that introduce a list.
        self._introductions = set[tuple[int, int]]()
        for source, passage in enumerate(passages):
            self._note_scenarios(source, passage.text)
            self._title_lists(source, passage.text)
        self.noted = [""] * len(self.spans)
        self._join_notes([document_of(passage) for passage in passages])
        self.table_heads = [table_heads(passage) for passage in passages]
        self.sections = [
            (document_of(passage), *(passage.metadata.get("section_path") or ()))
            for passage in passages
        ]
        self._tabled = {
            section for section, heads in zip(self.sections, self.table_heads, strict=True) if heads
        }
        self._code = [code_spans(passage.text) for passage in passages]

    def beside(self, place: int) -> list[int]:
        """Return the places of a sentence and its neighbours in the passage."""
        around = range(max(0, place - 1), min(len(self.spans), place + 2))
        return [other for other in around if self.spans[other][0] == self.spans[place][0]]

    def introduces_list(self, place: int) -> bool:
        """Return whether a list stands below it."""
        source, _, end = self.spans[place]
        return (source, end) in self._introductions

    def is_code(self, place: int) -> bool:
        """Return whether it stands in a block of code."""
        source, start, _ = self.spans[place]
        return any(begin <= start < close for begin, close in self._code[source])

    def points_to_table(self, place: int) -> bool:
        """Return whether it points to a table that is at hand."""
        section = self.sections[self.spans[place][0]]
        return section in self._tabled and points_to_table(self.texts[place])

    def rows(self) -> list[tuple[int, str]]:
        """Return the rows of tables, heads apart, each with its source."""
        return [
            (source, text)
            for (source, *_), text in zip(self.spans, self.texts, strict=True)
            if is_row(text) and not any(text in head for head in self.table_heads[source])
        ]

    def _note_scenarios(self, source: int, text: str) -> None:
        for span in given_in(text):
            for place in self._within(source, span):
                self.is_title[place] = True

    def _title_lists(self, source: int, text: str) -> None:
        """Let the sentence that introduces a list stand over its items like a title."""
        for listing in listings(text):
            if listing.introduction:
                start, end = listing.introduction
                self._introductions.add((source, end))
                for item in listing.items:
                    for place in self._within(source, item):
                        self.titled[place] = f"{text[start:end]} {self.titled[place]}".strip()

    def _join_notes(self, documents: Sequence[str]) -> None:
        referring = defaultdict[tuple[str, str], str](str)
        notes = list[tuple[int, tuple[str, str]]]()
        for place, ((source, *_), text) in enumerate(zip(self.spans, self.texts, strict=True)):
            for mark in _NOTE.finditer(text):
                key = documents[source], mark[0]
                if mark.start():
                    referring[key] += f"{text} "
                else:
                    notes.append((place, key))
        for place, key in notes:
            self.noted[place] = referring[key].strip()

    def _within(self, source: int, span: tuple[int, int]) -> range:
        """Return the places of the sentences that begin within a part of a passage."""
        first, behind = (bisect_left(self.spans, (source, at)) for at in span)
        return range(first, behind)
