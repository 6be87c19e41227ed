"""What tests of offline answers share: a passage, and the model whose usual cosines are known."""

from __future__ import annotations

from sextant.domain.retrieval import ItemKind, RetrievedItem

E5 = "intfloat/multilingual-e5-small"


def item(text: str) -> RetrievedItem:
    """Return a passage of this text."""
    return RetrievedItem(ItemKind.CHUNK, text[:8], text, 1.0)
