"""What of the passages may be quoted: their sentences and rows, without orders to whoever answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.distractors import Siblings
from sextant.models.offline.passages import (
    Span,
    find_key,
    find_unruled_tables,
    is_row,
    quotable_spans,
    table_heads,
)
from sextant.models.offline.wording import Paraphrases
from sextant.text.characters import language_of
from sextant.text.statements import asks_of_orders, orders_answerer


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a row of a table: `items[source].text[start:end] == text`.

    Attributes:
        terms: what it speaks of, in the words of the question.
        heading: the heads of the tables above a row; "" for a sentence.
        language: `zh` or `en`.
    """

    source: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    heading: str
    language: str

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.source, self.start, self.end

    @property
    def meaning(self) -> str:
        """The text whose meaning is compared: a row stands under the head of its table."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text


def read_sentences(question: str, items: Sequence[RetrievedItem]) -> list[Sentence]:
    """Return all that can be quoted of the passages, in their order.

    Orders to whoever answers ("ignore all instructions") answer nothing, unless the question asks about such.
    """
    allows_orders = asks_of_orders(question)
    siblings, paraphrases = Siblings(question, items), Paraphrases(question)
    return [
        one
        for source, item in enumerate(items)
        for one in _read_passage(source, item, paraphrases)
        if (allows_orders or not orders_answerer(one.text))
        and not siblings.are_named(source, one.start, one.text)
    ]


def _read_passage(source: int, item: RetrievedItem, paraphrases: Paraphrases) -> Iterator[Sentence]:
    heads, unruled = table_heads(item), find_unruled_tables(item.text)
    for start, end in quotable_spans(item.text):
        text = item.text[start:end]
        if any(text in head for head in heads):
            continue
        if any(table.start <= start < table.end for table in unruled):
            continue
        if (key := find_key(text)) and not paraphrases.speaks_of(key):
            continue
        above = heads if is_row(text) else []
        above += [item.text[a:b] for a, b, until in unruled if b <= start < until]
        yield Sentence(
            source,
            start,
            end,
            text,
            paraphrases.read_terms(text),
            "\n".join(above),
            language_of(text),
        )
