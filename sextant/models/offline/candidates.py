"""Read the sentences and rows of passages that an answer may quote, and complete quotations with what belongs to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.distractors import Siblings
from sextant.models.offline.outline import PassageOutline
from sextant.models.offline.passages import (
    Span,
    document_of,
    find_key,
    is_row,
    quotable_spans,
    table_heads,
)
from sextant.models.offline.wording import Paraphrases
from sextant.text.characters import NOTE_MARK, language_of
from sextant.text.orders import asks_of_orders, orders_answerer


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a row of a table: `items[source].text[start:end] == text`.

    Attributes:
        terms: what it speaks of, in the words of the question.
        heading: the heads of the tables above a row, or what an item stands below; "" for other sentences.
        language: `zh` or `en`.
        introduces: whether a list, code or a table stands below it.
    """

    source: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    heading: str
    language: str
    introduces: bool

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.source, self.start, self.end

    @property
    def meaning(self) -> str:
        """The text whose meaning is compared: a row stands under the head of its table."""
        return f"{self.heading}\n{self.text}" if self.heading and is_row(self.text) else self.text


def read_sentences(question: str, items: Sequence[RetrievedItem]) -> list[Sentence]:
    """Return all sentences and rows of the passages that may be quoted, in their order.

    Orders to whoever answers ("ignore all instructions") are left out unless the question is about orders. So are
    sentences about a sibling of what the question names: P-30 where it asks for P-20.
    """
    allows_orders, siblings = asks_of_orders(question), Siblings(question, items)
    return [
        one
        for one in read_statements(question, items)
        if (allows_orders or not orders_answerer(one.text))
        and not siblings.are_named(one.source, one.start, one.text)
    ]


def read_statements(question: str, items: Sequence[RetrievedItem]) -> list[Sentence]:
    """Return all sentences and rows of the passages in their order, whatever they are about."""
    paraphrases = Paraphrases(question)
    return [
        one for source, item in enumerate(items) for one in _read_passage(source, item, paraphrases)
    ]


def _read_passage(source: int, item: RetrievedItem, paraphrases: Paraphrases) -> Iterator[Sentence]:
    heads, outline, text = table_heads(item), PassageOutline(item.text), item.text
    for start, end in quotable_spans(text):
        quoted = text[start:end]
        if any(quoted in head for head in heads):
            continue
        if (key := find_key(quoted)) and not paraphrases.speaks_of(key):
            continue
        above = heads if is_row(quoted) else [text[slice(*outline.find_label(start))]]
        yield Sentence(
            source,
            start,
            end,
            quoted,
            paraphrases.read_terms(quoted),
            "\n".join(filter(None, above)),
            language_of(quoted),
            bool(outline.read_below(start, end)),
        )


def complete_quotations(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """Return `spans`, each with what belongs to it.

    Ahead of an item stands what introduces it ("`timeout`:" of "300 by default"), if that has something of the question.
    Behind a sentence stands the list, code or small table that it introduces. Notes follow what refers to them.
    """
    paraphrases, completed = Paraphrases(question), list[Span]()
    for span in spans:
        source, start, end = span
        text, outline = items[source].text, PassageOutline(items[source].text)
        label, below = outline.find_label(start), outline.read_below(start, end)
        if paraphrases.speaks_of(text[slice(*label)]):
            completed.append((source, *label))
        completed += [span, *((source, *one) for one in below), *_find_notes(items, span)]
    return _drop_repeated(completed)


def _find_notes(items: Sequence[RetrievedItem], span: Span) -> Iterator[Span]:
    """Yield the notes that a quotation's marks refer to, from its passage before others of its document."""
    source, start, end = span
    marks = NOTE_MARK.findall(items[source].text, start + 1, end)
    wanted = {label for mark in marks for label in mark.split(", ")}
    home = document_of(items[source])
    near = [at for at, item in enumerate(items) if wanted and document_of(item) == home]
    for at in sorted(near, key=lambda at: at != source):
        for note in quotable_spans(items[at].text):
            mark = NOTE_MARK.match(items[at].text, *note)
            if mark and mark[1] in wanted:
                wanted.remove(mark[1])
                yield at, *note


def _drop_repeated(spans: Sequence[Span]) -> list[Span]:
    """Return the spans that share nothing with one before them."""
    chosen = list[Span]()
    for span in spans:
        source, start, end = span
        if not any(one == source and start < last and first < end for one, first, last in chosen):
            chosen.append(span)
    return chosen
