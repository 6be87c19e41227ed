"""The context of an answer as plain values: the graph's part and the passages' part (seed 002)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sextant.domain.retrieval import GraphContext, ItemKind, Retrieval, RetrievedItem, items_of


def assemble_graph_context(
    items: Retrieval | Iterable[RetrievedItem],
) -> dict[str, list[dict[str, Any]]]:
    """Return the entities and relations among `items`, most important first.

    Args:
        items: a retrieval (`GraphRetriever.search`), or items of any kind; the score of an entity or
            relation is its importance. What `aretrieve` returns holds none of them.

    Returns:
        `{"entities": [{id, name, type}], "relationships": [{source, target, type}]}`; a relationship
        leads from `source` to `target`, both ids of entities that are listed.

    Raises:
        OptionInvalid: which of `items` is none.
    """
    found = items.graph_items if isinstance(items, Retrieval) else items_of(items)
    told = GraphContext.of(sorted(found, key=lambda item: (-item.score, item.id)))
    return {"entities": list(told.entities), "relationships": list(told.relationships)}


def assemble_vector_context(items: Retrieval | Iterable[RetrievedItem]) -> list[dict[str, Any]]:
    """Return the passages among `items` in their order: `{text, metadata, score}`.

    `metadata` says where a passage is from: `chunk_id`, `document_id`, `source`, and what else the
    store knows of it (`RetrievedItem`).

    Raises:
        OptionInvalid: which of `items` is none.
    """
    return [
        {
            "text": item.text,
            "metadata": {
                **item.metadata,
                "chunk_id": item.id,
                "document_id": item.document_id,
                "source": item.metadata.get("source") or item.metadata.get("filename") or item.id,
            },
            "score": item.score,
        }
        for item in (items.results if isinstance(items, Retrieval) else items_of(items))
        if item.kind is ItemKind.CHUNK
    ]
