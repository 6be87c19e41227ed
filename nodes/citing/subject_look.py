"""Whether a sentence speaks of what its evidence speaks of: its codes, names, labels, and words in another's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

from sextant.nodes.citing.evidence import (
    AHEAD,
    BEHIND,
    COLUMNS,
    HEADING,
    INHERITED,
    NEAR,
    OWN,
    EvidencePart,
)
from sextant.nodes.citing.evidence_index import (
    StatedFact,
)
from sextant.nodes.citing.passage_parts import cut_clauses
from sextant.nodes.citing.sentence_look import (
    SentenceLook,
    competes,
    is_of_same_row,
    is_of_same_sentence,
)
from sextant.nodes.citing.subjects import (
    ANY_MARK,
    SubjectWord,
    contains_mark,
    find_misnamed,
    find_owners,
    find_swapped,
    marks_by_kind,
    subject_words,
)
from sextant.nodes.citing.terms import Text, is_code, names_in, terms_of, wording_of
from sextant.text.characters import plain_of
from sextant.text.units import ORDINAL, WEEKDAY, TextValue
from sextant.text.values import normalise_values


@dataclass(frozen=True, slots=True)
class _Change:
    """Words of a statement from `start` to `end`, and as many as `width` from `at` on that stand for them."""

    tag: str
    start: int
    end: int
    at: int
    width: int


class SubjectLook(SentenceLook):
    """Compares what a fact names with what its parts are about."""

    def _codes_in(self, part: EvidencePart) -> frozenset[str]:
        """Return the codes of what is asked or said that a clause has itself; none of other parts."""
        codes = {*self._subject, *(term for fact in self._facts for term in fact.terms)}
        return frozenset(
            code for code in codes if part.is_clause and is_code(code) and part.owns(code)
        )

    def _has_codes(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a part speaks of the things that are named by a code, as far as any does."""
        codes = [term for term in (*self._subject, *fact.terms) if is_code(term)]
        return all(
            self._level(part, code) >= NEAR
            or not self._is_anywhere(code)
            or self._is_topic(code, part)
            for code in codes
        )

    def _are_of_another(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether parts say of something else what the question asks of a thing that no passage names."""
        asked = {
            owned: owners
            for owned, owners in find_owners(self._question).items()
            if not any(map(self._is_anywhere, owners))
        }
        same = [part for part in parts if asked and not self._is_foreign(part)]
        return bool(same) and all(
            not asked.keys().isdisjoint(find_owners(part.sentence)) for part in same
        )

    def _is_topic(self, code: str, part: EvidencePart) -> bool:
        """Return whether a passage begins with a code, and the sentence of a part names no other."""
        first = self._evidence.openings[part.passage]
        return Text(first).has(code) == 1.0 and not any(map(is_code, terms_of(part.sentence)))

    def _misses_name(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a fact names what the question does not, nor, near what it says, its parts in the same language."""
        same = [part for part in parts if not self._is_foreign(part)]
        names = names_in(fact.text).intersection(fact.new) if same else ()
        return any(
            all(
                self._level(part, name) < NEAR or self._names_someone_else(part, name)
                for part in same
            )
            for name in names
        )

    def _names_someone_else(self, part: EvidencePart, name: str) -> bool:
        """Return whether a part has other names in the place of one that stands elsewhere in its sentence or next to it."""
        if part.is_row or self._level(part, name) > BEHIND:
            return False
        others = names_in(part.wording) - {*self._subject, *terms_of(self._sentence)}
        return bool(others)

    def _replaces(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a fact says another word between the same two words: 归乙方所有 for 归甲方所有."""
        if part.is_row or self._is_foreign(part):
            return False
        stated, there = wording_of(fact.text), wording_of(part.sentence)
        matcher = SequenceMatcher(None, stated, there, autojunk=False)
        return any(
            one.tag == "replace"
            and one.end - one.start == 1
            and one.width == 1
            and one.start > 0
            and one.end < len(stated)
            and self._is_swapped(stated[one.start], there[one.at], part, fact)
            for one in _changes(matcher)
        )

    def _is_swapped(self, word: str, there: str, part: EvidencePart, fact: StatedFact) -> bool:
        mine, its = terms_of(word), terms_of(there)
        stated = {*self._subject, *(term for one in self._facts for term in one.terms)}
        return (
            bool(mine and its)
            and all(
                term in fact.new and self._is_known(term) and self._level(part, term) < OWN
                for term in mine
            )
            and stated.isdisjoint(its)
        )

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
            return contains_mark(self._question, word) or all(
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

    def _names_another_cell(self, best: EvidencePart) -> bool:
        """Return whether the sentence names another column or row than that of its number: Heron 3, not Heron 3 XL."""
        sentence = plain_of(self._sentence)
        cells = [part for part in self._parts if part.is_row and part.passage == best.passage]
        columns = {part.column for part in cells if part.values and is_of_same_row(part, best)}
        rows = {part.row for part in cells if part.column == best.column and terms_of(part.row)}
        return best.is_row and any(
            its
            and plain_of(its) not in sentence
            and any(map(sentence.__contains__, map(plain_of, others - {""})))
            for its, others in ((best.column, columns), (best.row, rows))
        )

    def _names_rival(
        self, fact: StatedFact, best: EvidencePart, rivals: Sequence[EvidencePart]
    ) -> bool:
        """Return whether a fact has just the names of another clause, of which that of its number has one more."""
        mine = self._names_in(fact.text)
        its = self._names_in(best.layers[0][1].plain)
        return not best.is_row and any(
            mine == self._names_in(rival.layers[0][1].plain) < its
            for rival in rivals
            if mine and rival.passage == best.passage
        )

    def _has_other_marks(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether all clauses and rows that say a fact say it of another number or letter: ward B, not ward C."""
        texts = self._evidence.question, self._sentence, fact.text
        mine = {kind: its for text in texts for kind, its in marks_by_kind(text).items() if kind}
        if not mine:
            return False
        labels = {int(mark) for its in mine.values() for mark in its if mark.isdecimal()}
        values = [value for value in fact.values if value.unit or value.number not in labels]
        spans = {(part.passage, part.span) for part in parts}
        said = [
            (
                _count_supported_words(text, fact.new, values),
                marks,
                (part.passage, part.span) in spans,
            )
            for part in self._whole
            if not self._is_foreign(part)
            for text, marks in _marked_pieces(part)
        ]
        least = max((count for count, _, is_quoted in said if is_quoted), default=0)
        its = [marks for count, marks, _ in said if count >= least > 0]
        return bool(its) and all(_is_other(mine, marks) for marks in its)

    def _names_in(self, text: str) -> frozenset[str]:
        words = (one for one in subject_words(text) if not (one.is_predicate or one.is_measure))
        return frozenset(one.term for one in words)

    def _owns_more(self, rival: EvidencePart, best: EvidencePart, fact: StatedFact) -> bool:
        """Return whether of two clauses of one sentence the other one speaks of the subject, all that this one does and more.

        What stands ahead of a clause in its sentence it speaks of, too.
        """
        if not (rival.is_clause and best.is_clause and is_of_same_sentence(rival, best)):
            return False
        if self._codes_in(rival) > self._codes_in(best):
            return True
        about = terms_of(plain_of(fact.text)[: _first_number(fact.text)])
        owned = {term for term in about if rival.owns(term)}
        if owned > {term for term in about if best.speaks_of(term)}:
            return True
        stated = {*self._subject, *(term for fact in self._facts for term in fact.terms)}
        marks = [*self._phrases, *filter(self._is_anywhere, stated)]
        return {one for one in marks if rival.speaks_of(one)} > {
            one for one in marks if best.speaks_of(one)
        }

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


def _marked_pieces(part: EvidencePart) -> Iterator[tuple[str, Mapping[str, frozenset[str]]]]:
    """Yield the clauses of a sentence, or a cell with its row, with the marks that they stand under."""
    if part.is_row:
        text = f"{part.row}; {part.column}; {part.layers[0][1].plain}"
        yield text, marks_by_kind(text)
        return
    above = [text.plain for level, text in part.layers if level in (HEADING, INHERITED)]
    marks = {kind: its for text in above for kind, its in marks_by_kind(text).items()}
    for clause in cut_clauses(part.sentence):
        marks.pop("", None)
        marks.update(marks_by_kind(clause))
        yield clause, dict(marks)


def _count_supported_words(text: str, terms: Sequence[str], values: Sequence[TextValue]) -> int:
    there, numbers = Text(text), [one.value for one in normalise_values(text)]
    return sum(there.has(term) == 1.0 for term in terms) + sum(
        any(map(value.matches, numbers)) for value in values
    )


def _is_other(mine: Mapping[str, frozenset[str]], its: Mapping[str, frozenset[str]]) -> bool:
    """Return whether the marks of a kind are other ones than those that are meant, which lie not between them either."""
    loose = its.get("", frozenset())
    return any(
        loose.isdisjoint(marks) and not any(_lies_among(mark, there) for mark in marks)
        for kind, marks in mine.items()
        if (there := its.get(kind)) and ANY_MARK not in there | marks
    )


def _lies_among(mark: str, marks: frozenset[str]) -> bool:
    """Return whether a mark is one of several or lies between two of them: 2, of 1 to 3."""
    least, most = (pick(marks, key=_in_order) for pick in (min, max))
    return _in_order(least) <= _in_order(mark) <= _in_order(most)


def _in_order(mark: str) -> tuple[int, str]:
    """Return where a mark stands among others: 9 ahead of 10."""
    return (int(mark) if mark.isdecimal() else 0, mark)


def _changes(matcher: SequenceMatcher[str]) -> Iterator[_Change]:
    for tag, start, end, at, until in matcher.get_opcodes():
        yield _Change(tag, start, end, at, until - at)


def _first_number(text: str) -> int:
    """Return where the first number of a text stands; 0 for none."""
    return next((one.start for one in normalise_values(text) if one.value.unit != WEEKDAY), 0)
