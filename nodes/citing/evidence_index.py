"""The parts of an answer's passages, the weights of their terms, and the facts of sentences."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import islice
from math import log

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.distractors import Siblings
from sextant.nodes.citing.evidence import all_parts
from sextant.nodes.citing.evidence_part import EvidencePart
from sextant.nodes.citing.support import ITEM, headings, letters_of
from sextant.nodes.citing.terms import find_separators, numbers_in, terms_of
from sextant.text.analysis import codes_in, find_unmentioned, spelling_of
from sextant.text.characters import language_of, normalise
from sextant.text.statements import states
from sextant.text.units import TextValue
from sextant.text.values import normalise_values

_LEAST_STEM = 5
_FULL_NAME = re.compile(
    r"(?<![A-Za-zÀ-ž])[A-ZÀ-ÞĀ-Ž][a-zß-ÿā-ž]+(?: [A-Z]\.)*(?: [A-ZÀ-ÞĀ-Ž][a-zß-ÿā-ž]+)+(?![A-Za-zÀ-ž])"
)
_FACTS = re.compile(
    r"[，;；。]|,(?!\d| (?:which|who|whose|where) )|、|\s(?=(?:and|but|while|whereas) )|(?<=[\u4e00-\u9fff])(?:而且|并且|以及|但|而)(?=[\u4e00-\u9fff])"
)

ENOUGH = 0.5
"""The least share of a sentence's own words that its supporting parts must have."""


class Support(IntEnum):
    """How far passages support a sentence, worst first."""

    CONTRADICTED = 0
    UNSUPPORTED = 1
    PARTIAL = 2
    FOREIGN = 3
    SUPPORTED = 4


@dataclass(frozen=True, slots=True)
class Assessment:
    """How far a sentence is supported, by which share of its words (0..1), and the parts that support it."""

    support: Support
    share: float
    parts: tuple[EvidencePart, ...] = ()


@dataclass(frozen=True, slots=True)
class StatedFact:
    """One statement of a sentence: its terms, those that the question lacks (`new`), and the values that it lacks."""

    text: str
    terms: tuple[str, ...]
    new: tuple[str, ...]
    values: tuple[TextValue, ...]


def _cut_facts(sentence: str) -> list[str]:
    """Cut a sentence at marks and conjunctions, but not within a value: a year and a half."""
    pieces, start, is_open = list[str](), 0, False
    edges = [mark.span() for mark in find_separators(_FACTS, sentence)]
    for end, behind in [*edges, (len(sentence), len(sentence))]:
        piece = sentence[start:end]
        says_nothing = bool(piece.strip()) and not terms_of(piece) and not numbers_in(piece)
        if pieces and (is_open or says_nothing):
            pieces[-1] += f" {piece}"
        else:
            pieces.append(piece)
        is_open, start = says_nothing and len(pieces[-1]) > len(piece), behind
    return pieces


