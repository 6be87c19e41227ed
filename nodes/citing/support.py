"""How much of a statement a text has by words, whether one denies the other, and the quotes of passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.terms import Text, terms_of
from sextant.text.analysis import SEARCH
from sextant.text.characters import plain_of, simplify
from sextant.text.statements import (
    count_denials,
    cut_clauses,
    find_denied,
    negates,
    split_cases,
)
from sextant.text.stopwords import CHINESE_STOP_WORDS, without_question_words

_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")
# The mark or number of a list item.
ITEM = re.compile(r"\A\s*(?:[-*+•·]\s+)?(?:\d{1,2}[.)、．]\s+)?")
# The share of a clause's terms that another one must have to say or deny the same (docs/experiments/citing.md).
_ABOUT_THE_SAME, _OF_DENIED = 0.5, 0.7


@lru_cache(maxsize=256)
def claim_of(statement: str) -> frozenset[str]:
    """Return the terms of the index in a statement, without stop words and question words."""
    found = _terms_of(without_question_words(plain_of(statement)))
    return frozenset(term for term in found if CHINESE_STOP_WORDS.isdisjoint((term, *term)))


def _terms_of(plain: str) -> list[str]:
    """Return the terms of the index, but 1,000 and 2.5.1 are one term each."""
    return SEARCH.terms(_IN_NUMBER.sub("", plain))


class TermLookup:
    """A text in which the terms of a claim are looked up."""

    def __init__(self, text: str) -> None:
        self._text = plain_of(text)
        self._terms = frozenset(_terms_of(self._text))

    def common_terms(self, claim: frozenset[str]) -> frozenset[str]:
        """Return the claim's terms that the text holds."""
        return claim & self._terms

    def says(self, phrase: str) -> bool:
        """Return whether the text holds `phrase`, a normalised one."""
        return simplify(phrase) in self._text

    def covers(self, claim: frozenset[str]) -> float:
        """Share (0..1) of the claim's terms that the text holds; 0 for a claim without terms."""
        return len(self.common_terms(claim)) / len(claim) if claim else 0.0


@dataclass(frozen=True, slots=True)
class SupportedQuote:
    """A span of a document: `text == document.text[start:end]`.

    Attributes:
        support: the share (0..1) of a statement that it has.
        foreign: whether it is in another language than the statement, so that words tell little.
        place: the part of a table that was quoted: `r3c2`, `c2`.
    """

    text: str
    start: int
    end: int
    support: float
    foreign: bool = False
    place: str = ""


COMPUTED = "computed"
"""Key of an item's metadata: the sentences computed from its table (`ComputedSentence`)."""


@dataclass(frozen=True, slots=True)
class ComputedSentence:
    """A computed sentence, and the offsets in the document of the line that it rests on."""

    text: str
    start: int
    end: int

    def quote(self, item: RetrievedItem) -> SupportedQuote:
        """Return the line, which `item` has."""
        offset = int(item.metadata.get("start") or 0)
        return SupportedQuote(
            item.text[self.start - offset : self.end - offset], self.start, self.end, 1.0
        )


def is_opposed(statement: str, quote: str, question: str = "") -> bool:
    """Return whether the clauses of a quote that have most words of a clause of a statement say the opposite of it.

    What the question asks belongs to each clause of the statement. Denials without a word of denial ("ceased", 拒绝) are
    not found.
    """
    said, quoted = cut_clauses(statement), cut_clauses(quote)
    if not any(map(negates, [*said, *quoted])):
        return False
    asked, others = "" if negates(question) else question, list(map(_Clause, quoted))
    return any(_Clause(one, asked).is_turned(others) for one in said)


class _Clause:
    """A clause with its terms, and those of each case that it denies."""

    def __init__(self, clause: str, asked: str = "") -> None:
        denied = find_denied(clause)
        self.terms, self.text = terms_of(clause), Text(f"{clause} {asked}")
        self.denials, self.permits = count_denials(clause)
        self.is_denied = self.denials > 0
        self._cases = [terms_of(case) or self.terms for case in split_cases(denied)]
        self._denied, self._asked = Text(denied), Text(asked)

    def is_turned(self, quoted: Sequence[_Clause]) -> bool:
        """Return whether those of other clauses that have most of its terms deny what it says, or say what it denies."""
        shares = [other.measure(self.terms) for other in quoted]
        most = max(shares, default=0.0)
        closest = [other for other, share in zip(quoted, shares, strict=True) if share == most]
        # Of two that have as many of them, the one that says less else.
        plain = [
            one
            for one in closest
            if not any(set(other.terms) < set(one.terms) for other in closest)
        ]
        about = [other for other in plain if self._is_about(other)]
        return most >= _ABOUT_THE_SAME and bool(about) and all(map(self._opposes, about))

    def _is_about(self, other: _Clause) -> bool:
        """Return whether it has what another clause denies, or the other what it denies itself.

        What only repeats the question, or words that the other one denies, is about the same.
        """
        if not self.is_denied and (
            all(map(self._asked.has, self.terms))
            or (len(self.terms) > 1 and all(map(other._denied.has, self.terms)))
        ):
            return True
        denied, its = (other, self) if other.is_denied else (self, other)
        return not denied.is_denied or any(
            its.measure(case) >= _OF_DENIED for case in denied._cases
        )

    def _opposes(self, other: _Clause) -> bool:
        """Return whether one denies and the other not, or permits for a case what the other one denies for it."""
        more, less = (self, other) if self.denials > other.denials else (other, self)
        return bool(
            more.denials > less.denials and (not less.is_denied or less.permits > more.permits)
        )

    def measure(self, terms: Sequence[str]) -> float:
        """Return the share of terms that it has."""
        return sum(map(self.text.has, terms)) / (len(terms) or 1)


def letters_of(text: str) -> str:
    """Return a text without its marks, normalised."""
    return "".join(filter(str.isalnum, plain_of(text)))


def headings(item: RetrievedItem) -> str:
    """Return the file or title of a passage and its sections."""
    named = item.metadata.get("filename") or item.metadata.get("title") or ""
    sections = item.metadata.get("section_path") or ()
    return " > ".join(str(part) for part in (named, *sections) if part)
