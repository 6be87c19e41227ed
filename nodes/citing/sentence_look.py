"""One sentence before its evidence: what parts of passages say of its terms, names, and words in another's place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import combinations

from sextant.nodes.citing.evidence import AHEAD, BEHIND, COLUMNS, HEADING, OWN, EvidencePart
from sextant.nodes.citing.evidence_index import EvidenceIndex, StatedFact, language_of_sentence
from sextant.nodes.citing.former import is_replaced
from sextant.nodes.citing.subjects import (
    SubjectWord,
    contains_mark,
    find_misnamed,
    find_owners,
    find_swapped,
    subject_words,
)
from sextant.nodes.citing.terms import (
    Text,
    is_code,
    names_in,
    other_words,
    phrases_of,
    terms_of,
    topic_of,
    wording_of,
)
from sextant.text.characters import plain_of
from sextant.text.units import ORDINAL, WEEKDAY, TextValue
from sextant.text.values import normalise_values

# A longer word is named by half of it: 滤波 for 滤波器.
_IN_PART = 0.25
OF_CITED = 0.05
"""Of several parts that say it one of a passage that the model cites goes first."""


_ASKS_WHETHER = re.compile(
    r"\A\s*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|has|have)\b|吗\s*[?？]?\s*\Z|[能可]否|是否",
    re.IGNORECASE,
)


def asks_whether(question: str) -> bool:
    """Return whether a question asks for yes or no."""
    return _ASKS_WHETHER.search(question) is not None


def competes(value: TextValue, other: TextValue) -> bool:
    """Return whether two values answer the same question differently."""
    return value.dimension == other.dimension and not value.matches(other)


def is_of_same_sentence(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two parts stand in one sentence, or in one row."""
    return (one.passage, one.span) == (other.passage, other.span)


