"""Documents with evidence about a small world, stored the way ingestion stores it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import pytest

from domain.graph import MentionKind
from domain.scope import Scope
from stores.chunks import Vectors
from stores.database import Database
from stores.graph.evidence import AliasRow, GraphEvidence, MentionRow, RelationRow
from stores.graph.ids import entity_id
from stores.graph.record import GraphRecord

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]

# Entities are named in one scope for all tests, so that graphs of several scopes compare.
WORLD = Scope("world", "world")


def named(name: str) -> UUID:
    return entity_id(WORLD, name)


@dataclass(frozen=True)
class Stored:
    """A stored document, its chunks in order, and where it lies."""

    scope: Scope
    document_id: UUID
    chunks: tuple[UUID, ...]


Store = Callable[[Scope, Sequence[str]], Awaitable[Stored]]


@pytest.fixture
def record(database: Database) -> GraphRecord:
    return GraphRecord(database)


@pytest.fixture
def store(ingest: Ingest, database: Database) -> Store:
    """Store a document of these chunks, without any evidence."""

    async def run(scope: Scope, texts: Sequence[str]) -> Stored:
        vectors = np.asarray(np.eye(len(texts), 384), np.float32)
        document_id = await ingest(scope, texts, vectors)
        async with database.transaction(scope.user_id) as connection:
            query = "select id from chunks where document_id = %s order by ordinal"
            cursor = await connection.execute(query, [document_id])
            return Stored(scope, document_id, tuple([row[0] async for row in cursor]))

    return run


def mention(
    name: str,
    chunk: UUID | None,
    kind: MentionKind = MentionKind.TERM,
    *,
    of: str | None = None,
    **more: str,
) -> MentionRow:
    """`of`: the entity, where it is not the one named `name`."""
    return MentionRow(named(of or name), chunk, kind, name, **more)  # type: ignore[arg-type]


def relation(
    source: str, kind: str, target: str, chunk: UUID | None, weight: float = 1.0, text: str = ""
) -> RelationRow:
    return RelationRow(named(source), named(target), kind, chunk, weight, text)


def alias(of: str, name: str, document_id: UUID | None, source: str = "title") -> AliasRow:
    return AliasRow(named(of), name, source, document_id)


def evidence(
    *rows: MentionRow | RelationRow | AliasRow,
) -> GraphEvidence:
    return GraphEvidence(
        [row for row in rows if isinstance(row, MentionRow)],
        [row for row in rows if isinstance(row, RelationRow)],
        [row for row in rows if isinstance(row, AliasRow)],
    )
