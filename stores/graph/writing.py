"""Changing a graph inside a transaction: evidence comes or goes, and what follows from it follows.

The steps are statements of `sql/queries/graph.sql`, which also says what each is for. A change is
noted in temporary tables as rows with a sign; deriving adds their sums to what is stored. Sums
commute, so no order of additions and deletions shows in the result.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID

from domain.graph import MentionKind
from domain.text import normalise_name
from stores.graph.evidence import Added, AliasRow, GraphEvidence, MentionRow, RelationRow, usable
from stores.graph.ids import NIL, name_key, name_tokens
from stores.pools import Connection
from stores.queries import load_queries

_SQL = load_queries("graph")

_TYPES = {
    "mentions": ["int4", "uuid", "uuid", "text", "int8", *["text"] * 4, "int4", "int4"],
    "relations": ["int4", "uuid", "uuid", "text", "uuid", "float8", "text"],
    "aliases": ["uuid", "int8", "text", "text", "text", "uuid"],
    "names": ["text", "int8[]"],
}

# From this many changed rows on, a plan made for few rows costs more than looking at them first.
_MANY = 2000


@dataclass(slots=True)
class GraphWriter:
    """The one writer of a graph, as long as its transaction lasts; make it with `writing`.

    Nothing is derived until the end of `writing`, so a large import may come in many batches.
    """

    connection: Connection
    scope_id: int
    user_id: str
    version: int
    projected: bool
    changes: int = 0
    losses: int = 0
    batches: int = 0
    _names: set[str] = field(default_factory=set)

    async def add(self, evidence: GraphEvidence) -> Added:
        """Store evidence; what is there already is passed over or, if it differs, replaced.

        Evidence by chunks or documents that are not there (any more), and mentions of aliases that
        are not there, is left out: their document was deleted meanwhile.
        """
        added = Added()
        kept, rows = await asyncio.to_thread(self._rows, evidence, added)
        for table, batch in rows.items():
            await self._copy(table, batch)
        if kept.aliases:
            added.aliases = await self._note("add_aliases")
        for table in ("mentions", "relations"):
            if not rows[table]:
                continue
            if self.version or self.batches:
                self.losses += await self._note(f"replace_{table}")
            setattr(added, table, await self._note(f"add_{table}"))
        await self._run("clear_incoming")
        self.batches += 1
        return added

    async def forget(self, document_id: UUID, ids: Sequence[UUID] | None = None) -> None:
        """Take away what a document said: all of it, or what the chunks `ids` of it said."""
        values = {"document_id": document_id, "ids": None if ids is None else list(ids)}
        for table in ("mentions", "relations"):
            self.losses += await self._note(f"forget_{table}", **values)
        if ids is None:
            self.losses += await self._note("forget_aliases", **values)

    async def derive(self) -> None:
        """Bring everything that is derived up to date with the evidence."""
        if not self.changes:
            return
        known = {"known": self.version > 0}
        if self.changes >= _MANY:
            await self._run("memory")
            await self._run("analyze_changes")
        await self.resolve()
        await self._run("derive_names")
        await self._run("derive_relation_states", **known)
        if self.changes >= _MANY:
            await self._run("analyze_relation_states")
        await self._run("derive_relations")
        if self.losses:
            await self._run("forget_names")
            await self._run("forget_gone_relations")
        await self._run("derive_entity_states", **known)
        await self._run("derive_entities")
        if self.version:
            await self._run("mark_communities")
            await self._run("forget_gone_entities")
            await self._run("forget_adjacency")
            await self._run("show_adjacency")
        await self._run("derive_adjacency")
        if self.projected:
            await self._run("note_projection")
        await self._run("bump")
        await self._run("clear_changes")
        self.version, self.changes, self.losses = self.version + 1, 0, 0

    async def resolve(self) -> None:
        """Settle under which entity each change counts, by the merges that are in force now."""
        for end in ("mentions", "aliases", "sources", "targets"):
            await self._run(f"resolve_{end}")

    async def execute(self, query: LiteralString, **values: object) -> int:
        """Execute a statement for this scope; returns the number of rows it changed.

        Not prepared: a plan that suits ten rows does not suit a hundred thousand.
        """
        key: dict[str, Any] = {"scope_id": self.scope_id, "user_id": self.user_id, "nil": NIL}
        cursor = await self.connection.execute(query, key | values, prepare=False)
        return cursor.rowcount

    async def _run(self, query: str, **values: object) -> int:
        return await self.execute(_SQL[query], **values)

    async def _note(self, query: str, **values: object) -> int:
        changed = await self._run(query, **values)
        self.changes += changed
        return changed

    async def _copy(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        async with self.connection.cursor().copy(_SQL[f"copy_{table}"]) as copy:
            copy.set_types(_TYPES[table])
            for row in rows:
                await copy.write_row(row)

    def _rows(
        self, evidence: GraphEvidence, added: Added
    ) -> tuple[GraphEvidence, dict[str, list[tuple[Any, ...]]]]:
        kept = usable(evidence, added.problems)
        called = {row.name for row in kept.mentions} | {row.name for row in kept.aliases}
        fresh = called - self._names
        self._names |= fresh
        return kept, {
            "names": [(name, name_tokens(name, self.scope_id)) for name in fresh],
            "aliases": list(_alias_rows(kept.aliases)),
            "mentions": list(_mention_rows(kept.mentions)),
            "relations": list(_relation_rows(kept.relations)),
        }


@asynccontextmanager
async def writing(connection: Connection, scope_id: int) -> AsyncIterator[GraphWriter]:
    """Keep other writers out of a graph until the transaction ends, and derive on the way out.

    A linker that reads the aliases here and adds what it found here misses no document that another
    worker adds at the same time: its chunks were stored before it got here.
    """
    await connection.execute(_SQL["workspace"])
    cursor = await connection.execute(_SQL["lock"], {"scope_id": scope_id})
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - an upsert returns its row
    writer = GraphWriter(connection, scope_id, *row)
    yield writer
    await writer.derive()


async def forget_document(
    connection: Connection, scope_id: int, document_id: UUID, ids: Sequence[UUID] | None = None
) -> None:
    """Take out of the graph what a document, or only its chunks `ids`, put into it."""
    async with writing(connection, scope_id) as writer:
        await writer.forget(document_id, ids)


def _mention_rows(mentions: Iterable[MentionRow]) -> Iterable[tuple[Any, ...]]:
    for place, row in enumerate(mentions):
        alias = row.kind is MentionKind.ALIAS
        yield (
            place,
            row.entity_id,
            row.chunk_id or NIL,
            row.kind.value,
            name_key(normalise_name(row.name)) if alias else 0,
            *row[3:],
        )


def _relation_rows(relations: Iterable[RelationRow]) -> Iterable[tuple[Any, ...]]:
    for place, row in enumerate(relations):
        yield (place, *row[:3], row.chunk_id or NIL, float(row.weight), row.description)


def _alias_rows(aliases: Iterable[AliasRow]) -> Iterable[tuple[Any, ...]]:
    for row in aliases:
        norm = normalise_name(row.name)
        yield (row.entity_id, name_key(norm), norm, row.name, row.source, row.document_id or NIL)
