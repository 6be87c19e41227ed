"""Find the sentences that answer the question better than those a bare answer is from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidates import Sentence, read_sentences
from sextant.models.offline.features import Evidence, load_weights
from sextant.nodes.citing.terms import Text
from sextant.text.characters import language_of
from sextant.text.units import TextValue
from sextant.text.values import normalise_values

# The difference in score from which one sentence answers clearly better than another. It was fitted so that at most one
# in a hundred right answers is refused (docs/experiments/citing.md).
_MARGIN = 2.25


class Competitors:
    """The sentences and rows of passages, scored by how well they answer a question."""

    def __init__(self, question: str, items: Sequence[RetrievedItem]) -> None:
        self._sentences = read_sentences(question, items)
        evidence = Evidence(question, items, self._sentences, language_of(question))
        self._scores = load_weights().score(evidence.measure_sentences()).tolist()

    def outdo(self, terms: Collection[str], values: Sequence[TextValue]) -> bool:
        """Return whether a sentence without these answers clearly better than all that have most of them.

        Where there are values, only a sentence with another value of their kind is a competitor.
        """
        read = [_Wording(one) for one in self._sentences]
        held = [one.count(terms, values) for one in read]
        most = max(held, default=0)
        holders = [score for score, count in zip(self._scores, held, strict=True) if count == most]
        kinds = {value.dimension for value in values}
        competitors = [
            score
            for score, count, wording in zip(self._scores, held, read, strict=True)
            if count < most and (not kinds or kinds & wording.kinds)
        ]
        return bool(most and competitors) and max(competitors) > max(holders) + _MARGIN


class _Wording:
    """The words and values of a sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self._text = Text(sentence.meaning)
        self._values = [found.value for found in normalise_values(sentence.meaning)]
        self.kinds = {value.dimension for value in self._values}

    def count(self, terms: Collection[str], values: Sequence[TextValue]) -> int:
        """Return how many of some terms and values the sentence has."""
        stated = (any(map(value.matches, self._values)) for value in values)
        return sum(self._text.has(term) > 0.5 for term in terms) + sum(stated)
