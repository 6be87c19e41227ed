"""Constants of the HNSW indexes, as `debug` and `--explain` tell them."""

from __future__ import annotations

from sextant.domain.settings import RetrievalSettings


def of_passages(settings: RetrievalSettings) -> dict[str, float]:
    """Return what an index over passages is built and searched by."""
    return {
        "hnswM": settings.hnsw_m,
        "hnswEfConstruction": settings.hnsw_ef_construction,
        "hnswEfSearch": settings.hnsw_ef_search,
    }


def of_entities(settings: RetrievalSettings) -> dict[str, float]:
    """Return the same of PostgreSQL's index over entities."""
    return {
        "entityM": settings.entity_m,
        "entityEfConstruction": settings.entity_ef_construction,
        "entityEfSearch": settings.entity_ef_search,
    }
