"""The examples of the OpenAPI document: one small knowledge base, imported and then asked.

Each runs as it stands once the import has (tests/integration/server/openapi holds it to that); only
ids that the server gives differ from case to case.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sextant.domain.scope import DEFAULT_USER, Scope
from sextant.stores.graph.ids import entity_id

GRAPH = "rust"
SOME_ID = UUID("0199b6c0-7d3a-7c11-9f2e-5a2b8c4d1e6f")
ENTITY_ID = entity_id(Scope(DEFAULT_USER, GRAPH), "所有权系统")

IMPORT = "\n".join(
    [
        '{"type": "document", "id": "book", "title": "Rust 程序设计", "createdAt": "2025-03-01T00:00:00Z"}',
        '{"type": "chunk", "id": "book-1", "documentId": "book", "title": "所有权", "text": "Rust 的所有权规则：'
        "每个值都有一个所有者；同一时刻只有一个所有者；所有者离开作用域时，值被丢弃。所有权系统让 Rust 不需要垃圾回收也能保证内存安全。"
        '", "entities": ["所有权系统"], "triples": [["借用检查器", "part_of", "所有权系统"]]}',
        '{"type": "chunk", "id": "book-2", "documentId": "book", "title": "借用", "text": "借用检查器在编译时检查引用：'
        '任一时刻，要么只有一个可变引用，要么有多个不可变引用。", "entities": ["借用检查器"]}',
        '{"type": "entity", "name": "所有权系统", "entityType": "concept", "description": "Rust的核心内存管理机制"}',
        '{"type": "entity", "name": "借用检查器", "entityType": "tool", "description": "编译时检查引用"}',
        "",
    ]
)
IMPORTED: dict[str, Any] = {
    "graphId": GRAPH,
    "documents": 1,
    "unchanged": 0,
    "chunks": 2,
    "entities": 2,
    "relations": 1,
    "problemCount": 0,
    "problems": [],
    "warnings": [],
    "codedWarnings": [],
    "pending": False,
    "graph": {"entities": 5, "relations": 1, "mentions": 20, "communities": 2},
    "graphAlone": False,
}
IMPORT_EVENTS = f"""\
id: 1
event: progress
data: {{"stage":"graph","done":2,"total":5}}

