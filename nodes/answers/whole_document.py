"""A summary without a chat model rests on the whole document that is named, and not on what a search found of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from sextant.domain.retrieval import ItemKind, Retrieval, RetrievedItem
from sextant.models.offline.summary import named_for_summary

Search = Callable[[str], Awaitable[Retrieval]]

# Passages of one document that a summary is taken from.
MOST_PASSAGES = 40


async def with_whole_of_named(
    question: str, items: Sequence[RetrievedItem], search: Search
) -> list[RetrievedItem]:
    """Return `items`, and before them the passages of the document that `question` asks a summary of.

    Args:
        question: the question.
        items: the passages found, best first.
        search: finds passages of the document with this id.

    Raises:
        SextantError: what the search raises.
    """
    document = named_for_summary(question, items)
    if document is None:
        return list(items)
    found = [one for one in (await search(document)).results if one.kind is ItemKind.CHUNK]
    known = {one.id for one in found}
    return [*found, *(one for one in items if one.id not in known)]
