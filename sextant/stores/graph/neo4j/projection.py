"""Write rows of the record to Neo4j, replacing earlier ones.

Writing rows again changes nothing; ids that the record does not have are deleted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, LiteralString
from uuid import UUID

from psycopg.rows import DictRow, dict_row

from sextant.domain.graph import CO_OCCURS, Entity
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.evidence import graph_key
from sextant.stores.graph.neo4j.store import alias_key, graph_word
from sextant.stores.graph.protocol import Vector, entity_of
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_cypher, load_queries

if TYPE_CHECKING:
    from sextant.stores.graph.neo4j.bolt import Bolt, Row, Statement

_SQL = load_queries("graph_projection")
_ROWS = load_queries("graph_reads")
_READ = load_cypher("reads")
_WRITE = load_cypher("writes")

BATCH = 2500  # rows of a transaction
_MENTIONS = 20_000
_ENTITY_FIELDS = [field.name for field in fields(Entity) if field.name not in ("id", "aliases")]


class CopyOwner(Enum):
    """The owner of the copy in Neo4j; one without an owner may be wiped."""

    OURS = auto()
    NOBODY = auto()
    ANOTHER_DATABASE = auto()


@dataclass(frozen=True, slots=True)
class Projection:
    """The nodes and relations of one knowledge base in Neo4j; `scope_id` is its number in the record."""

    database: Database
    bolt: Bolt
    scope: Scope
    scope_id: int

    async def read_owner(self) -> CopyOwner:
        """Return the owner of the copy that Neo4j holds under this name.

        The copy is ours if it has our database's id, number and creation time; a knowledge base that
        was deleted and created again has others. An older copy of ours, for example on a server that
        was restored from a backup, has no owner.
        """
        rows = await self.bolt.fetch(_READ["graph"], graph=self._graph)
        if not rows:
            return CopyOwner.NOBODY
        [copy], ours = rows, await self._read_identity()
        if copy["database"] not in (None, ours["database"]):
            return CopyOwner.ANOTHER_DATABASE
        same = all(copy[key] == ours[key] for key in ("scope_id", "made_at"))
        return CopyOwner.OURS if same and copy["copied"] >= ours["copied"] else CopyOwner.NOBODY

    async def is_here(self) -> bool:
        """Return whether Neo4j holds this knowledge base, and not another of the same name."""
        return await self.read_owner() is CopyOwner.OURS

    async def claim(self, *, seize: bool = False) -> bool:
        """Claim the name for this database; return False if another database has it.

        If several databases claim a free name at once, one of them gets it. `seize` takes the name
        from another database.
        """
        identity = await self._read_identity()
        claim = self._statement("claim", database=identity["database"], seize=seize)
        [rows] = await self.bolt.write([claim])
        return bool(rows)

    async def write_header(self, vectors: int) -> None:
        """Write the node that describes the copy: its owner and the number of entities with vectors.

        The number of the copy is increased in Neo4j first, so that after an interruption the copy is
        not mistaken for an older one.
        """
        identity = await self._read_identity()
        copied = identity["copied"] + 1
        values = {
            "user_id": self.scope.user_id,
            "graph_id": self.scope.graph_id,
            "vectors": vectors,
        }
        await self.bolt.write([self._statement("graph", **values, **identity | {"copied": copied})])
        async with self.database.transaction(self.scope.user_id) as connection:
            note = {"scope_id": self.scope_id, "copied": copied}
            await connection.execute(_SQL["copied"], note)

    async def wipe(self) -> None:
        """Delete everything of the graph, but keep its name."""
        while True:
            [[row]] = await self.bolt.write([self._statement("wipe", limit=10_000)])
            if not row["gone"]:
                return

    async def release_name(self) -> None:
        """Release the name for other databases."""
        await self.bolt.write([self._statement("leave")])

    async def _entity_rows(self, ids: Sequence[UUID]) -> list[Row]:
        """Return entities with their mentions, merges and vectors, in the form of Neo4j."""
        found = await self._fetch(_SQL["entities"], ids=list(ids))
        mentioned = await self._fetch(
            _SQL["attachments"], ids=[row["id"] for row in found], nil=NIL
        )
        attached = {row["id"]: row for row in mentioned}
        rows = ((entity_of(row), attached[row["id"]]) for row in found if row["id"] in attached)
        return await asyncio.to_thread(lambda: [_entity_row(self.scope, *row) for row in rows])

    async def write_entities(self, ids: Sequence[UUID]) -> list[UUID]:
        """Write entities with their mentions, merges and vectors; return the new ones."""
        fresh: list[UUID] = []
        for batch in _slices(ids, BATCH):
            rows = await self._entity_rows(batch)
            existing = {row["id"] for row in rows}
            deleted = [id_ for id_ in map(str, batch) if id_ not in existing]
            properties = [_pick(row, "properties") for row in rows]
            [new, *_] = await self.bolt.write(
                [
                    self._statement("entities", rows=properties),
                    *self._detach(rows),
                    *self._attach(rows),
                    self._statement("remove_entities", ids=deleted),
                    self._statement("remove_merged", ids=deleted),
                ]
            )
            fresh += [UUID(row["id"]) for row in new]
        return fresh

    async def write_relations(self, ids: Sequence[UUID]) -> None:
        """Write relations; one with a missing end is written with that end (`write_relations_of`)."""
        for batch in _slices(ids, 2 * BATCH):
            values = {"ids": list(batch), "nil": NIL, "co_occurs": CO_OCCURS}
            rows = await self._fetch(_ROWS["relations"], **values)
            columns = await asyncio.to_thread(_columns_of, rows)
            await self.bolt.write(
                [
                    self._statement("remove_relations", ids=[str(id_) for id_ in batch]),
                    self._statement("relations", **columns),
                ]
            )

    async def write_relations_of(self, entity_ids: Sequence[UUID]) -> None:
        """Write the unchanged relations of entities that have just become visible."""
        if entity_ids:
            rows = await self._fetch(_SQL["relations_of"], ids=list(entity_ids))
            await self.write_relations([row["relation_id"] for row in rows])

    async def write_communities(self, ids: Sequence[UUID]) -> None:
        """Write communities with their members and reports."""
        for batch in _slices(ids, BATCH):
            found = await self._fetch(_SQL["communities"], ids=list(batch))
            rows = [_community_row(self._graph, row) for row in found]
            batch_ids = [str(id_) for id_ in batch]
            await self.bolt.write(
                [
                    self._statement("remove_communities", ids=batch_ids),
                    self._statement(
                        "communities", rows=[_pick(row, "properties", "entity_ids") for row in rows]
                    ),
                    *self._vectors("community_vectors", rows),
                    self._statement("parents", ids=batch_ids),
                ]
            )

    def _detach(self, rows: Sequence[Row]) -> list[Statement]:
        """Return statements that remove stale mentions, merges and vectors from entities."""
        without_vector = [row["id"] for row in rows if row["embedding"] is None]
        return [
            self._statement("unmention", rows=[_pick(row, "chunks") for row in rows]),
            self._statement("unmerge", rows=[_pick(row, "merged") for row in rows]),
            self._statement("no_vectors", ids=without_vector),
        ]

    def _attach(self, rows: Sequence[Row]) -> list[Statement]:
        """Return statements that write the mentions, merges and vectors of entities."""
        chunks = [_pick(row, "chunks") for row in rows if row["chunks"]]
        merged = [_pick(row, "merged") for row in rows if row["merged"]]
        return [
            *[self._statement("mention", rows=batch) for batch in _portions(chunks)],
            *([self._statement("merge", rows=merged)] if merged else []),
            *self._vectors("vectors", rows),
        ]

    def _vectors(self, statement: str, rows: Sequence[Row]) -> list[Statement]:
        embedded = [_pick(row, "embedding") for row in rows if row["embedding"] is not None]
        # Each vector is about 3.5 KB on the wire.
        return [self._statement(statement, rows=batch) for batch in _slices(embedded, 500)]

    async def _read_identity(self) -> Row:
        """Return the identity of this knowledge base, by which others of its name are recognised."""
        [row] = await self._fetch(_SQL["whose"])
        made_at = row["made_at"] and row["made_at"].astimezone(UTC).isoformat()
        return {
            "database": row["database"],
            "scope_id": self.scope_id,
            "made_at": made_at,
            "copied": row["copied"],
        }

    def _statement(self, name: str, **values: object) -> Statement:
        return _WRITE[name], {"graph": self._graph, **values}

    async def _fetch(self, query: LiteralString, **values: object) -> list[DictRow]:
        """Return rows of the record without a deadline, unlike a question."""
        key = {"scope_id": self.scope_id, **values}
        return await self.database.fetch(self.scope.user_id, dict_row, query, key, binary=True)

    @property
    def _graph(self) -> str:
        return str(graph_key(self.scope))


def _entity_row(scope: Scope, entity: Entity, attached: DictRow) -> Row:
    return {
        "id": str(entity.id),
        "properties": {name: getattr(entity, name) for name in _ENTITY_FIELDS}
        | {
            "aliases": list(entity.aliases),
            "name_keys": " ".join(alias_key(scope, norm) for norm in attached["norms"]),
            "graph_word": graph_word(scope),
            "created_at": attached["created_at"].astimezone(UTC),
        },
        "chunks": [str(one) for one in attached["chunks"]],
        "merged": [str(one) for one in attached["merged"]],
        "embedding": _floats(attached["embedding"]),
    }


def _columns_of(rows: Sequence[DictRow]) -> Row:
    return {
        "ids": [str(row["id"]) for row in rows],
        "sources": [str(row["source_id"]) for row in rows],
        "targets": [str(row["target_id"]) for row in rows],
        "kinds": [row["relation_type"] for row in rows],
        "weights": [row["weight"] for row in rows],
        "descriptions": [row["description"] for row in rows],
        "chunks": [[str(chunk) for chunk in row["chunk_ids"]] for row in rows],
    }


def _community_row(graph: str, row: DictRow) -> Row:
    parent = row["parent_id"]
    return {
        "id": str(row["id"]),
        "properties": {
            "graph_key": graph,
            "id": str(row["id"]),
            "level": row["level"],
            "parent_id": str(parent) if parent else None,
            "title": row["title"],
            "summary": row["summary"],
            "findings": json.dumps(row["findings"], ensure_ascii=False),
            "rating": row["rating"],
        },
        "entity_ids": [str(one) for one in row["entity_ids"]],
        "embedding": _floats(row["embedding"]),
    }


def _floats(vector: Vector | None) -> list[float] | None:
    return None if vector is None else [float(value) for value in vector]


def _pick(row: Row, *columns: str) -> Row:
    return {name: row[name] for name in ("id", *columns)}


def _slices(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _portions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows in groups of about `_MENTIONS` chunks."""
    portion: list[Row] = []
    size = 0
    for row in rows:
        portion.append(row)
        size += len(row["chunks"])
        if size >= _MENTIONS:
            yield portion
            portion, size = [], 0
    if size:
        yield portion
