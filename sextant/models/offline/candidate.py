"""A sentence that may answer a question, with what speaks for and against it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence or clause: `passages[source].text[start:end] == text`.

    Attributes:
        source: the index of its passage.
        start: where it begins there.
        end: where it ends.
        text: what it says.
        terms: what it speaks of (`sextant.models.offline.wording.terms`).
        covered: the share of the question's information that it and its headings speak of, 0..1.
        score: that, with what speaks for it besides.
        things: how many the question asks about.
        missing: the share of them that no passage of its document holds.
        torn: the share of the question's compounds of which it has the head alone.
        unowned: its passage has no word of what a property is asked of, nor have most of its document's.
        unreasoned: a reason is asked for, and neither it nor a neighbour gives one.
        meaning: the text to compare by meaning: a table's row under its head.
    """

    source: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    covered: float
    score: float
    things: int
    missing: float
    torn: float
    unowned: bool
    unreasoned: bool
    meaning: str