id: 2
event: done
data: {{"graphId":"{GRAPH}","documents":1,"chunks":2}}
"""
GRAPHS: dict[str, Any] = {
    "graphs": [
        {
            "graphId": GRAPH,
            "documents": 1,
            "chunks": 2,
            "createdAt": "2026-03-01T08:00:00Z",
            "pending": False,
            "unattended": False,
            "warnings": [],
            "codedWarnings": [],
        }
    ],
    "nextCursor": None,
}

QUESTIONS: dict[str, Any] = {
    "questions": [
        {
            "question": "“所有权”是什么？",
            "documentId": str(SOME_ID),
            "filename": "Rust 程序设计",
        }
    ]
}
SEARCH: dict[str, Any] = {
    "query": "Rust 的所有权规则是什么？",
    "graphId": GRAPH,
    "limit": 3,
    "filters": {"entityTypes": ["concept"], "createdAfter": "2024-01-01"},
    "includeNeighbors": True,
}
FOUND: dict[str, Any] = {
    "results": [
        {
            "chunkId": str(SOME_ID),
            "documentId": str(SOME_ID),
            "externalId": "book-1",
            "filename": "Rust 程序设计",
            "text": "Rust 的所有权规则：每个值都有一个所有者；……",
            "score": 0.81,
            "scores": {"vector": 1.0, "keyword": 1.0, "hybrid": 0.81, "final": 0.81},
            "semanticTitle": "所有权",
            "summary": "每个值都有一个所有者。",
            "topics": ["所有权"],
            "topicLabels": ["所有权"],
            "keywords": ["所有权", "作用域"],
            "tags": [],
            "entities": [{"name": "所有权系统", "type": "concept"}],
            "sectionId": str(SOME_ID),
            "parentSectionPath": ["Rust 程序设计"],
            "modality": "text",
            "page": None,
            "createdAt": "2025-03-01T00:00:00+00:00",
            "neighbors": [],
            "signals": None,
        }
    ],
    "nextCursor": None,
    "total": 1,
    "searchTimeMs": 12.4,
    "warnings": [],
    "debug": None,
}

ENTITY_SEARCH: dict[str, Any] = {
    "query": "Rust内存安全特性",
    "graphId": GRAPH,
    "topK": 10,
    "weights": {"vector": 0.5, "fts": 0.3, "graph": 0.2},
    "filters": {"entityTypes": ["concept", "tool"], "createdAfter": "2024-01-01"},
    "includeRelated": True,
    "rerank": False,
}
ENTITIES_FOUND: dict[str, Any] = {
    "results": [
        {
            "entity": {
                "id": str(ENTITY_ID),
                "name": "所有权系统",
                "description": "Rust的核心内存管理机制",
                "entityType": "concept",
            },
            "scores": {"vector": 0.92, "fts": 0.85, "graph": 0.60, "final": 0.81},
            "sources": ["vector", "fts", "graph"],
            "relatedEntities": [
                {
                    "entity": {"id": str(SOME_ID), "name": "借用检查器"},
                    "relationType": "part_of",
                }
            ],
        }
    ],
    "total": 1,
    "query": "Rust内存安全特性",
    "searchTimeMs": 156,
}
_NODE: dict[str, Any] = {
    "id": str(ENTITY_ID),
    "name": "所有权系统",
    "entityType": "concept",
    "description": "Rust的核心内存管理机制",
    "degree": 1,
    "centrality": 0.09,
}
_QUOTE: dict[str, Any] = {
    "chunkId": str(SOME_ID),
    "documentId": str(SOME_ID),
    "filename": "Rust 程序设计",
    "page": None,
    "sectionPath": ["Rust 程序设计"],
    "sentence": "所有权系统让 Rust 不需要垃圾回收也能保证内存安全。",
    "kind": "import",
    "start": 0,
    "end": 28,
}
ENTITY: dict[str, Any] = {
    **_NODE,
    "aliases": [],
    "mentionCount": 1,
    "externalId": None,
    "relations": [
        {
            "source": "借用检查器",
            "sourceId": str(SOME_ID),
            "relationType": "part_of",
            "target": "所有权系统",
            "targetId": str(ENTITY_ID),
            "weight": 1.0,
            "description": "",
            "evidence": [{**_QUOTE, "kind": "states"}],
        }
    ],
    "mentions": [_QUOTE],
    "merged": [],
    "communities": [],
}
SUBGRAPH: dict[str, Any] = {
    "nodes": [_NODE],
    "edges": [
        {
            "id": str(SOME_ID),
            "source": str(SOME_ID),
            "target": str(ENTITY_ID),
            "relationType": "part_of",
            "weight": 1.0,
        }
    ],
    "truncated": False,
}
DUPLICATES: dict[str, Any] = {
    "pairs": [
        {
            "oneId": str(SOME_ID),
            "oneName": "所有权系统",
            "otherId": str(ENTITY_ID),
            "otherName": "所有权体系",
            "reason": "similar spelling",
            "score": 0.67,
        }
    ],
    "nextCursor": None,
}
COMMUNITIES: dict[str, Any] = {
    "communities": [
        {
            "id": str(SOME_ID),
            "level": 0,
            "parentId": None,
            "title": "所有权系统、借用检查器",
            "summary": "Rust 怎样保证内存安全。",
            "findings": [{"text": "每个值都有一个所有者。", "chunkIds": [str(SOME_ID)]}],
            "rating": 6.5,
            "size": 2,
        }
    ],
    "nextCursor": None,
}
STRUCTURE: dict[str, Any] = {
    "documentId": str(SOME_ID),
    "graphId": GRAPH,
    "sections": [
        {
            "sectionId": str(SOME_ID),
            "parentSectionId": None,
            "title": "Rust 程序设计",
            "summary": "Rust 的所有权与借用。",
            "tags": [],
            "keywords": ["所有权", "借用"],
            "level": 0,
            "page": None,
            "start": 0,
            "end": 120,
        }
    ],
}
