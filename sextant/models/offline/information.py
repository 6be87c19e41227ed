"""How much of what a question asks some terms have, and how much of it beyond the name of their document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import names_of_document
from sextant.models.offline.wording import IDENTIFIER, terms

_MOSTLY_NAME = 0.8
_IDENTIFIER_FACTOR = 3.0
# Of a follow-up's information, what it asks instead of something else has this share.
_INSTEAD_SHARE = 2 / 3


class Information:
    """What each term of a question tells, by its inverse document frequency over the sentences at hand.

    Args:
        asked: the terms of the question.
        instead: of these, what a follow-up asks in place of something else.
        sentences: the terms of each sentence.
        passages: from which these are.
    """

    def __init__(
        self,
        asked: frozenset[str],
        instead: frozenset[str],
        sentences: Sequence[frozenset[str]],
        passages: Sequence[RetrievedItem],
    ) -> None:
        self._weights = _weights(asked, instead, sentences)
        named = [asked & frozenset(terms(names_of_document(passage))) for passage in passages]
        self._known = [frozenset(term for term in name if IDENTIFIER.match(term)) for name in named]
        # A question that is little more than a document's name asks for what bears that name.
        self._names = [
            name - known if self.share(name) <= _MOSTLY_NAME else frozenset[str]()
            for name, known in zip(named, self._known, strict=True)
        ]

    def share(self, held: frozenset[str]) -> float:
        """Return how much of the question's information `held` has, 0..1."""
        return sum(weight for term, weight in self._weights.items() if term in held)

    def beyond_name(self, source: int, held: frozenset[str]) -> float:
        """Return how much of what the question asks beyond the name of passage `source`'s document `held` has, 0..1.

        Words of the name choose the document; a sentence that repeats them answers no better.
        """
        name = self._names[source]
        return self.share((held | self._known[source]) - name) / (1 - self.share(name))


def _weights(
    asked: frozenset[str], instead: frozenset[str], sentences: Sequence[frozenset[str]]
) -> dict[str, float]:
    """Return the share of the question's information that each of its terms carries; they sum to 1."""
    frequency = Counter(term for held in sentences for term in asked & held)
    rarity = {
        term: math.log(1 + (len(sentences) + 1) / (frequency[term] + 0.5))
        * (_IDENTIFIER_FACTOR if IDENTIFIER.match(term) and frequency[term] else 1.0)
        for term in asked
    }
    own = sum(rarity[term] for term in asked & instead)
    if rest := sum(rarity.values()) - own:
        rarity |= {
            term: rarity[term] / own * rest * _INSTEAD_SHARE / (1 - _INSTEAD_SHARE)
            for term in asked & instead
        }
    return {term: value / sum(rarity.values()) for term, value in rarity.items()}