def is_of_same_row(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two cells stand in one row."""
    return one.is_row and other.is_row and is_of_same_sentence(one, other)


def is_of_same_column(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two cells stand in one column that has a name."""
    return (
        one.is_row
        and other.is_row
        and one.passage == other.passage
        and one.column == other.column != ""
    )


def _without_former(part: EvidencePart) -> EvidencePart:
    if not part.former:
        return part
    return replace(part, values=tuple(one for one in part.values if one not in part.former))


class SentenceLook:
    """A sentence with its facts, and the parts of passages that may support it."""

    def __init__(
        self,
        evidence: EvidenceIndex,
        sentence: str,
        facts: Sequence[StatedFact],
        withheld: frozenset[int],
        preferred: frozenset[int],
        *,
        swapped: frozenset[str],
    ) -> None:
        self._swapped = swapped
        self._evidence = evidence
        self._sentence = sentence
        self._facts = facts
        self._preferred = preferred
        about = evidence.parts_about(sentence)
        self._every = [part for part in about if part.passage not in withheld]
        self._current = [_without_former(part) for part in self._every]
        self._parts = self._every
        self._whole = [part for part in self._parts if not part.is_clause]
        self._language = language_of_sentence(sentence)
        self._question = plain_of(evidence.question)
        self._others = other_words(f"{sentence} {evidence.question}")
        self._anywhere: dict[str, bool] = {}
        self._values = [value for fact in facts for value in fact.values]
        self._subject = {term: evidence.weight(term) for term in evidence.asked}
        asked = phrases_of(evidence.question, numbered=True)
        self._asked_phrases = [one for one in asked if evidence.has_phrase(one)]
        stated = phrases_of(sentence) - asked
        self._phrases = [*self._asked_phrases, *filter(evidence.has_phrase, stated)]

    def _touches(self) -> bool:
        """Return whether a sentence speaks at all of what the question or the passages speak of."""
        asked = set(self._evidence.asked)
        terms = [term for fact in self._facts for term in fact.terms]
        known = [term for term in terms if term in asked or self._evidence.is_known(term)]
        return bool(known) and 3 * len(known) >= len(terms)

    def _is_foreign(self, part: EvidencePart) -> bool:
        return self._evidence.languages[part.passage] != self._language

    def _level(self, part: EvidencePart, term: str) -> float:
        level = part.level(term)
        if level < 1.0:
            for terms, pattern in self._others:
                if term in terms:
                    level = max(level, 0.95 * part.level_of(pattern))
        return level

    def _share_covered(self, part: EvidencePart, terms: dict[str, float]) -> float:
        """Return the share of terms, by weight, that say something for a part."""
        known = {
            term: weight
            for term, weight in terms.items()
            if self._is_anywhere(term) and self._may_be_in(part, term)
        }
        whole = sum(known.values())
        if not whole:
            return 0.0
        return sum(weight * self._level(part, term) for term, weight in known.items()) / whole

    def _may_be_in(self, part: EvidencePart, term: str) -> bool:
        """Return whether a part could have a term: in another language only where its other words are known, or it is a name."""
        if not self._is_foreign(part) or is_code(term):
            return True
        return any(term in terms for terms, _ in self._others) or part.level(term) > 0

    def _is_anywhere(self, term: str) -> bool:
        """Return whether any part has a term, or other words for it; what none has tells them not apart."""
        if term not in self._anywhere:
            self._anywhere[term] = any(self._level(part, term) for part in self._parts)
        return self._anywhere[term]

    def _is_known(self, term: str) -> bool:
        return self._evidence.is_known(term)

    def _subject_of(self, fact: StatedFact) -> dict[str, float]:
        """Return what a fact is about: its own terms, the question's and, less, those of the rest of its sentence."""
        subject = dict(self._subject)
        ahead = self._sentence.partition(fact.text)[0]
        for term in terms_of(ahead):
            subject[term] = max(subject.get(term, 0.0), 0.5 * self._evidence.weight(term))
        for term in fact.terms:
            subject[term] = self._evidence.weight(term)
        return subject


class SubjectLook(SentenceLook):
    """Compares what a fact names with what its parts are about."""

    def _are_of_another(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether parts say of something else what the question asks of a thing that no passage names."""
        if self._is_off_topic(parts):
            return True
        asked = {
            owned: owners
            for owned, owners in find_owners(self._question).items()
            if not any(map(self._is_anywhere, owners))
        }
        same = [part for part in parts if asked and not self._is_foreign(part)]
        return bool(same) and all(
            not asked.keys().isdisjoint(find_owners(part.sentence)) for part in same
        )

    def _is_off_topic(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether no passage has what the question begins with, nor a code that it names."""
        topic = topic_of(self._question)
        if not topic or any(map(self._is_foreign, parts)):
            return False
        marks = [topic, *filter(is_code, self._subject)]
        return not any(map(self._is_anywhere, marks))

    def _misses_name(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a fact names what the question does not, nor, near what it says, its parts in the same language."""
        same = [part for part in parts if not self._is_foreign(part)]
        names = names_in(fact.text).intersection(fact.new) if same else ()
        return any(
            all(
                self._level(part, name) < _IN_PART or self._names_someone_else(part, name)
                for part in same
            )
            for name in names
        )

    def _names_someone_else(self, part: EvidencePart, name: str) -> bool:
        """Return whether a part has other names in the place of one that stands elsewhere in its sentence or next to it."""
        if part.is_row or self._level(part, name) > BEHIND or part.layers[0][1].has(name):
            return False
        others = names_in(part.wording) - {*self._subject, *terms_of(self._sentence)}
        return bool(others)

    def _names_what_follows(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether the name that a fact begins with stands only behind the clause that says the rest: it is another's."""
        names = names_in(fact.text)
        begun = terms_of(" ".join(wording_of(fact.text)[:2]))
        first = [term for term in begun if term in names]
        rest = [term for term in fact.terms if term not in begun]
        if not (first and rest and part.clauses):
            return False
        shares = [sum(clause.has(term) for term in rest) for clause in part.clauses]
        until = len(shares) - shares[::-1].index(max(shares))
        behind = [
            one
            for one in part.clauses[until:]
            if not set(fact.terms).issuperset(terms_of(one.plain))
        ]
        return any(shares) and all(
            any(one.has(name) for one in behind)
            and not any(one.has(name) for one in part.clauses if one not in behind)
            for name in first
        )

    def _replaces(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a fact says another word between the same two words: 归乙方所有 for 归甲方所有."""
        if part.is_row or self._is_foreign(part):
            return False
        stated, there = wording_of(fact.text), wording_of(part.sentence)
        changes = SequenceMatcher(None, stated, there, autojunk=False).get_opcodes()
        return any(
            tag == "replace"
            and end - start == until - at == 1
            and 0 < start < len(stated) - 1
            and self._is_swapped(stated[start], there[at], part, fact)
            for tag, start, end, at, until in changes
        )

    def _is_swapped(self, word: str, there: str, part: EvidencePart, fact: StatedFact) -> bool:
        mine, its = terms_of(word), terms_of(there)
        stated = {*self._subject, *(term for one in self._facts for term in one.terms)}
        is_new = all(
            term in fact.new and self._is_known(term) and self._level(part, term) < OWN
            for term in mine
        )
        return bool(mine and its) and is_new and stated.isdisjoint(its)

    def _find_misnamed(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> SubjectWord | None:
        """Return a word of a fact that names something else than what its parts speak of."""
        swapped = self._swapped.union(*(find_swapped(fact.text, part.sentence) for part in parts))
        is_displaced = self._is_displaced(fact, parts)

        def is_vouched(word: SubjectWord) -> bool:
            # A heading of several things does not say that its part is of each of them.
            least = COLUMNS if is_displaced and word.is_ahead else 0.0
            return self._is_vouched(word, parts, is_swapped=word.term in swapped, least=least)

        return find_misnamed(
            fact.text, swapped, is_vouched, self._is_measure, is_displaced=is_displaced
        )

    def _is_displaced(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether the sentence begins with a fact, and lacks a word of the question that names what its parts say."""
        stated = Text(self._sentence)
        return self._sentence.lstrip().startswith(fact.text.strip()) and any(
            not stated.has(term) and any(part.owns(term) for part in parts)
            for term in self._evidence.asked
        )

    def _is_swapped_in(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a word of a fact stands in the place of one of the question or of the part."""
        if self._joins_apart(part, fact):
            return True
        swapped = self._swapped | find_swapped(fact.text, part.sentence)
        words = (one for one in subject_words(fact.text) if one.term in swapped)
        return any(not self._is_vouched(word, (part,), is_swapped=True) for word in words)

    def _joins_apart(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether only two clauses together have all terms of a fact, each of which says more besides.

        "The host pays for the flat" joins what "the host pays for the roof, the guest for the flat" keeps apart.
        """
        if self._is_foreign(part):
            return False
        told = [all(one.has(term) for term in fact.new) for one in part.clauses]
        if is_replaced([one.plain for one in part.clauses], [not one for one in told]):
            return False  # what was replaced says of what
        every, stated = set(fact.terms), Text(f"{self._sentence} {self._evidence.question}")
        found = [({term for term in every if one.has(term)}, one) for one in part.clauses]
        telling = [
            terms
            for terms, one in found
            if any(not stated.has(term) for term in terms_of(one.plain))
        ]
        return all(terms != every for terms, _ in found) and any(
            one | other == every for one, other in combinations(telling, 2)
        )

    def _is_vouched(
        self,
        word: SubjectWord,
        parts: Sequence[EvidencePart],
        *,
        is_swapped: bool,
        least: float = 0.0,
    ) -> bool:
        """Return whether the question has a word, or one of the parts, or what it stands under.

        In the place of another word only what names the part itself counts.
        """
        least = max(least, HEADING if is_swapped or word.is_attribute else AHEAD)
        if word.is_mark:
            # "Grades 1 to 3" are asked for as grade 2; a label has no range.
            asked = contains_mark(self._question, word) and not (is_swapped and word.is_label)
            return asked or all(
                any(
                    contains_mark(text.plain, word) for level, text in part.layers if level >= least
                )
                for part in parts
            )
        return self._evidence.is_asked(word.term) or any(
            self._level(part, word.term) >= least for part in parts
        )

    def _is_measure(self, word: SubjectWord) -> bool:
        """Return whether a word says only what is measured, or asked for in other words: the price, asked how much."""
        return word.is_measure or any(
            word.term in terms and pattern.search(self._question) for terms, pattern in self._others
        )

    def _is_of_rival(self, term: str, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a part with another number of a kind that the fact has speaks of a term."""
        return any(
            part.owns(term)
            and any(competes(value, other) for value in fact.values for other in part.values)
            for part in self._parts
            if part not in parts and not self._is_foreign(part)
        )

    def _names_another_cell(self, best: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a fact, or what is said ahead of it, names another column or row than that of its number: Heron 3, not Heron 3 XL."""
        sentence = plain_of(self._sentence.partition(fact.text)[0] + fact.text)
        cells = [part for part in self._parts if part.is_row and part.passage == best.passage]
        columns = {part.column for part in cells if part.values and is_of_same_row(part, best)}
        rows = {part.row for part in cells if part.column == best.column and terms_of(part.row)}
        return best.is_row and any(
            its
            and plain_of(its) not in sentence
            and any(map(sentence.__contains__, map(plain_of, others - {""})))
            for its, others in ((best.column, columns), (best.row, rows))
        )

    def _owns_more(self, rival: EvidencePart, best: EvidencePart, fact: StatedFact) -> bool:
        """Return whether of two clauses of one sentence the other one speaks of the subject, all that this one does and more.

        What stands ahead of a clause in its sentence it speaks of, too.
        """
        if not (rival.is_clause and best.is_clause and is_of_same_sentence(rival, best)):
            return False
        about = terms_of(plain_of(fact.text)[: _first_number(fact.text)])
        owned = {term for term in about if rival.owns(term)}
        spoken = {term for term in about if best.speaks_of(term)}
        if self._is_elliptic(rival, best):
            owned |= spoken
        if owned > spoken:
            return True
        stated = {*self._subject, *(term for fact in self._facts for term in fact.terms)}
        marks = [*self._phrases, *filter(self._is_anywhere, stated)]
        return {one for one in marks if rival.speaks_of(one)} > {
            one for one in marks if best.speaks_of(one)
        }

    def _is_elliptic(self, part: EvidencePart, other: EvidencePart) -> bool:
        """Return whether a clause leaves out what one before it says: the P-30 weighs 8 kg, the P-50 12 kg."""
        own, its = (terms_of(one.layers[0][1].plain) for one in (part, other))
        return self._parts.index(part) > self._parts.index(other) and len(own) < len(its)

    def _is_exchanged(self, value: TextValue, fact: StatedFact, best: EvidencePart) -> bool:
        """Return whether a part with another number of the sentence speaks of this fact instead: two were exchanged.

        So does the other clause of one sentence, whatever its number.
        """
        owned = {term for term in fact.terms if best.owns(term)}
        others = [
            part
            for part in self._parts
            if any(competes(value, other) for other in part.values)
            and not any(mine.matches(other) for mine in fact.values for other in part.values)
            and (
                (part.is_clause and best.is_clause and is_of_same_sentence(part, best))
                or (not part.is_row and any(map(self._is_stated, part.values)))
            )
        ]
        return any({term for term in fact.terms if part.owns(term)} > owned for part in others)

    def _is_stated(self, value: TextValue) -> bool:
        return value.unit != ORDINAL and any(value.matches(stated) for stated in self._values)


def _first_number(text: str) -> int:
    """Return where the first number of a text stands; 0 for none."""
    return next((one.start for one in normalise_values(text) if one.value.unit != WEEKDAY), 0)
