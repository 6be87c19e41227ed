"""How a section begins that is called by what is asked for: "Root cause" is told from its first sentence on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import Span, heading_over, is_row, quotable_spans
from sextant.models.offline.wording import content_words, identifiers, terms
from sextant.text.characters import normalise
from sextant.text.designators import designators_in
from sextant.text.other_words import Otherwise, name_synonyms

# So many sentences an answer has of it.
_SENTENCES = 3


def with_opening_told(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """Return `spans` with the first sentences of a passage for one that has no word of the question.

    Such a sentence answers by its heading alone, and no better than those it follows. Nor does any under the
    name of what is asked about.
    """
    if not spans:
        return []
    source, start, end = spans[0]
    item = items[source]
    words, otherwise = frozenset(content_words(question)), name_synonyms(question)
    above, below = (
        _is_told_by(text, words, otherwise) for text in (heading_over(item), item.text[start:end])
    )
    only_under = above and not below
    opening = [(source, *span) for span in islice(quotable_spans(item.text), _SENTENCES)]
    if is_name_of_asked(heading_over(item), question) and not is_row(item.text[start:end]):
        return [*opening, *(span for span in spans if span not in opening)]
    if not only_under or spans[0] not in opening or is_row(item.text[start:end]):
        return list(spans)
    return [*opening, *(span for span in spans if span not in opening)]


def is_name_of_asked(heading: str, question: str) -> bool:
    """Return whether a heading names all that is asked about, and one thing: "Week 3", "ORA-00942"."""
    named = bool(designators_in(heading) or identifiers(heading))
    return named and set(content_words(heading)) == set(content_words(question))


def _is_told_by(text: str, words: frozenset[str], otherwise: Otherwise) -> bool:
    """Return whether a text has one of the words, or says one otherwise."""
    if not words.isdisjoint(terms(text)):
        return True
    plain = normalise(text)
    return any(form.search(plain) for _, form in otherwise)
