"""How much of a statement a text has by words, whether one denies the other, and the quotes of passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.terms import Text, terms_of
from sextant.text.characters import IDEOGRAPHS, MARKS, plain_of, simplify
from sextant.text.statements import complete_clauses, find_denied, negates
from sextant.text.stopwords import (
    CHINESE_STOP_WORDS,
    ENGLISH_STOP_WORDS,
    without_question_words,
)

_HAN_RUN = re.compile(f"[{IDEOGRAPHS}]+")
# A number with its fraction, or a word of a script other than Chinese with its marks.
_LETTER = rf"[^\W\d_{IDEOGRAPHS}]"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|{_LETTER}+(?:[{MARKS}]+{_LETTER}*)*")
# Thousands apart and leading zeros: 1,000 and 1000, 03 and 3 are one number.
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
# The mark or number of a list item.
ITEM = re.compile(r"\A\s*(?:[-*+•·]\s+)?(?:\d{1,2}[.)、．]\s+)?")
# The share of a clause's terms that another one must have to say or deny the same (docs/experiments/citing.md).
_ABOUT_THE_SAME, _OF_DENIED = 0.5, 0.7


@dataclass(frozen=True, slots=True)
class Claim:
    """The terms of a statement without stop words: words and numbers, and pairs of ideographs, simplified."""

    words: frozenset[str]
    pairs: frozenset[str]

    def __len__(self) -> int:
        return len(self.words) + len(self.pairs)


@lru_cache(maxsize=256)
def claim_of(statement: str) -> Claim:
    """Return the terms of `statement`."""
    text = plain_of(ITEM.sub("", statement))
    words = (_term(word) for word in _WORD.findall(text) if word not in ENGLISH_STOP_WORDS)
    pairs = (pair for run in _HAN_RUN.findall(without_question_words(text)) for pair in _pairs(run))
    return Claim(frozenset(words), frozenset(pairs))


def _term(word: str) -> str:
    if word[0].isdigit():
        return _THOUSANDS.sub("", word).lstrip("0") or "0"
    return word.removesuffix("s") if len(word) > 3 else word


def _pairs(run: str) -> list[str]:
    grams = [run] if len(run) == 1 else ["".join(pair) for pair in pairwise(run)]
    return [gram for gram in grams if CHINESE_STOP_WORDS.isdisjoint((gram, *gram))]


class TermLookup:
    """A text in which terms are looked up."""

    def __init__(self, text: str) -> None:
        self._text = plain_of(text)
        self._words = frozenset(map(_term, _WORD.findall(self._text)))

    def common_terms(self, claim: Claim) -> frozenset[str]:
        """Return the claim's terms that the text holds."""
        pairs = [pair for pair in claim.pairs if pair in self._text]
        return (claim.words & self._words).union(pairs)

    def says(self, phrase: str) -> bool:
        """Return whether the text holds `phrase`, a normalised one."""
        return simplify(phrase) in self._text

    def covers(self, claim: Claim) -> float:
        """Share (0..1) of the claim's terms that the text holds; 0 for a claim without terms."""
        return len(self.common_terms(claim)) / len(claim) if len(claim) else 0.0


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
    said, quoted = complete_clauses(statement), complete_clauses(quote)
    if not any(map(negates, [*said, *quoted])):
        return False
    asked, others = "" if negates(question) else question, list(map(_Clause, quoted))
    return any(_Clause(one, asked).is_turned(others) for one in said)


class _Clause:
    """A clause with its terms, and those that it denies."""

    def __init__(self, clause: str, asked: str = "") -> None:
        self.terms, self.text = terms_of(clause), Text(f"{clause} {asked}")
        self.is_denied = negates(clause)
        self.denied = terms_of(find_denied(clause)[1]) or self.terms

    def is_turned(self, quoted: Sequence[_Clause]) -> bool:
        """Return whether those of other clauses that have most of its terms deny what it says, or say what it denies."""
        shares = [other.measure(self.terms) for other in quoted]
        most = max(shares, default=0.0)
        closest = [other for other, share in zip(quoted, shares, strict=True) if share == most]
        about = [other for other in closest if self._is_about(other)]
        return most >= _ABOUT_THE_SAME and bool(about) and all(map(self._opposes, about))

    def _is_about(self, other: _Clause) -> bool:
        """Return whether it has what another clause denies, or the other what it denies itself."""
        denied, its = (other, self) if other.is_denied else (self, other)
        return not denied.is_denied or its.measure(denied.denied) >= _OF_DENIED

    def _opposes(self, other: _Clause) -> bool:
        return self.is_denied is not other.is_denied

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
