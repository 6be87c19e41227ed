"""What few documents are about: the passages that open them, where a question asks for the whole."""

from __future__ import annotations

import asyncio
from itertools import chain, zip_longest

from sextant.domain.breadth import find_other_subjects, is_broad
from sextant.domain.documents import DocumentStatus
from sextant.domain.retrieval import ItemKind, Mode, RetrievedItem
from sextant.domain.scope import Scope
from sextant.nodes.context import Dependencies
from sextant.nodes.state import State

SENTENCES = 8
"""So many sentences tell what the documents are about, or one of each document."""
# Of so many documents each is told; of more, reports tell the topics.
_FEW = 20
# Documents that are looked at for those that are ready, and passages that are taken of all together.
_LOOKED_AT, _PASSAGES = 50, 40


def asks_of_whole(question: str) -> bool:
    """Return whether a question asks what the documents are about, and of nothing in particular."""
    return is_broad(question) and not find_other_subjects(question).strip()


async def read_openings(state: State, deps: Dependencies, scope: Scope) -> list[RetrievedItem]:
    """Return the first passages of each document by turns; none where there are more than few.

    Raises:
        DependencyError: the store does not answer.
    """
    if deps.documents is None:
        return []
    chosen = (state.filters or {}).get("documentIds")
    if not chosen:
        listed = await deps.documents.list(scope, limit=_LOOKED_AT)
        chosen = [str(one.id) for one in listed if one.status is DocumentStatus.READY]
    if not 0 < len(chosen) <= _FEW:
        return []
    each = _PASSAGES // len(chosen)
    found = await asyncio.gather(*(_read_first(state, deps, scope, one, each) for one in chosen))
    return [item for item in chain.from_iterable(zip_longest(*found)) if item is not None]


async def _read_first(
    state: State, deps: Dependencies, scope: Scope, document: str, limit: int
) -> list[RetrievedItem]:
    """Return the first passages of one document, in their order; of a long one the first of those nearest."""
    found = await deps.retriever.search(
        scope,
        state.question,
        mode=Mode.NAIVE,
        top_k=_PASSAGES,
        filters={**(state.filters or {}), "documentIds": [document]},
    )
    passages = [item for item in found.results if item.kind is ItemKind.CHUNK]
    return sorted(passages, key=lambda item: item.metadata.get("start", 0))[:limit]
