"""Read names and chunks for entity linking, inside the writer's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from sextant.stores.chunks.grams import salt_grams
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.postgresql.queries import load_queries
from sextant.text.characters import lowercase

_SQL = load_queries("graph_names")


async def read_names(writer: GraphWriter) -> list[tuple[UUID, str]]:
    """Return every entity that can be found by name, with each of its spellings."""
    cursor = await writer.connection.execute(_SQL["names"], {"scope_id": writer.scope_id})
    return await cursor.fetchall()


async def has_chunks(writer: GraphWriter) -> bool:
    """Return whether the scope has chunks."""
    cursor = await writer.connection.execute(_SQL["has_chunks"], {"scope_id": writer.scope_id})
    return (await cursor.fetchone()) == (True,)


async def chunks_containing(
    writer: GraphWriter, names: Sequence[str], *, outside: Sequence[UUID]
) -> list[tuple[UUID, str]]:
    """Return id and text of the chunks that contain one of `names` as ILIKE finds them.

    The search uses the index of the keyword lane and includes a chunk's context. Chunks of the
    documents `outside` are left out.
    """
    words = sorted({folded for name in names if (folded := lowercase(name))})
    if not words:
        return []
    grams = salt_grams(words, writer.scope_id)
    cursor = await writer.connection.execute(
        _SQL["containing"],
        {
            "scope_id": writer.scope_id,
            "document_ids": list(outside),
            "words": words,
            "gram_words": [index for index, group in enumerate(grams, start=1) for _ in group],
            "grams": np.concatenate(grams).tolist(),
        },
    )
    return await cursor.fetchall()


async def live(writer: GraphWriter, versions: Mapping[UUID, int]) -> set[UUID]:
    """Return the documents whose live version is the given one."""
    key = {
        "scope_id": writer.scope_id,
        "document_ids": list(versions),
        "versions": list(versions.values()),
    }
    cursor = await writer.connection.execute(_SQL["live"], key)
    return {document_id async for (document_id,) in cursor}
