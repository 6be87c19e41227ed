"""Whether passages support a sentence: by what it says, not by how much it shares with them.

A sentence is cut into facts. Of each, its numbers (as values) and the terms that the question does not have must
stand in one part of a passage, a clause or a cell, that speaks of the same subject at least as much as any other
part with a number of that kind. What the question says needs no support.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from sextant.nodes.citing.evidence import EvidencePart
from sextant.nodes.citing.evidence_index import (
    ENOUGH,
    Assessment,
    EvidenceIndex,
    StatedFact,
    Support,
    language_of_sentence,
)
from sextant.nodes.citing.former import is_of_past
from sextant.nodes.citing.sentence_look import SentenceLook, asks_whether
from sextant.nodes.citing.subjects import find_swapped
from sextant.nodes.citing.support import SupportedQuote, is_opposed
from sextant.nodes.citing.terms import Text
from sextant.nodes.citing.value_look import ValueLook
from sextant.text.characters import plain_of
from sextant.text.statements import negates
from sextant.text.values import normalise_values

_YES_OR_NO = re.compile(
    r"(?<=\|)\s*(?:true|yes|on|是|有|支持|[√✓✔]|false|no|off|否|无|不支持|[×✗✘])\s*(?=\|)"
)
_NO = re.compile(r"false|no|off|[否无不×✗✘]")


class DenialLook(SentenceLook):
    """Looks for words of denial on one side only."""

    def _is_denied(self, parts: Sequence[EvidencePart]) -> bool:
        same = [part for part in parts if not self._is_foreign(part)]
        if not same:
            return False
        whole = " ".join(dict.fromkeys(part.sentence for part in same))
        cells = [one[0].strip() for one in _YES_OR_NO.finditer(plain_of(whole))]
        if len(cells) == 1 and asks_whether(self._evidence.question):
            # The one cell that says yes or no, if the sentence does not name it, says whether it is so.
            is_named = cells[0] in plain_of(self._sentence)
            return not is_named and negates(self._sentence) is not bool(_NO.match(cells[0]))
        stated, there = Text(self._sentence), Text(whole)
        terms = {*self._subject, *(term for fact in self._facts for term in fact.terms)}
        return is_opposed(self._sentence, whole) or any(
            there.has_opposite(term) and not stated.has_opposite(term) for term in terms
        )

    def _is_bounded_otherwise(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether parts have a number of the sentence only as the other bound: at most for more than."""
        there = [one.value for part in parts for one in normalise_values(part.sentence)]
        stated = (one.value for one in normalise_values(self._sentence))
        return any(
            (same := [other for other in there if value.matches(other)])
            and all(map(value.opposes, same))
            for value in stated
        )

    def _is_denied_elsewhere(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a clause denies what the sentence affirms of the same things, or the question asks for.

        A sentence that says a number may rest on one that does not speak of them at all.
        """
        if negates(self._sentence) or not asks_whether(self._evidence.question):
            stated = [(fact.text, fact.terms) for fact in self._facts if fact.values]
        else:
            stated = [(self._evidence.question, tuple(self._subject))]
        texts = [Text(part.sentence) for part in parts]
        return any(
            self._is_opposed(text, terms)
            for text, terms in stated
            if not any(all(one.has(term) == 1.0 for term in terms) for one in texts)
        )

    def _is_opposed(self, text: str, terms: Collection[str]) -> bool:
        """Return whether of the clauses that have all of some terms one denies, and none says the same without denial."""
        if negates(text) or not terms:
            return False
        clauses = self._clauses_with(terms)
        new = [term for fact in self._facts for term in fact.new if self._is_known(term)]
        if not all(any(clause.has(term) for clause in clauses) for term in new):
            return False  # it is said of something else
        return bool(clauses) and all(negates(clause.plain) for clause in clauses)

    def _clauses_with(self, terms: Collection[str]) -> list[Text]:
        """Return the clauses, in the language of the sentence, that have all of some terms."""
        return [
            clause
            for part in self._whole
            if terms and not part.is_row and not self._is_foreign(part)
            for clause in part.clauses or (part.layers[0][1],)
            if all(clause.has(term) == 1.0 for term in terms)
        ]


# A sentence is said in part where more than this share of its words is.
_PARTLY = 0.3
# So many sentences or rows that say nothing of it may lie between those that are quoted together.
_BETWEEN = 3


class AnswerEvidence(EvidenceIndex):
    """The passages of an answer, in which sentences are looked up."""

    def assess(
        self,
        sentence: str,
        *,
        preferred: Collection[int] = (),
        withheld: Collection[int] = (),
    ) -> Assessment:
        """Return how the passages support a sentence.

        Args:
            sentence: without markers.
            preferred: passages that it cites: of several that say it, one of these.
            withheld: passages that may no longer be cited.
        """
        swapped = find_swapped(sentence, self.question)
        found = self._assess(sentence, preferred, withheld, swapped)
        if swapped and found.support is Support.SUPPORTED:
            # What names something else than the question must stand by itself.
            return self._without_question._assess(sentence, preferred, withheld, swapped)
        return found

    @cached_property
    def _without_question(self) -> AnswerEvidence:
        evidence = AnswerEvidence(self.items)
        evidence.parts = self.parts
        return evidence

    def _assess(
        self,
        sentence: str,
        preferred: Collection[int],
        withheld: Collection[int],
        swapped: frozenset[str] = frozenset(),
    ) -> Assessment:
        facts = self.find_facts(sentence)
        if not facts:
            return Assessment(Support.UNSUPPORTED, 0.0)
        hidden, chosen = frozenset(withheld), frozenset(preferred)
        found = _Look(self, sentence, facts, hidden, chosen, swapped=swapped).assessed()
        passages = dict.fromkeys(part.passage for part in found.parts)
        if found.support is not Support.SUPPORTED or (
            len(passages) == 1 and chosen.issuperset(passages)
        ):
            return found
        # The fewer passages are cited, the better; of these those that the model cites.
        every = frozenset(range(len(self.items)))
        for few in dict.fromkeys([chosen - hidden, *(frozenset({one}) for one in passages)]):
            if few and (len(passages) > 1 or few == chosen - hidden):
                alone = _Look(
                    self, sentence, facts, every - few, chosen, swapped=swapped
                ).assessed()
                if alone.support is Support.SUPPORTED:
                    return alone
        return found

    def denies(self, sentence: str, passages: Collection[int]) -> bool:
        """Return whether these passages, in its language, lack a number of a sentence or say the opposite."""
        others = frozenset(range(len(self.items))).difference(passages)
        if any(self.languages[index] != language_of_sentence(sentence) for index in passages):
            return False
        found = self.assess(sentence, withheld=others)
        return found.support is Support.CONTRADICTED or not self.has_numbers(sentence, passages)

    def quote(
        self,
        part: EvidencePart,
        parts: Sequence[EvidencePart],
        share: float,
        *,
        foreign: bool = False,
    ) -> SupportedQuote:
        """Return the span of a passage that holds these parts of it, or the part alone where they lie far apart."""
        item = self.items[part.passage]
        offset = int(item.metadata.get("start") or 0)
        start, end = min(one.span[0] for one in parts), max(one.span[1] for one in parts)
        lying = {
            one.span
            for one in self.parts
            if one.passage == part.passage and start <= one.span[0] < end
        }
        if len(lying) > len({one.span for one in parts}) + _BETWEEN:
            start, end = part.span
        return SupportedQuote(item.text[start:end], offset + start, offset + end, share, foreign)


class _Look(ValueLook, DenialLook):
    """One look for a sentence."""

    def assessed(self) -> Assessment:
        """Return what the parts say of the whole sentence."""
        if self._evidence.invents(self._sentence):
            return Assessment(Support.UNSUPPORTED, 0.0)
        outcomes = self._with_names([self._of(fact) for fact in self._facts])
        parts = tuple(dict.fromkeys(part for one in outcomes for part in one.parts))
        worst = min(one.support for one in outcomes)
        share = sum(one.share for one in outcomes) / len(outcomes)
        if worst >= Support.SUPPORTED and share >= ENOUGH:
            if (
                self._is_denied(parts)
                or self._is_bounded_otherwise(parts)
                or self._is_denied_elsewhere(parts)
            ):
                return Assessment(Support.CONTRADICTED, share, parts)
            of_another = self._are_of_another(parts)
            return Assessment(Support.PARTIAL if of_another else worst, share, parts)
        if worst == Support.CONTRADICTED:
            return Assessment(worst, share, parts)
        if worst == Support.FOREIGN:
            return Assessment(worst, share, parts)
        partial = share > _PARTLY or self._touches()
        return Assessment(Support.PARTIAL if partial else Support.UNSUPPORTED, share, parts)

    @staticmethod
    def _with_names(outcomes: list[Assessment]) -> list[Assessment]:
        """Believe in another language what stands with a number of the sentence in one part."""
        sure = {
            (part.passage, part.span)
            for one in outcomes
            for part in one.parts
            if one.support is Support.SUPPORTED and part.values
        }
        return [
            replace(one, support=Support.SUPPORTED, share=max(ENOUGH, one.share))
            if one.support is Support.FOREIGN
            and one.parts
            and all((part.passage, part.span) in sure for part in one.parts)
            else one
            for one in outcomes
        ]

    def _of(self, fact: StatedFact) -> Assessment:
        """Return one fact: first its numbers, bound to their subject; then its words."""
        is_past = is_of_past(fact.text) or is_of_past(self._evidence.question)
        self._parts = self._every if is_past else self._current
        look = self._of_values if fact.values else self._of_words
        return look(fact, self._subject_of(fact))


def supporting(evidence: AnswerEvidence, found: Assessment) -> Iterator[tuple[int, SupportedQuote]]:
    """Yield the quotes that support a sentence, one a passage."""
    by_passage: dict[int, list[EvidencePart]] = {}
    for part in found.parts:
        by_passage.setdefault(part.passage, []).append(part)
    foreign = found.support is Support.FOREIGN
    for index, parts in by_passage.items():
        share = min(1.0, found.share)
        yield index, evidence.quote(parts[0], parts, share, foreign=foreign)
