"""A graph written to Neo4j: rows of the record, as they are now, in place of what was there.

Writing rows again changes nothing, and ids that the record does not have are deleted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from datetime import UTC
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar
from uuid import UUID

from psycopg.rows import DictRow, dict_row

from sextant.domain.graph import CO_OCCURS, Entity
from sextant.domain.scope import Scope
from sextant.domain.tasks import stop
from sextant.stores.graph.ids import NIL, graph_key
from sextant.stores.graph.neo4j.store import alias_key, graph_word, word_keys
from sextant.stores.graph.protocol import Vector
from sextant.stores.graph.rows import entity_of
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_cypher, load_queries

if TYPE_CHECKING:
    from sextant.stores.graph.neo4j.bolt import Bolt, Row, Statement

_SQL = load_queries("graph_projection")
_ROWS = load_queries("graph_reads")
_READ = load_cypher("reads")
_WRITE = load_cypher("writes")

# Rows of a transaction; 1,000 to 5,000 are the usual advice (anchors: graph §b).
BATCH = 2500
# A vector is 3.5 KB on the wire.
_VECTORS = 500
_MENTIONS = 20_000
_WIPED = 10_000
_OWN = [field.name for field in fields(Entity) if field.name not in ("id", "aliases")]

P = TypeVar("P")
T = TypeVar("T")


class CopyOwner(Enum):
    """Whose copy Neo4j holds: ours, another database's, or nobody's, which may be wiped."""

    OURS = auto()
    NOBODY = auto()
    ANOTHER_DATABASE = auto()


@dataclass(frozen=True, slots=True)
class Projection:
    """The nodes and relations of one knowledge base, whose number in the record is `scope_id`."""

    database: Database
    bolt: Bolt
    scope: Scope
    scope_id: int

    async def whose(self) -> CopyOwner:
        """Return whose copy Neo4j holds under this name.

        A knowledge base that was deleted and created again has another number or creation time. A copy
        from before databases had ids is ours if number and time are. An older copy of ours, as of a server that
        was restored from a backup, is nobody's.
        """
        rows = await self.bolt.fetch(_READ["graph"], graph=self._graph)
        if not rows:
            return CopyOwner.NOBODY
        [held], own = rows, await self._own()
        if held["database"] not in (None, own["database"]):
            return CopyOwner.ANOTHER_DATABASE
        same = all(held[key] == own[key] for key in ("scope_id", "made_at"))
        return CopyOwner.OURS if same and held["copied"] >= own["copied"] else CopyOwner.NOBODY

    async def is_here(self) -> bool:
        """Return whether Neo4j holds this knowledge base, and not another of the same name."""
        return await self.whose() is CopyOwner.OURS

    async def claim(self, *, seize: bool = False) -> bool:
        """Take the name for this database; False where another has it and keeps it.

        Of several databases that claim a free name at once, one gets it.
        """
        own = await self._own()
        claim = self._statement("claim", database=own["database"], seize=seize)
        [rows] = await self.bolt.write([claim])
        return bool(rows)

    async def introduce(self, vectors: int, *, anew: bool = False) -> None:
        """Write the node that says that the graph is here, whose it is and how many entities have vectors.

        And the next number of the copy, in Neo4j first: if this breaks off, the copy is not taken for an older one.

        `anew`: nothing of it has been loaded yet.
        """
        own = await self._own()
        copied = own["copied"] + 1
        values = {
            "user_id": self.scope.user_id,
            "graph_id": self.scope.graph_id,
            "vectors": vectors,
            "anew": anew,
        }
        await self.bolt.write([self._statement("graph", **values, **own | {"copied": copied})])
        async with self.database.transaction(self.scope.user_id) as connection:
            note = {"scope_id": self.scope_id, "copied": copied}
            await connection.execute(_SQL["copied"], note)

    async def wipe(self) -> None:
        """Delete everything of the graph; its name stays taken."""
        while True:
            [[row]] = await self.bolt.write([self._statement("wipe", limit=_WIPED)])
            if not row["gone"]:
                return

    async def leave(self) -> None:
        """Give the name up, for whoever comes next."""
        await self.bolt.write([self._statement("leave")])

    async def entity_rows(self, ids: Sequence[UUID]) -> list[Row]:
        """Return entities as `load_entities` takes them."""
        found = await self._fetch(_SQL["entities"], ids=list(ids))
        hanging = await self._fetch(_SQL["attachments"], ids=[row["id"] for row in found], nil=NIL)
        attached = {row["id"]: row for row in hanging}
        rows = ((entity_of(row), attached[row["id"]]) for row in found if row["id"] in attached)
        return await asyncio.to_thread(lambda: [_entity_row(self.scope, *row) for row in rows])

    async def load_entities(self, note: int, rows: Sequence[Row]) -> None:
        """Write the entities of a note, once, where none of them is yet."""
        properties = [_pick(row, "properties") for row in rows]
        load = self._statement("load_entities", note=note, rows=properties)
        await self.bolt.write([load, *self._attach(rows)])

    async def relation_columns(self, ids: Sequence[UUID]) -> Row:
        """Return relations as `load_relations` takes them."""
        values = {"ids": list(ids), "nil": NIL, "co_occurs": CO_OCCURS}
        rows = await self._fetch(_ROWS["relations"], **values)
        return await asyncio.to_thread(_relation_columns, rows)

    async def load_relations(self, note: int, columns: Row) -> None:
        """Write the relations of a note, once, where all entities are and none of them is."""
        await self.bolt.write([self._statement("load_relations", note=note, **columns)])

    async def write_entities(self, ids: Sequence[UUID]) -> list[UUID]:
        """Write entities with their mentions, merges and vectors; returns those that were not there before."""
        fresh: list[UUID] = []
        async with aclosing(ahead(self.entity_rows, _slices(ids, BATCH))) as portions:
            async for some, rows in portions:
                there = {row["id"] for row in rows}
                gone = [one for one in map(str, some) if one not in there]
                properties = [_pick(row, "properties") for row in rows]
                [new, *_] = await self.bolt.write(
                    [
                        self._statement("entities", rows=properties),
                        *self._detach(rows),
                        *self._attach(rows),
                        self._statement("remove_entities", ids=gone),
                        self._statement("remove_merged", ids=gone),
                    ]
                )
                fresh += [UUID(row["id"]) for row in new]
        return fresh

    async def write_relations(self, ids: Sequence[UUID]) -> None:
        """Write relations; one with a missing end follows when that end is written (`write_relations_of`)."""
        async with aclosing(ahead(self.relation_columns, _slices(ids, 2 * BATCH))) as portions:
            async for some, columns in portions:
                await self.bolt.write(
                    [
                        self._statement("remove_relations", ids=[str(one) for one in some]),
                        self._statement("relations", **columns),
                    ]
                )

    async def write_relations_of(self, entity_ids: Sequence[UUID]) -> None:
        """Write the relations of entities that have just become visible, though these have not changed."""
        if entity_ids:
            rows = await self._fetch(_SQL["relations_of"], ids=list(entity_ids))
            await self.write_relations([row["relation_id"] for row in rows])

    async def write_communities(self, ids: Sequence[UUID]) -> None:
        """Write communities with their members and reports."""
        for some in _slices(ids, BATCH):
            found = await self._fetch(_SQL["communities"], ids=list(some))
            rows = [_community_row(self._graph, row) for row in found]
            names = [str(one) for one in some]
            await self.bolt.write(
                [
                    self._statement("remove_communities", ids=names),
                    self._statement(
                        "communities", rows=[_pick(row, "properties", "entity_ids") for row in rows]
                    ),
                    *self._vectors("community_vectors", rows),
                    self._statement("parents", ids=names),
                ]
            )

    def _detach(self, rows: Sequence[Row]) -> list[Statement]:
        """Return statements that remove stale mentions, merges and vectors from entities."""
        bare = [row["id"] for row in rows if row["embedding"] is None]
        return [
            self._statement("unmention", rows=[_pick(row, "chunks") for row in rows]),
            self._statement("unmerge", rows=[_pick(row, "merged") for row in rows]),
            self._statement("no_vectors", ids=bare),
        ]

    def _attach(self, rows: Sequence[Row]) -> list[Statement]:
        """Return statements that write the mentions, merges and vectors of entities."""
        chunks = [_pick(row, "chunks") for row in rows if row["chunks"]]
        merged = [_pick(row, "merged") for row in rows if row["merged"]]
        return [
            *[self._statement("mention", rows=some) for some in _portions(chunks)],
            *([self._statement("merge", rows=merged)] if merged else []),
            *self._vectors("vectors", rows),
        ]

    def _vectors(self, statement: str, rows: Sequence[Row]) -> list[Statement]:
        own = [_pick(row, "embedding") for row in rows if row["embedding"] is not None]
        return [self._statement(statement, rows=some) for some in _slices(own, _VECTORS)]

    async def _own(self) -> Row:
        """Return what distinguishes this knowledge base from others of its name."""
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
        """Return rows of the record, however long it takes: a question's time limit is not a projector's."""
        async with self.database.transaction(self.scope.user_id) as connection:
            cursor = connection.cursor(row_factory=dict_row, binary=True)
            await cursor.execute(query, {"scope_id": self.scope_id, **values})
            return await cursor.fetchall()

    @property
    def _graph(self) -> str:
        return str(graph_key(self.scope))


def _entity_row(scope: Scope, entity: Entity, attached: DictRow) -> Row:
    names = [entity.name, *entity.aliases]
    return {
        "id": str(entity.id),
        "properties": _properties(entity)
        | {
            "aliases": list(entity.aliases),
            "names": names,
            "words": "\n".join(" ".join(word_keys(scope, name)) for name in names),
            "name_keys": " ".join(alias_key(scope, norm) for norm in attached["norms"]),
            "graph_word": graph_word(scope),
            "created_at": attached["created_at"].astimezone(UTC),
        },
        "chunks": [str(one) for one in attached["chunks"]],
        "merged": [str(one) for one in attached["merged"]],
        "embedding": _floats(attached["embedding"]),
    }


def _relation_columns(rows: Sequence[DictRow]) -> Row:
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


def _properties(entity: Entity) -> Row:
    return {name: getattr(entity, name) for name in _OWN}


def _floats(vector: Vector | None) -> list[float] | None:
    return None if vector is None else [float(value) for value in vector]


def _pick(row: Row, *columns: str) -> Row:
    return {name: row[name] for name in ("id", *columns)}


def _slices(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


async def ahead(
    read: Callable[[P], Awaitable[T]], portions: Iterable[P]
) -> AsyncGenerator[tuple[P, T]]:
    """Yield portions with what is read of each; the next is read while the last is being written.

    To be closed by whoever may break off: what is being read then is stopped.
    """
    todo = list(portions)
    reading = [asyncio.ensure_future(read(portion)) for portion in todo[:1]]
    try:
        for place, portion in enumerate(todo, start=1):
            rows = await reading.pop()
            reading += [asyncio.ensure_future(read(one)) for one in todo[place : place + 1]]
            yield portion, rows
    finally:
        await stop(*reading)


def _portions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows of about `_MENTIONS` chunks together."""
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
