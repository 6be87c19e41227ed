"""What of the graph goes into a prompt beside its passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sextant.domain.breadth import find_other_subjects
from sextant.domain.graph import CO_OCCURS
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.around import KNOWLEDGE_TOKENS, PromptLines
from sextant.nodes.citing.support import TermLookup, claim_of


def knowledge_of(
    question: str,
    items: Sequence[RetrievedItem],
    passages: Iterable[RetrievedItem],
    tokens: float = KNOWLEDGE_TOKENS,
) -> str:
    """Return what the graph adds to the passages of a prompt: relations, then reports, one a line.

    That two terms stand together is no relation. A report adds what no passage and no line before it says, and of
    that what has a word of the question; all of it, where the question is about the documents as a whole.

    Args:
        question: what is asked.
        items: what was found, best first of each kind.
        passages: what the prompt shows.
        tokens: how many of them (estimated) there are left; no more than `KNOWLEDGE_TOKENS` are taken.
    """
    shown = (f"{item.metadata.get('title', '')}\n{item.text}" for item in passages)
    asked = claim_of(find_other_subjects(question))
    lines = PromptLines(
        min(tokens, KNOWLEDGE_TOKENS),
        shown,
        lambda sentence: not len(asked) or bool(TermLookup(sentence).held(asked)),
    )
    for item in items:
        if item.kind is ItemKind.RELATION and item.metadata.get("type") != CO_OCCURS:
            lines.add(item.text)
    for item in items:
        if item.kind is ItemKind.COMMUNITY:
            lines.add_report(item)
    return lines.text
