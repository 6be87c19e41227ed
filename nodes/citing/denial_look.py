"""Whether passages deny what a sentence says, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sextant.nodes.citing.evidence import EvidencePart
from sextant.nodes.citing.evidence_index import (
    StatedFact,
)
from sextant.nodes.citing.sentence_look import SentenceLook
from sextant.nodes.citing.support import is_opposed
from sextant.nodes.citing.terms import Text
from sextant.text.statements import demands, leaves_free, negates

_ASKS_WHETHER = re.compile(
    r"\A\s*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|has|have)\b|吗\s*[?？]?\s*\Z|[能可]否|是否",
    re.IGNORECASE,
)


class DenialLook(SentenceLook):
    """Looks for words of denial on one side only."""

    def _is_denied(self, parts: Sequence[EvidencePart]) -> bool:
        same = [part for part in parts if not self._is_foreign(part)]
        if not same:
            return False
        whole = " ".join(dict.fromkeys(part.sentence for part in same))
        return is_opposed(self._sentence, whole)

    def _is_denied_elsewhere(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a clause denies what the sentence affirms of the same things, or the question asks for.

        A sentence that says a number may rest on one that does not speak of them at all.
        """
        if negates(self._sentence) or not _ASKS_WHETHER.search(self._evidence.question):
            stated = [(fact.text, fact.terms) for fact in self._facts if fact.values]
        else:
            stated = [(self._evidence.question, tuple(self._subject))]
        texts = [Text(part.sentence) for part in parts]
        unsaid = [
            (text, terms)
            for text, terms in stated
            if not any(all(one.has(term) == 1.0 for term in terms) for one in texts)
        ]
        return any(self._is_opposed(text, terms) for text, terms in unsaid) or any(
            self._demands_or_frees(fact) for fact in self._facts
        )

    def _demands_or_frees(self, fact: StatedFact) -> bool:
        """Return whether a fact demands what a clause leaves free, or the other way round."""
        tests = demands, leaves_free
        for mine, its in (tests, tests[::-1]):
            clauses = self._clauses_with(fact.terms) if mine(fact.text) else []
            if clauses and all(its(clause.plain) for clause in clauses):
                return True
        return False

    def _is_opposed(self, text: str, terms: Collection[str]) -> bool:
        """Return whether of the clauses that have all of some terms one denies, and none says the same without denial."""
        if negates(text) or not terms:
            return False
        clauses = self._clauses_with(terms)
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
