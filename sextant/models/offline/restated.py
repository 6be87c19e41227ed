"""Sentences that say the same with other values: which of them is shown, and which first.

Two versions of a policy say "kept for 90 days" and "kept for 30 days", two lines of a list "gold: 60 days" and
"silver: 45 days". Their words are nearly the same, but neither says what the other does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidate import Candidate
from sextant.models.offline.passages import file_of
from sextant.models.offline.wording import terms
from sextant.text.characters import normalise
from sextant.text.editions import newer

_VALUE = re.compile(r"\d[\d.,:/-]*|[零一二两三四五六七八九十百千万亿半]+")
_NUMBER_WORD = re.compile(r"\d+")
# So much of their words two have in common that differ in values alone.
_SAME = 0.7
# What an earlier edition says gives way to a later one that has as much of the question, or nearly.
_AS_MUCH = 0.75


def restates(one: Candidate, other: Candidate) -> bool:
    """Return whether two sentences of different passages say the same of other values."""
    values, others = _values(one.text), _values(other.text)
    if one.source == other.source or not (values and others) or values == others:
        return False
    words, beside = _words(one.text), _words(other.text)
    return len(words & beside) >= _SAME * len(words | beside)


def newest_first(
    chosen: Sequence[Candidate], items: Sequence[RetrievedItem], question: str
) -> list[Candidate]:
    """Return `chosen`, and what the newest edition says before what the best of them says, which is an earlier one's.

    Args:
        chosen: the sentences to be quoted, best first.
        items: the passages they stand in.
        question: may ask for an earlier edition by its number or day.
    """
    asked = {int(number) for number in _NUMBER_WORD.findall(normalise(question))}
    first = chosen[0]
    telling = (one for one in chosen[1:] if one.covered >= _AS_MUCH * chosen[0].covered)
    for one in telling:
        if newer(_names(items[one.source]), _names(items[first.source]), asked):
            first = one
    return [first, *(one for one in chosen if one is not first)]


def _names(item: RetrievedItem) -> list[str]:
    return [file_of(item), str(item.metadata.get("document_title") or "")]


def _values(text: str) -> list[str]:
    return _VALUE.findall(normalise(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(terms(_VALUE.sub(" ", normalise(text))))
