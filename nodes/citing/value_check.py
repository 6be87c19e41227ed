"""Check a sentence by its numbers: the part of the passages that speaks most of a fact's subject must have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations, pairwise
from operator import contains

from sextant.nodes.citing.evidence_index import ENOUGH, Assessment, StatedFact, Support
from sextant.nodes.citing.evidence_part import (
    NEAR,
    EvidencePart,
    has_value,
    holds_value,
    is_exactly,
)
from sextant.nodes.citing.terms import Text, numbers_in, terms_of
from sextant.nodes.citing.word_check import OF_CITED, WordCheck
from sextant.text.characters import find_whole, normalise, plain_of
from sextant.text.units import ORDINAL, WEEKDAY, TextValue
from sextant.text.values import normalise_values

# How much more another part must be about the subject, so that the number is not of it.
_LEAD = 0.1
# The share of a subject from which a part is about it for certain.
_SURELY = 0.5
# What a row loses for each term that the subject lacks, and how many count: the Heron 3 is not the Heron 3 XL.
_PER_EXTRA, _MOST_EXTRA = 0.008, 10
# What a cell gains for its row or column if that is named as the table does.
_PER_NAME = 0.1
# The least share of the subject that a part must have.
_SUBJECT = 0.35
# What a value was changed from, and what is said between it and the new one: raised from 40 to 55 EUR, 由3月改为6月.
_CHANGED_FROM = re.compile(
    r"\b(?:ris|rose|rais|increas|gr[eo]w|fell|reduc|lower|cut|mov|chang|postpon|shift|extend|shorten)\w* (?:\w+ ){0,3}from\s*\Z"
)
_CHANGED_TO = re.compile(
    r"[^，。；\d]{0,6}[改调变移延推升涨增降减缩提追][^，。；\d]{0,4}[为到至成][^，。；\d]{0,3}"
)
_SPEAKS_OF_THE_PAST = re.compile(
    r"\b(?:was|were|had|from|until|before|formerly|previously|originally|initially|used to)\b|原|曾|从|由|以前|之前|此前"
)


class ValueCheck(WordCheck):
    """Checks facts with numbers by these, and others by their words."""

    def _named(self, unit: str, fact: StatedFact) -> list[TextValue]:
        """Return the days of the week or ordinals of a fact, or else of its sentence, or else of the question."""
        stated = [
            [one.value for one in normalise_values(text)] for text in (fact.text, self._sentence)
        ]
        for values in (*stated, self._evidence.asked_values):
            if named := [value for value in values if value.unit == unit]:
                return named
        return []

    def _check_facts(self) -> list[Assessment]:
        found = [(fact, self._check_numbers(fact)) for fact in self._facts]
        every = tuple(part for _, some in found for _, one in some for part in one.parts)
        if _are_exchanged(found):
            return [Assessment(Support.CONTRADICTED, 0.0, every)]
        return [self._check_fact(fact, some) for fact, some in found]

    def _check_numbers(self, fact: StatedFact) -> Sequence[tuple[TextValue, Assessment]]:
        subject = self._weigh_subject(fact)
        numbered = [part for part in self._parts if part.values and fact.values]
        scores = {id(part): self._score(part, subject, fact.values) for part in numbered}
        return _drop_names([(v, self._check_value(v, fact, scores)) for v in fact.values])

    def _check_fact(
        self, fact: StatedFact, found: Sequence[tuple[TextValue, Assessment]]
    ) -> Assessment:
        if not found:
            return self._check_words(fact)
        parts = tuple(dict.fromkeys(part for _, one in found for part in one.parts))
        worst = min((one for _, one in found), key=lambda one: one.support)
        if worst.support is not Support.SUPPORTED:
            return Assessment(worst.support, worst.share, parts)
        if (
            self._shares_no_word(fact, parts)
            or self._misses_name(fact, parts)
            or any(self._is_of_another(part, fact) for part in parts)
        ):
            return Assessment(Support.PARTIAL, worst.share, parts)
        return Assessment(Support.SUPPORTED, max(ENOUGH, worst.share), parts)

    def _shares_no_word(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether parts with the numbers of a fact have none of its words, and the sentence none of the question."""
        same = [part for part in parts if not self._is_foreign(part)]
        is_bare = len(fact.new) < 2 or not self._stated.isdisjoint(self._asked)
        return bool(same) and not (
            is_bare or any(self._level(part, term) >= NEAR for part in same for term in fact.new)
        )

    def _score(
        self, part: EvidencePart, subject: dict[str, float], stated: Sequence[TextValue]
    ) -> float:
        """Return how much a part is about a subject, has the numbers of the question, and is named by stated ones."""
        covered = self._measure_share(part, subject)
        if asked := self._evidence.asked_values:
            covered += 0.3 * sum(self._measure_asked(part, value) for value in asked) / len(asked)
        if part.is_row and part.label:
            extra = [term for term in part.label if term not in subject and self._level(part, term)]
            covered -= _PER_EXTRA * min(_MOST_EXTRA, len(extra))
        if part.is_row:
            covered += _PER_NAME * sum(map(part.is_called, stated))
            names, rest = self._names
            for name in part.names:
                words = terms_of(name)
                share = sum(map(rest.has, words)) / (len(words) or 1)
                covered += _PER_NAME * (1.0 if name in names else share / 2)
        return covered

    @cached_property
    def _names(self) -> tuple[set[str], Text]:
        """Return the names of rows and columns in the sentence and the question, and the text without them.

        "Crane 2 L" does not name "Crane 2".
        """
        names = {name for part in self._parts if part.is_row for name in part.names if name}
        text, found = normalise(f"{self._sentence} | {self._evidence.question}"), set[str]()
        for name in sorted(names, key=len, reverse=True):
            if find_whole(text, name):
                found.add(name)
                text = text.replace(name, "|")
        return found, Text(text)

    def _measure_asked(self, part: EvidencePart, value: TextValue) -> float:
        """Return how far a part has a value of the question. A range counts only where no part has the value itself."""
        own = [
            one
            for one in (part.conditions if part.is_row else part.values)
            if not any(mine.matches(one) for mine in self._values)
        ]
        every = (v for part in self._parts for v in part.values)
        is_said = any(v.unit == value.unit and is_exactly(value, v) for v in every)
        holds = has_value if is_said else holds_value
        return 1.0 if holds(own, value) else 0.5 * holds(part.conditions, value)

    def _check_value(
        self, value: TextValue, fact: StatedFact, scores: dict[int, float]
    ) -> Assessment:
        """Check a number: of the parts with a number of its kind, the one most about the subject must have it."""
        carriers = [
            part
            for part in self._parts
            if any(value.matches(v) and not value.opposes(v) for v in part.values)
            and not self._is_of_another_turn(part, fact)
        ]
        best = max(
            carriers,
            key=lambda p: scores[id(p)] + OF_CITED * (p.passage in self._preferred),
            default=None,
        )
        rivals = self._rivals(value, carriers, best)
        rival = max(rivals, key=lambda p: scores[id(p)], default=None)
        if best is None:
            if rival and scores[id(rival)] >= _SURELY:
                return Assessment(Support.CONTRADICTED, 0.0, (rival,))
            return Assessment(Support.UNSUPPORTED, 0.0)
        score = scores[id(best)]
        if self._is_exchanged(value, fact, best) or any(
            self._owns_more(one, best, fact) for one in rivals
        ):
            return Assessment(Support.CONTRADICTED, score, (best,))
        if self._is_replaced(value, best):
            return Assessment(Support.PARTIAL, score, (best,))
        is_beside = (
            rival
            and scores[id(rival)] <= score
            and is_of_same_row(rival, best)
            and _is_in_other_unit(rival, value)
        )
        if rival and (is_beside or self._owns_more(best, rival, fact)):
            rival = None
        return Assessment(self._compare(best, score, rival, scores), score, (best,))

    def _is_replaced(self, value: TextValue, part: EvidencePart) -> bool:
        """Return whether a part says that a value was changed to one that is not stated: 40 of "raised from 40 to 55 EUR"."""
        said = f"{self._sentence} {self._evidence.question}"
        if part.is_row or _SPEAKS_OF_THE_PAST.search(said.lower()):
            return False
        plain = part.layers[0][1].plain
        return any(
            value.matches(old.value)
            and old.value.competes(new.value)
            and not self._is_stated(new.value)
            and (
                _CHANGED_TO.fullmatch(between := plain[old.end : new.start])
                or (between.strip() == "to" and _CHANGED_FROM.search(plain[: old.start]))
            )
            for old, new in pairwise(normalise_values(plain))
        )

    def _is_of_another_turn(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a part has days of the week or ordinals, but none that is named: the first flat for the second."""
        return any(
            bool(own and named) and not any(is_among(own, one) for one in named)
            for unit, is_among in ((WEEKDAY, holds_value), (ORDINAL, contains))
            if (own := [value for value in part.values if value.unit == unit])
            if (named := self._named(unit, fact))
        )

    def _rivals(
        self, value: TextValue, carriers: Sequence[EvidencePart], best: EvidencePart | None
    ) -> list[EvidencePart]:
        """Return the parts with another number of the same kind that the sentence lacks."""
        alike = any(value.bound == v.bound and value.matches(v) for p in carriers for v in p.values)
        bound = value.bound if alike else ""
        rivals = [
            p
            for p in self._parts
            if p not in carriers
            and (
                any(value.competes(other) and bound in ("", other.bound) for other in p.values)
                or (best and p.values and _is_of_same_column(p, best))
            )
            and (self._is_foreign(p) or not any(map(self._is_stated, p.values)))
        ]
        # 90 minutes beside every 4,000 hours are no rival.
        return [p for p in rivals if not best or not is_of_same_row(p, best) or _has_unit(p, value)]

    def _compare(
        self, best: EvidencePart, score: float, rival: EvidencePart | None, scores: dict[int, float]
    ) -> Support:
        """Compare the best part with a number and the best one with another."""
        against = scores[id(rival)] if rival else 0.0
        of_rows = best.is_row and rival is not None and rival.is_row
        if against > score + (_PER_EXTRA / 2 if of_rows else _LEAD):
            return Support.CONTRADICTED if against >= _SURELY else Support.PARTIAL
        foreign = self._is_foreign(best)
        if foreign and rival and against >= score:
            return Support.PARTIAL  # nothing tells which number is meant
        if score < _SUBJECT * (0.5 if foreign else 1.0) and self._asked:
            return Support.FOREIGN if foreign else Support.PARTIAL
        tied = of_rows and against >= score - _PER_EXTRA / 2
        return Support.PARTIAL if tied else Support.SUPPORTED

    def _owns_more(self, rival: EvidencePart, best: EvidencePart, fact: StatedFact) -> bool:
        """Return whether another clause of the same sentence has all terms of the subject that this one has, and more."""
        if not (rival.is_clause and best.is_clause and is_of_same_sentence(rival, best)):
            return False
        about = terms_of(plain_of(fact.text)[: _find_number(fact.text)])
        if {t for t in about if rival.owns(t)} > {t for t in about if best.speaks_of(t)}:
            return True
        ahead = terms_of(self._sentence.partition(fact.text)[0])
        marks = list(filter(self._is_anywhere, {*self._asked, *ahead, *fact.terms}))
        return {t for t in marks if rival.speaks_of(t)} > {t for t in marks if best.speaks_of(t)}

    def _is_exchanged(self, value: TextValue, fact: StatedFact, best: EvidencePart) -> bool:
        """Return whether a part with another number has all terms of a fact that this one has, and more.

        Its number must be another one of the sentence, as where two were exchanged, or stand in the same sentence.
        """
        owned = {term for term in fact.terms if best.owns(term)}
        ordinals = [v for v in numbers_in(fact.text) if v.unit == ORDINAL and v in best.values]
        return any(
            {term for term in fact.terms if part.owns(term)} > owned
            and all(has_value(part.values, one) for one in ordinals)
            for part in self._parts
            if any(value.competes(other) for other in part.values)
            and not any(mine.matches(other) for mine in fact.values for other in part.values)
            and (
                (part.is_clause and best.is_clause and is_of_same_sentence(part, best))
                or (
                    not part.is_row
                    and any(self._is_stated(v) for v in part.values if v.unit != ORDINAL)
                )
            )
        )

    def _is_stated(self, value: TextValue) -> bool:
        return any(value.matches(stated) for stated in self._values)


def is_of_same_sentence(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two parts stand in one sentence, or in one row."""
    begins, ends = zip(one.span, other.span, strict=True)
    return one.passage == other.passage and max(begins) < min(ends)


def is_of_same_row(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two cells stand in one row."""
    return one.is_row and other.is_row and is_of_same_sentence(one, other)


def _is_of_same_column(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two cells stand in one named column."""
    is_named = one.column == other.column != ""
    return one.is_row and other.is_row and one.passage == other.passage and is_named


def _drop_names(
    found: Sequence[tuple[TextValue, Assessment]],
) -> Sequence[tuple[TextValue, Assessment]]:
    """Drop values that only name the row or column of another one: seniors (65+), 4 EUR."""
    return [
        (value, one)
        for value, one in found
        if not any(
            part.is_called(value)
            for other, its in found
            if other is not value and its.support is Support.SUPPORTED
            for part in its.parts
        )
    ] or found


def _are_exchanged(
    found: Sequence[tuple[StatedFact, Sequence[tuple[TextValue, Assessment]]]],
) -> bool:
    """Return whether two numbers were exchanged: they stand in different parts, each with another number of its kind.

    A fact that has terms of its own part may be about another row than the fact before.
    """
    supported = [
        (fact, value, part)
        for fact, some in found
        for value, one in some
        if one.support is Support.SUPPORTED
        for part in one.parts
    ]
    stated = [value for _, some in found for value, _ in some]
    return any(
        part is not other
        and not is_of_same_row(part, other)
        and (fact is its_fact or not any(map(other.owns, its_fact.terms)))
        and _has_instead(its, part, other, stated)
        and _has_instead(value, other, part, stated)
        for (fact, value, part), (its_fact, its, other) in combinations(supported, 2)
    )


def _has_instead(
    value: TextValue, part: EvidencePart, other: EvidencePart, stated: Sequence[TextValue]
) -> bool:
    """Return whether a part has, instead of a value of another part, a number of its kind that the sentence lacks."""
    is_near = is_of_same_sentence(part, other)
    return any(
        value.competes(v) and v.unit == value.unit and not any(s.matches(v) for s in stated)
        for v in (part.values if is_near or not part.conditions else part.conditions)
    )


def _has_unit(part: EvidencePart, value: TextValue) -> bool:
    return any(
        v.unit == value.unit or value.dimension == v.dimension == "money" for v in part.values
    )


def _is_in_other_unit(part: EvidencePart, value: TextValue) -> bool:
    """Return whether all values of a part have another unit: the price in euros beside that in yuan."""
    return bool(value.unit) and all(v.unit not in ("", value.unit) for v in part.values)


def _find_number(text: str) -> int:
    """Return the offset of the first number in a text; 0 for none."""
    return next((one.start for one in normalise_values(text) if one.value.unit != WEEKDAY), 0)
