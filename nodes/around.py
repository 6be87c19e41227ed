"""What accompanies passages in a prompt: reports, entities and relations, each in a line of its own."""

from __future__ import annotations

from collections.abc import Iterable

from domain.retrieval import ItemKind, RetrievedItem
from prompts import as_data


def lines_of(items: Iterable[RetrievedItem]) -> str:
    """Return reports, entities and relations as a prompt shows them, one a line."""
    return as_data("\n".join(f"- {' '.join(worded(item).split())}" for item in items))


def worded(item: RetrievedItem) -> str:
    """A report with its findings, an entity with its type, a relation."""
    if item.kind is ItemKind.ENTITY:
        return f"{item.text} ({item.metadata['type']})"
    findings = item.metadata.get("findings") or ()
    return " ".join([item.text, *(finding["text"] for finding in findings)])
