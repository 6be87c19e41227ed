"""How far a passage carries a statement, by the words they share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from sextant.domain.retrieval import RetrievedItem
from sextant.text.characters import IDEOGRAPHS, MARKS, language_of, plain_of, simplify
from sextant.text.statements import (
    clauses,
    complete_denials,
    find_denied,
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
# The number of an item is not part of what it says.
ITEM = re.compile(r"\A\s*(?:[-*+•·]\s+)?(?:\d{1,2}[.)、．]\s+)?")
# The share of a denied clause's terms that the other side must have, so that both speak of the same:
# of the statement's in the quote, of the quote's in the statement. docs/experiments/citing.md has what they tell.
_DENIED_BY_STATEMENT, _DENIED_BY_QUOTE = 0.5, 0.6
_LEAST_TERMS = 2
_ALL_BUT_ONE = 0.8
_TOKEN_OF_CLAIM = re.compile(rf"[{IDEOGRAPHS}]{{1,2}}|\w+")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a statement speaks of, without stop words: numbers and words, and pairs of ideographs, simplified.

    `statement` has its words as they stand.
    """

    words: frozenset[str]
    pairs: frozenset[str]
    statement: str = field(default="", compare=False)

    def __len__(self) -> int:
        return len(self.words) + len(self.pairs)

    @property
    def language(self) -> str:
        """Return `zh` or `en`: that of its statement, else by what most terms are."""
        if self.statement:
            return language_of(self.statement)
        return "zh" if len(self.pairs) > len(self.words) else "en"

    @property
    def numbers(self) -> frozenset[str]:
        """Return the words that are numbers."""
        return frozenset(word for word in self.words if word[0].isdigit())


@lru_cache(maxsize=256)
def claim_of(statement: str) -> Claim:
    """Return the terms of `statement`; of unrelated statements they have (almost) none in common."""
    text = plain_of(ITEM.sub("", statement))
    words = (_term(word) for word in _WORD.findall(text) if word not in ENGLISH_STOP_WORDS)
    pairs = (pair for run in _HAN_RUN.findall(without_question_words(text)) for pair in _pairs(run))
    return Claim(frozenset(words), frozenset(pairs), statement)


def _term(word: str) -> str:
    if word[0].isdigit():
        return _THOUSANDS.sub("", word).lstrip("0") or "0"
    return word.removesuffix("s") if len(word) > 3 else word


def _pairs(run: str) -> list[str]:
    grams = [run] if len(run) == 1 else ["".join(pair) for pair in pairwise(run)]
    return [gram for gram in grams if CHINESE_STOP_WORDS.isdisjoint((gram, *gram))]


class TermLookup:
    """A text in which terms are looked up; many times cheaper than taking its own terms."""

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
    """A span of a passage: `text == document.text[start:end]`, carrying `support` (0..1) of a claim.

    `foreign`: claim and passage are in different languages, so that words tell little. `place` is the
    part of a table that says so: `r3c2`, `c2`.
    """

    text: str
    start: int
    end: int
    support: float
    foreign: bool = False
    place: str = ""


COMPUTED = "computed"
"""Key of an item's metadata: what was computed of the table that it is a part of (`ComputedSentence`)."""


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
    """Return whether one of the two denies what the other says without a word of denial.

    Only words are compared: what denies by other words ("ceased", 拒绝) is not seen.
    """
    if not (negates(statement) or negates(quote)):
        return False
    said, quoted = _Denials(statement), _Denials(quote)
    return (
        said.turn_round(quoted, _DENIED_BY_STATEMENT)
        or quoted.turn_round(said, _DENIED_BY_QUOTE)
        or quoted.deny_all_of(said)
    )


class _Denials:
    """What a sentence says in clauses with a word of denial and in those without."""

    def __init__(self, sentence: str) -> None:
        parts = clauses(sentence)
        self._letters = letters_of(sentence)
        self._denied = [part for part in parts if negates(part)]
        self._complete = complete_denials(parts)
        self._affirmed_parts = [part for part in parts if part not in self._denied]
        self._affirmed = TermLookup("\n".join(self._affirmed_parts))
        self._affirmed_clauses = [TermLookup(part) for part in self._affirmed_parts]

    def turn_round(self, other: _Denials, least: float) -> bool:
        """Return whether `other` says something that is denied here."""
        return any(
            letters_of(denied) not in other._letters
            and other.affirms(claim_of(bare := without_ban(denied)), least, banned=bare != denied)
            for denied in self._denied
        ) or any(
            other.affirms(claim_of(part), 1.0, banned=True)
            and other.affirms(claim_of(whole), least)
            for part, whole in self._complete.items()
        )

    def deny_all_of(self, other: _Denials) -> bool:
        """Return whether a long clause denies what a short one of `other` says, from its word of denial on."""
        return any(
            len(claim := claim_of(part)) >= _LEAST_TERMS
            and not any(clause.covers(claim) >= _ALL_BUT_ONE for clause in self._affirmed_clauses)
            and any(
                TermLookup(denied).covers(claim) >= _ALL_BUT_ONE
                and _first_denied(denied)
                and TermLookup(part).common_terms(_first_denied(denied))
                for denied in self._denied
            )
            for part in other._affirmed_parts
        )

    def affirms(self, claim: Claim, least: float, *, banned: bool = False) -> bool:
        """Return whether `least` of a claim's terms stands where nothing is denied, and less of it where something is.

        That is not half of it, or no more than a part of what one clause without denial has.
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


def _first_denied(clause: str) -> Claim:
    """Return the first word, or pair of ideographs, that a clause denies."""
    _, denied = find_denied(clause)
    words = [one[0] for one in _TOKEN_OF_CLAIM.finditer(plain_of(denied))]
    return next((claim for word in words if len(claim := claim_of(word))), claim_of(""))


def letters_of(text: str) -> str:
    """Return a text without its marks, normalised."""
    return "".join(filter(str.isalnum, plain_of(text)))


def headings(item: RetrievedItem) -> str:
    """Return where a passage stands: its file or title, and its sections."""
    named = item.metadata.get("filename") or item.metadata.get("title") or ""
    sections = item.metadata.get("section_path") or ()
    return " > ".join(str(part) for part in (named, *sections) if part)
