"""Change a graph inside a transaction: add or remove evidence, and update what derives from it.

The steps are the statements of `sql/queries/graph.sql`, which explains each. A change is noted in
temporary tables as rows with a sign; deriving adds their sums to the stored values. Sums commute, so
the result does not depend on the order of additions and deletions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID

from sextant.domain.graph import CO_OCCURS
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.evidence import (
    AliasRow,
    EvidenceRows,
    GraphEvidence,
    name_digest,
    one_line,
)
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import ScopeRow, hold_scope
from sextant.text.characters import normalise_name

_SQL = load_queries("graph")

_TYPES = {
    "mentions": ["int4", "uuid", "uuid", "text", "int8", *["text"] * 4, "int4", "int4"],
    "relations": ["int4", "uuid", "uuid", "text", "uuid", "float8", "text"],
    "aliases": ["uuid", "int8", "text", "text", "text", "uuid"],
}

# From this many changed rows on, analysing the temporary tables pays off.
_MANY = 2000


@dataclass(slots=True)
class GraphWriter:
    """The only writer of a graph while its transaction lasts; create it with `writing`.

    Added evidence is stored and derived at the end of `writing`, all at once, so a large import may
    consist of many batches.

    Attributes:
        version: the version of the graph, which `derive` increases.
    """

    connection: Connection
    scope_id: int
    user_id: str
    version: int
    projected: bool
    _waiting: dict[str, int] = field(default_factory=dict)
    _ordinal: int = 0
    _changes: int = 0
    _losses: int = 0
    _loaded: bool = False
    _many: bool = False

    async def add(self, evidence: GraphEvidence) -> None:
        """Add evidence; skip rows that cannot be stored.

        Existing rows are skipped or, if they differ, replaced; of equal keys the last one counts.
        Evidence of unknown chunks or documents, and mentions of unknown aliases, is dropped: their
        document was deleted meanwhile.
        """
        accepted = EvidenceRows(self._ordinal)
        await asyncio.to_thread(accepted.add, evidence)
        self._ordinal = accepted.ordinal
        await self._copy("aliases", accepted.aliases)
        await self._copy("mentions", accepted.mentions)
        await self._copy("relations", accepted.relations)

    async def forget(
        self, document_id: UUID, ids: Sequence[UUID] | None = None, *, give_back: bool = False
    ) -> None:
        """Remove the evidence of a document, or only that of its chunks `ids`.

        `give_back`: facts that its passages state in the user's stead become the user's assertions.
        """
        await self.derive()
        if give_back:
            await self._gain(_SQL["give_back"], document_id=document_id)
        values = {"document_id": document_id, "ids": None if ids is None else list(ids)}
        for table in ("mentions", "relations"):
            await self._lose(f"forget_{table}", **values)
        await self._run("forget_extractions", **values)
        if ids is None:
            await self._lose("forget_aliases", document_id=document_id, entities=None, keys=None)

    async def keep_aliases(self, entities: Sequence[UUID], aliases: Sequence[AliasRow]) -> None:
        """Remove the aliases that earlier imports gave these entities, except `aliases`."""
        if not self.version:
            return
        key = {"scope_id": self.scope_id, "entities": list(entities), "nil": NIL}
        existing = await (await self.connection.execute(_SQL["said_aliases"], key)).fetchall()
        wanted = {
            (row.entity_id, name_digest(normalise_name(one_line(row.name)))) for row in aliases
        }
        if removed := [row for row in existing if row not in wanted]:
            owners, keys = zip(*removed, strict=True)
            await self._lose(
                "forget_aliases", document_id=NIL, entities=list(owners), keys=list(keys)
            )

    async def derive(self) -> None:
        """Store the added evidence, and update everything that derives from it."""
        await self._store()
        # In a pipeline the server does not wait for the client between statements.
        async with self.connection.pipeline():
            if self._changes:
                await self._derive(many=self._changes >= _MANY)
                await self._run("bump")
                self.version += 1
            if self._ordinal or self._changes:
                many = self._ordinal + self._changes >= _MANY
                await self._run("clear_many" if many else "clear_few")
        self._ordinal = self._changes = self._losses = 0
        self._loaded = False

    async def _derive(self, *, many: bool) -> None:
        known = {"known": self.version > 0}
        if many:
            await self._expect_many()
            await self._run("analyze_changes")
        await self.resolve()
        await self._run("derive_names")
        if self._losses:
            await self._run("forget_names")
        if not self._loaded:
            await self._run("derive_relation_states", **known)
        if many:
            await self._run("analyze_relation_states")
        await self._run("derive_entity_states", **known)
        await self._run("derive_entities")
        if self.version:
            await self._run("mark_communities")
            if self._losses:
                await self._run("forget_gone_entities")
                await self._run("forget_gone_relations")
            await self._run("show_relations")
            await self._run("change_relations")
        await self._run("derive_relations")
        if self.projected:  # a first copy is cheaper whole
            await self._run("note_projection" if self.version else "note_everything")

    async def resolve(self) -> None:
        """Map each change to the entity to which it belongs by the current merges."""
        await self._run("resolve")

    async def note(self, query: LiteralString, **values: object) -> int:
        """Execute a statement that notes changes, possibly removals; return their number."""
        changed = await self._gain(query, **values)
        self._losses += changed
        return changed

    async def execute(self, query: LiteralString, **values: object) -> int:
        """Execute a statement for this scope; return the number of changed rows.

        It is prepared for few rows only: a plan for ten rows does not suit a hundred thousand.
        """
        key: dict[str, Any] = {
            "scope_id": self.scope_id,
            "user_id": self.user_id,
            "nil": NIL,
            "co_occurs": CO_OCCURS,
        }
        cursor = await self.connection.execute(query, key | values, prepare=not self._many)
        return cursor.rowcount

    async def _store(self) -> None:
        """Store the waiting rows as evidence, and note new ones."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        if sum(waiting.values()) >= _MANY:
            await self._expect_many()
            await self._run("analyze_incoming")
        if "aliases" in waiting:
            await self._gain(_SQL["add_aliases"])
        if "mentions" in waiting:
            await self._replace("mentions", waiting["mentions"])
        if "relations" in waiting and not self.version and not await self._run("is_merged"):
            await self._gain(_SQL["load_relations"])
            self._loaded = True
        elif "relations" in waiting:
            await self._replace("relations", waiting["relations"])

    async def _expect_many(self) -> None:
        if not self._many:
            self._many = True
            await self._run("plan_for_many")

    async def _replace(self, table: str, number: int) -> None:
        """Add rows; existing ones that differ are removed first."""
        added = await self._gain(_SQL[f"add_{table}"])
        if self.version and added < number and await self._lose(f"replace_{table}"):
            await self._gain(_SQL[f"add_{table}"])

    async def _gain(self, query: LiteralString, **values: object) -> int:
        changed = await self.execute(query, **values)
        self._changes += changed
        return changed

    async def _lose(self, query: str, **values: object) -> int:
        return await self.note(_SQL[query], **values)

    async def _run(self, query: str, **values: object) -> int:
        return await self.execute(_SQL[query], **values)

    async def _copy(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        self._waiting[table] = self._waiting.get(table, 0) + len(rows)
        async with self.connection.cursor().copy(_SQL[f"copy_{table}"]) as copy:
            copy.set_types(_TYPES[table])
            for row in rows:
                await copy.write_row(row)


@asynccontextmanager
async def writing(connection: Connection, scope_id: int) -> AsyncIterator[GraphWriter]:
    """Lock a graph for writing until the transaction ends, and derive at the end of the block.

    A linker that reads aliases and adds mentions in the block misses no document that another worker
    adds concurrently, since that document's chunks are stored before its worker gets the lock.
    """
    cursor = await connection.execute(_SQL["has_workspace"])
    if await cursor.fetchone() != (True,):
        await connection.execute(_SQL["workspace"])
    cursor = await connection.execute(_SQL["lock"], {"scope_id": scope_id})
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - an upsert returns its row
    writer = GraphWriter(connection, scope_id, *row[:3])
    yield writer
    await writer.derive()


async def hold_graph(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Lock the graph of `scope` against its writer until the transaction ends; None without a scope.

    For writers of rows that depend on entities or communities: they change rows in another order than
    the graph's writer, so without the lock each might wait for the other.
    """
    found = await hold_scope(connection, scope)
    if found is not None:
        await connection.execute(_SQL["hold"], {"scope_id": found.scope_id})
    return found


async def forget_document(
    connection: Connection,
    scope_id: int,
    document_id: UUID,
    ids: Sequence[UUID] | None = None,
    *,
    give_back: bool = False,
) -> None:
    """Remove the evidence of a document, or only of its chunks `ids`, and update the graph.

    Afterwards the graph equals the one built from the other documents alone. For `give_back` see
    `GraphWriter.forget`.
    """
    async with writing(connection, scope_id) as writer:
        await writer.forget(document_id, ids, give_back=give_back)
