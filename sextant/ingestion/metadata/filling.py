"""Describes what was stored before ingestion did, from what is stored; nothing is parsed again."""

from __future__ import annotations

import asyncio

from sextant.domain.errors import DocumentNotFound
from sextant.domain.scope import Scope
from sextant.ingestion.metadata.describing import describe
from sextant.ingestion.progress import OnCount
from sextant.stores.documents.descriptions import Descriptions
from sextant.stores.postgresql.database import Database


async def fill(database: Database, scope: Scope, on_progress: OnCount | None = None) -> int:
    """Describe the chunks and sections of older documents; if it is stopped, it goes on later.

    Args:
        database: the store.
        scope: whose documents.
        on_progress: called with the documents done and those to do.

    Returns:
        How many documents were described.

    Raises:
        DatabaseUnavailable: what was described before stays.
    """
    stored = Descriptions(database, scope)
    waiting = await stored.undescribed()
    for done, document_id in enumerate(waiting, start=1):
        try:
            parsed = await stored.document(document_id)
        except DocumentNotFound:
            continue  # deleted meanwhile
        described = await asyncio.to_thread(describe, parsed)
        await stored.write(document_id, described.parsed)
        if on_progress is not None:
            on_progress(done, len(waiting))
    return len(waiting)
