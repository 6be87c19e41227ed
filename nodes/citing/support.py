"""How much of a statement a text has by words, whether one denies the other, and the quotes of passages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sextant.domain.retrieval import RetrievedItem
from sextant.text.characters import IDEOGRAPHS, MARKS, plain_of, simplify
from sextant.text.statements import (
    clauses,
    complete_denials,
    negates,
    without_ban,
)
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
# The share of a denied clause's terms that the other side must have, so that both are about the same: a clause of the
# statement, and one of the quote (docs/experiments/citing.md).
_DENIED_BY_STATEMENT, _DENIED_BY_QUOTE = 0.5, 0.6
_LEAST_TERMS = 2


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


def is_opposed(statement: str, quote: str) -> bool:
    """Return whether one of two texts denies what the other says without a word of denial (not, 不).

    Denials without such a word ("ceased", 拒绝) are not found.
    """
    if not (negates(statement) or negates(quote)):
        return False
    said, quoted = _Denials(statement), _Denials(quote)
    return said.turn_round(quoted, _DENIED_BY_STATEMENT) or quoted.turn_round(
        said, _DENIED_BY_QUOTE
    )


class _Denials:
    """The clauses of a sentence with a word of denial, and those without."""

    def __init__(self, sentence: str) -> None:
        parts = clauses(sentence)
        self._letters = letters_of(sentence)
        self._denied = [part for part in parts if negates(part)]
        self._complete = complete_denials(parts)
        self._affirmed_parts = [part for part in parts if part not in self._denied]
        self._affirmed = TermLookup("\n".join(self._affirmed_parts))
        self._affirmed_clauses = [TermLookup(part) for part in self._affirmed_parts]

    def turn_round(self, other: _Denials, least: float) -> bool:
        """Return whether `other` affirms what is denied here."""
        return any(
            letters_of(denied) not in other._letters
            and other.affirms(claim_of(bare := without_ban(denied)), least, banned=bare != denied)
            for denied in self._denied
        ) or any(
            other.affirms(claim_of(part), 1.0, banned=True)
            and other.affirms(claim_of(whole), least)
            for part, whole in self._complete.items()
        )

    def affirms(self, claim: Claim, least: float, *, banned: bool = False) -> bool:
        """Return whether clauses without denial have `least` of a claim's terms, and those with denial clearly fewer.

        Fewer is less than half, or only a part of the terms that one clause without denial has.
        """
        affirmed = self._affirmed.covers(claim)
        if len(claim) < (1 if banned else _LEAST_TERMS) or affirmed < least:
            return False
        denials = [TermLookup(denied) for denied in self._denied]
        clauses = [clause.common_terms(claim) for clause in self._affirmed_clauses]
        return all(
            2 * denial.covers(claim) < affirmed
            or any(denial.common_terms(claim) < held for held in clauses)
            for denial in denials
        )


def letters_of(text: str) -> str:
    """Return a text without its marks, normalised."""
    return "".join(filter(str.isalnum, plain_of(text)))


def headings(item: RetrievedItem) -> str:
    """Return the file or title of a passage and its sections."""
    named = item.metadata.get("filename") or item.metadata.get("title") or ""
    sections = item.metadata.get("section_path") or ()
    return " > ".join(str(part) for part in (named, *sections) if part)
