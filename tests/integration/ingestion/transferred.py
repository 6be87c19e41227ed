"""A small knowledge base as lines of an import, and what a database holds of one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from sextant.domain.scope import Scope
from sextant.ingestion.exporter import export_graph
from sextant.stores.postgresql.database import Database

Line = dict[str, Any]
FOLDER = Path(__file__).parents[3] / "samples" / "documents"
SAMPLES = [
    FOLDER / name
    for name in (
        "employee-handbook.docx",
        "糖尿病诊疗指南.pdf",
        "price-list-2025.xlsx",
        "rust-ownership.md",
    )
]
LINES: list[Line] = [
    # In no helpful order on purpose: the relations come first and a chunk before its document.
    {
        "type": "relation",
        "source": "e1",
        "target": "e2",
        "relationType": "TREATED_BY",
        "description": "First line.",
        "weight": 2.5,
        "chunkIds": ["c1", "c2"],
    },
    {"type": "relation", "source": "e2", "target": "e3", "relationType": "BRAND"},
    {"type": "chunk", "id": "c1", "documentId": "d1", "title": "治疗", "text": "二甲双胍治疗糖尿病。",
     "entities": ["糖尿病", {"name": "二甲双胍", "entityType": "DRUG", "description": "口服药"}],
     "triples": [["二甲双胍", "治疗", "糖尿病"]]},
    {"type": "document", "id": "d1", "title": "指南", "text": "前言。二甲双胍治疗糖尿病。结语。",
     "metadata": {"year": 2024}, "createdAt": "2024-05-01T00:00:00Z"},
    {"type": "chunk", "id": "c2", "documentId": "d1", "text": "Metformin is a biguanide."},
    {"type": "chunk", "id": "alone", "title": "Mercury", "text": "A planet and a metal."},
    {"type": "entity", "id": "e1", "name": "糖尿病", "entityType": "DISEASE",
     "description": "慢性病", "aliases": ["DM", "消渴"]},
    {"type": "entity", "id": "e2", "name": "二甲双胍", "entityType": "DRUG"},
    {"type": "entity", "id": "e3", "name": "Glucophage"},
    {"type": "entity", "id": "m1", "name": "Mercury", "entityType": "PLANET"},
    {"type": "entity", "id": "m2", "name": "mercury", "entityType": "METAL"},
    {"type": "relation", "source": "m1", "target": "m2", "relationType": "SAME_NAME_AS",
     "chunkIds": ["alone"]},
]  # fmt: skip


async def stream(lines: Iterable[Line]) -> AsyncIterator[Line]:
    for line in lines:
        yield line


async def exported(database: Database, scope: Scope) -> list[Line]:
    return [line async for line in export_graph(database, scope)]


def sorted_lines(lines: Iterable[Line]) -> list[str]:
    return sorted(json.dumps(line, sort_keys=True, ensure_ascii=False) for line in lines)


async def rows(database: Database, scope: Scope, table: str, columns: str) -> list[Any]:
    """Return what a table of the graph holds for one knowledge base, ids left out."""
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(
            f"select {columns} from {table} t join graphs g using (scope_id) "
            f"where g.graph_id = %s order by {columns}",
            [scope.graph_id],
        )
        return await cursor.fetchall()


async def facts(database: Database, scope: Scope) -> dict[str, list[Any]]:
    return {
        "chunks": await rows(
            database, scope, "chunks",
            "t.title, t.text, t.start_offset, t.end_offset, t.section_path, t.page, t.modality, "
            "t.context, t.summary, t.tags, t.topics, t.keywords, t.ordinal",
        ),
        "documents": await rows(
            database, scope, "document_versions",
            "t.filename, t.title, t.language, t.page_count, t.text",
        ),
        "sections": await rows(
            database, scope, "sections",
            "t.title, t.level, t.ordinal, t.start_offset, t.end_offset, t.path, t.heading_source, "
            "t.page, t.summary, t.tags, t.keywords",
        ),
        "merges": await rows(database, scope, "entity_merges", "t.reason, t.automatic"),
        "distinctions": await rows(
            database, scope, "entity_distinctions", "t.user_id"
        ),
        "entities": await rows(
            database, scope, "entities",
            "t.external_id, t.name, t.entity_type, t.description, t.mention_count, t.degree",
        ),
        "relations": await rows(
            database, scope, "relations", "t.relation_type, t.weight, t.evidence_count"
        ),
        "aliases": await rows(database, scope, "aliases", "t.norm, t.name, t.source"),
    }  # fmt: skip
