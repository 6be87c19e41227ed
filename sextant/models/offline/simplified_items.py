"""Passages in simplified characters, in which words are compared."""

from __future__ import annotations

from dataclasses import replace

from sextant.domain.retrieval import RetrievedItem
from sextant.text.characters import has_cjk
from sextant.text.simplified import simplify


def in_simplified(item: RetrievedItem) -> RetrievedItem:
    """Return the passage in simplified characters, whichever it is written in; offsets stay."""
    if not has_cjk(f"{item.text}{item.metadata}"):
        return item
    metadata = {name: _plain(value) for name, value in item.metadata.items()}
    return replace(item, text=simplify(item.text), metadata=metadata)


def _plain(value: object) -> object:
    if isinstance(value, str):
        return simplify(value)
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
