"""A file that is taken in from memory."""

from __future__ import annotations

from typing import Any

from sextant.domain.scope import Scope
from sextant.ingestion.parsing.detect import media_type
from sextant.ingestion.pipeline import Ingested, Ingestor
from sextant.ingestion.progress import OnProgress
from sextant.stores.documents.registration import Upload


async def ingest_bytes(
    ingestor: Ingestor,
    scope: Scope,
    content: bytes,
    filename: str,
    *,
    source: str | None = None,
    metadata: dict[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> Ingested:
    """Take one file in; `source` names it for replacement (default: its file name)."""
    named = source or filename
    upload = Upload(named, filename, media_type(filename), content, metadata=metadata)
    return await ingestor.ingest_upload(scope, upload, on_progress)
