"""Queries for the next hop of a question, by rule: what the best passages name and the question does not.

"When did the state where Pocahontas Mounds is located become part of the United States?" finds the
passage on Pocahontas Mounds, which names Mississippi. What that passage does not say of the question
("become part United States"), asked of Mississippi, finds the next one. Passages found this way are
compared by their cosine to such a query, one hop at a time.

The idea is that of iterative retrieval (Qi et al. 2019, arXiv 1910.07000; Xiong et al. 2021, arXiv
2009.12756), without a trained model; docs/evaluation.md has what it finds and costs.
"""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.nodes.question.names import telling_words
from sextant.text.characters import normalise

# Flat on five question sets between two and four names.
_LEADS = 2
_NAMES_OF_LEAD = 4


def bridges(
    question: str, passages: Sequence[RetrievedItem], around: Sequence[RetrievedItem]
) -> list[str]:
    """Return queries from the first two passages, for up to four names of each, best first.

    Args:
        question: what is asked.
        passages: found so far, best first.
        around: entities (among others) that go with them, most important first.
    """
    asked = normalise(question)
    names = [normalised for normalised in _names(around) if normalised[1] not in asked]
    words = telling_words(question)
    queries: list[str] = []
    for lead in passages[:_LEADS]:
        text = wording_of(lead)
        open_words = [word for word in words if text.covers(claim_of(word)) < 1]
        met = [name for name, folded in names if text.says(folded)]
        queries += [" ".join([name, *open_words]) for name in met[:_NAMES_OF_LEAD]]
    return queries


def wording_of(item: RetrievedItem) -> TermLookup:
    """Return what a passage says, with the headings above it."""
    return TermLookup(f"{headings(item)}\n{item.metadata.get('title', '')}\n{item.text}")


def _names(around: Sequence[RetrievedItem]) -> list[tuple[str, str]]:
    """Return names of entities with their folded form."""
    found = (str(item.metadata["name"]) for item in around if item.kind is ItemKind.ENTITY)
    return [(name, normalise(name)) for name in dict.fromkeys(found)]
