"""The examples of the documents' routes in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from sextant.server.schemas.examples import SOME_ID

GRAPH = "rust"
_TEXT: dict[str, Any] = {
    "text": "# 借用\n\n借用检查器在编译时检查引用。",
    "title": "借用.md",
    "externalId": "rust-borrowing",
    "metadata": {"author": "R. Ling"},
    "graphId": GRAPH,
}
_JOB: dict[str, Any] = {
    "jobId": str(SOME_ID),
    "stage": "embed",
    "done": 8,
    "total": 31,
    "attempts": 1,
    "errorCode": None,
    "error": None,
    "notBefore": None,
    "unattended": False,
    "warnings": [],
    "warningCodes": [],
}
UPLOADED: dict[str, Any] = {
    "graphId": GRAPH,
    "documents": [
        {
            "filename": "借用.md",
            "documentId": str(SOME_ID),
            "jobId": str(SOME_ID),
            "unchanged": False,
            "sameAs": None,
            "sameNameAs": None,
            "problem": None,
        }
    ],
}
PROGRESS: dict[str, Any] = {
    "documentId": str(SOME_ID),
    "graphId": GRAPH,
    "filename": "借用.md",
    "status": "ingesting",
    "chunkCount": 8,
    "job": _JOB,
}
DOCUMENT: dict[str, Any] = {
    "documentId": str(SOME_ID),
    "graphId": GRAPH,
    "externalId": "rust-borrowing",
    "source": "rust-borrowing",
    "filename": "借用.md",
    "title": "借用",
    "mediaType": "text/markdown",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sizeBytes": 52,
    "status": "ready",
    "language": "zh",
    "pageCount": None,
    "chunkCount": 1,
    "metadata": {"author": "R. Ling"},
    "createdAt": "2026-03-01T08:00:00Z",
    "updatedAt": "2026-03-01T08:00:02Z",
    "error": None,
    "coverage": {
        "stored": {"heading": 2, "text": 17},
        "leftOut": {},
        "notRead": {},
        "found": 16,
        "missing": 0,
    },
    "parentId": None,
    "job": {**_JOB, "stage": "done", "done": 1, "total": 1},
}
PAGE: dict[str, Any] = {"documents": [DOCUMENT], "nextCursor": None}
SLICE: dict[str, Any] = {
    "documentId": str(SOME_ID),
    "start": 0,
    "end": 4,
    "text": "# 借用",
}
BOXES: dict[str, Any] = {
    "documentId": str(SOME_ID),
    "start": 120,
    "end": 170,
    "boxes": [{"page": 2, "x0": 0.12, "y0": 0.31, "x1": 0.88, "y1": 0.325}],
}
FILE = "# 借用\n\n…"
EVENTS = (
    'id: 1\nevent: progress\ndata: {"documentId":"…","status":"ingesting",'
    '"job":{"stage":"embed","done":8,"total":31}}\n\n'
    'id: 2\nevent: done\ndata: {"documentId":"…","status":"ready","job":{"stage":"done"}}\n\n'
)


def upload_body(text: type[BaseModel]) -> dict[str, Any]:
    """Return the two bodies that an upload may have; `text` is the one as JSON."""
    form = {
        "type": "object",
        "required": ["files"],
        "additionalProperties": False,
        "properties": {
            "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "graphId": {"type": "string", "minLength": 1, "maxLength": 200},
            "externalId": {"type": "string", "minLength": 1, "maxLength": 200},
            "metadata": {"type": "string", "description": "A JSON object."},
            "replace": {
                "type": "string",
                "enum": ["true", "false"],
                "description": "Whether files take the place of documents of their names.",
            },
        },
    }
    return {
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {"schema": form},
                "application/json": {"schema": text.model_json_schema(), "example": _TEXT},
            },
        }
    }
