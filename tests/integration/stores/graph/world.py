"""A small world of entities for tests of the graph, and evidence about it in few words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.graph.evidence import (
    AliasRow,
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
)
from sextant.stores.graph.protocol import GraphStore

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


Row = MentionRow | RelationRow | AliasRow
Store = Callable[[Scope, Sequence[str]], Awaitable[Stored]]
Change = Callable[[Scope, GraphEvidence], Awaitable[None]]


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
    source: str, kind: str, target: str, chunk: UUID | None, weight: float = 1.0
) -> RelationRow:
    return RelationRow(named(source), named(target), kind, chunk, weight)


def alias(of: str, name: str, document_id: UUID | None, source: str = "title") -> AliasRow:
    return AliasRow(named(of), name, source, document_id)


def evidence(*rows: Row) -> GraphEvidence:
    return GraphEvidence(
        [row for row in rows if isinstance(row, MentionRow)],
        [row for row in rows if isinstance(row, RelationRow)],
        [row for row in rows if isinstance(row, AliasRow)],
    )


@dataclass(frozen=True)
class ReadSide:
    """A graph store, and how a test waits until it has taken over what the record holds."""

    graph: GraphStore
    catch_up: Callable[[Scope], Awaitable[None]]