class EvidenceIndex:
    """The parts of an answer's passages.

    Args:
        items: the passages.
        question: what was asked.
    """

    def __init__(self, items: Sequence[RetrievedItem], question: str = "") -> None:
        self.items = items
        self.question = question
        self.asked = terms_of(question)
        self.asked_values = tuple(one.value for one in normalise_values(question))
        self._frequencies: dict[str, int] = {}

    @cached_property
    def parts(self) -> list[EvidencePart]:
        """Return the clauses and cells of all passages."""
        return all_parts(self.items)

    @cached_property
    def _siblings(self) -> Siblings:
        """Return the siblings of what the question names."""
        return Siblings(self.question, self.items)

    def parts_about(self, sentence: str) -> list[EvidencePart]:
        """Return the parts that are not about a sibling of what is named: "unit 3" is one of "unit 4".

        What counts is named by the sentence where it names another sibling than the question does.
        """
        named = self._siblings
        if named.are_stated(sentence):
            named = Siblings(sentence, self.items)
        return [
            part
            for part in self.parts
            if not named.are_named(part.passage, part.span[0], part.sentence)
        ]

    @cached_property
    def text(self) -> str:
        """Return all passages with their headings, normalised."""
        return "\n".join(normalise(f"{headings(item)} {item.text}") for item in self.items)

    @cached_property
    def languages(self) -> list[str]:
        """Return the language of each passage."""
        return [language_of(item.text) for item in self.items]

    def find_facts(self, sentence: str) -> list[StatedFact]:
        """Return the facts of a sentence in their order."""
        facts = list[StatedFact]()
        for text in _cut_facts(ITEM.sub("", sentence)):
            if not text or not states(text):
                continue
            terms, values = terms_of(text), tuple(numbers_in(text))
            unasked = tuple(value for value in values if value not in self.asked_values)
            new = tuple(term for term in terms if not self.is_asked(term))
            if terms or values:
                facts.append(StatedFact(text, terms, new, unasked))
        telling = [fact for fact in facts if fact.new or fact.values]
        return telling or facts

    def is_asked(self, term: str) -> bool:
        """Return whether the question has a term, or a longer word that begins with it: suppliers for supplies, 药 for 药物."""
        longer = term.isascii() and len(term) >= _LEAST_STEM
        return (
            term in self.asked
            or (longer and any(w.startswith(term) for w in self.asked))
            or (not term.isascii() and len(term) == 2 and term[0] in self.asked)
        )

    def weight(self, term: str) -> float:
        """Return the weight of a term, as of an inverse document frequency; single ideographs weigh less."""
        if term not in self._frequencies:
            self._frequencies[term] = sum(
                part.layers[0][1].has(term) > 0 for part in self.parts if not part.is_clause
            )
        # A term that no passage has may be a synonym, and weighs like a rather common one.
        seen = self._frequencies[term] or len(self.parts) // 8
        rare = log(1 + (len(self.parts) + 1) / (seen + 1))
        return rare * (0.4 if len(term) == 1 else 1.0)

    def quoted(self, sentence: str, parts: Sequence[EvidencePart]) -> tuple[EvidencePart, ...]:
        """Return the part that a sentence repeats word for word, if there is one."""
        letters = letters_of(sentence)
        whole = (part for part in parts if not part.is_clause and not part.is_row)
        return tuple(islice((p for p in whole if letters_of(p.sentence) == letters), 1))

    def is_known(self, term: str) -> bool:
        """Return whether any passage has the term."""
        self.weight(term)
        return self._frequencies[term] > 0

    def invents(self, sentence: str) -> bool:
        """Return whether a sentence has a code or a full name that no passage has.

        A name counts by its last word, since first names and titles are left out at will.
        """
        if not self.items:
            return False
        names = [normalise(name.split()[-1]) for name in _FULL_NAME.findall(sentence)]
        codes = [term for term in terms_of(sentence) if "-" in term]
        if not (names or codes or codes_in(sentence)):
            return False
        known = f"{self.text}\n{normalise(self.question)}"
        return (
            any(name not in known for name in names)
            or not all(re.search(spelling_of(code), known) for code in codes)
            or bool(find_unmentioned(sentence, [known]))
        )

    def has_numbers(self, sentence: str, passages: Collection[int]) -> bool:
        """Return whether these passages have all numbers of a sentence that the question lacks."""
        known = [v for part in self.parts if part.passage in passages for v in part.values]
        return all(
            any(one.value.matches(value) for value in (*known, *self.asked_values))
            for one in normalise_values(sentence)
        )

    def has_only_numbers(self, sentence: str, passages: Collection[int]) -> bool:
        """Return whether these passages have all numbers of a sentence, and no others of their kinds."""
        known = [v for part in self.parts if part.passage in passages for v in part.values]
        return self.has_numbers(sentence, passages) and not any(
            value.dimension == other.dimension and not any(map(other.matches, fact.values))
            for fact in self.find_facts(sentence)
            for value in fact.values
            for other in known
        )

    def has_numbers_abroad(self, sentence: str, passages: Collection[int]) -> bool:
        """Return whether a sentence has numbers, all of them in these passages, which are in another language."""
        language = language_of(sentence)
        return (
            all(self.languages[index] != language for index in passages)
            and bool(normalise_values(sentence))
            and self.has_numbers(sentence, passages)
        )
