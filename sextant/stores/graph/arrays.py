"""Read a whole graph as numpy arrays, for random walks and communities; decoded in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import CO_OCCURS, MentionKind
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection

_SQL = load_queries("graph_arrays")

Indices = npt.NDArray[np.int32]
Ids = npt.NDArray[np.uint64]  # shape (n, 2): the halves of a uuid, high first

KINDS = tuple(MentionKind)


@dataclass(frozen=True, slots=True)
class GraphArrays:
    """A graph as arrays. Chunks and entities are indexed in the order of their ids.

    Attributes:
        version: the version of the graph.
        chunks: ids of all chunks of the scope, with or without mentions.
        entities: ids of the visible entities.
        names, entity_types: of each entity.
        mention_entity, mention_chunk: parallel indices; a pair occurs at most once per kind.
        mention_kind: index in `KINDS`.
        relation_source, relation_target: parallel indices of two different entities. Relations are
            sorted by source, target and type, so that ties have a defined order.
        relation_type: index in `relation_types`.
        relation_weight: sum of the evidence, > 0.
        statement_relation, statement_chunk: parallel indices: the chunk states the relation.
            Co-occurrences are left out, since they state nothing.
        alias_norms: normalised names of `alias_entity`; a name may occur more than once.
    """

    version: int
    chunks: Ids
    entities: Ids
    names: list[str]
    entity_types: list[str]
    mention_entity: Indices
    mention_chunk: Indices
    mention_kind: npt.NDArray[np.int8]
    relation_source: Indices
    relation_target: Indices
    relation_type: Indices
    relation_weight: npt.NDArray[np.float64]
    relation_types: tuple[str, ...]
    statement_relation: Indices
    statement_chunk: Indices
    alias_norms: list[str]
    alias_entity: Indices

    def chunk_id(self, index: int) -> UUID:
        """Return the id of a chunk."""
        return _uuid(self.chunks[index])

    def entity_id(self, index: int) -> UUID:
        """Return the id of an entity."""
        return _uuid(self.entities[index])

    def entity_indices_of(self, ids: Ids) -> Indices:
        """Return the indices of entities given as halves, -1 for an unknown id."""
        return index_of(self.entities, ids)

    @property
    def titled(self) -> npt.NDArray[np.bool_]:
        """Return a mask of entities that name a chunk, section or document title; shape (entities,)."""
        mask = np.zeros(len(self.entities), np.bool_)
        mask[self.mention_entity[self.mention_kind == KINDS.index(MentionKind.TITLE)]] = True
        return mask


@dataclass(frozen=True, slots=True)
class IdTable:
    """Sorted ids in 16 bytes each; a list of UUIDs takes about a hundred.

    `halves`: shape (n, 2), high and low, in column order, since searches read the high halves.
    """

    halves: Ids

    def __post_init__(self) -> None:
        """Store the halves by column; otherwise numpy copies the high ones for each search."""
        object.__setattr__(self, "halves", np.asfortranarray(self.halves))

    def __len__(self) -> int:
        return len(self.halves)

    def __getitem__(self, row: int) -> UUID:
        """Return the id of a row."""
        return _uuid(self.halves[row])

    def texts_of(self, rows: Iterable[int]) -> list[str]:
        """Return the ids of some rows as text."""
        return [str(self[row]) for row in rows]


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The entities, merges and relations of a graph, as PostgreSQL or a copy holds them.

    Attributes:
        entities: ids of the visible entities, ascending; `names` and `entity_types` are parallel.
        merged, roots: ids of merged entities, ascending, and of the entities they were merged into.
        sources, targets: ends of relations, which may be merged entities.
        kinds: index of each relation's type in `relation_types`.
        weights: of each relation, > 0.
    """

    entities: Ids
    names: list[str]
    entity_types: list[str]
    merged: Ids
    roots: Ids
    sources: Ids
    targets: Ids
    kinds: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    relation_types: tuple[str, ...]


async def read_arrays(
    connection: Connection, scope_id: int, version: int, graph: GraphRows | None = None
) -> GraphArrays:
    """Read a graph; `connection` must be in a snapshot transaction.

    `graph`: the entities and relations of a copy; then only the evidence is read.
    """
    values: dict[str, Any] = {"scope_id": scope_id, "nil": NIL, "co_occurs": CO_OCCURS}
    if graph is None:
        types = tuple([name for (name,) in await _fetch(connection, "relation_types", values)])
        values["types"] = list(types)
        rows = {table: await _fetch(connection, table, values) for table in _OF_GRAPH}
        graph = await asyncio.to_thread(_graph_rows, types, rows)
    values["types"] = list(graph.relation_types)
    blocks = {table: await _fetch(connection, table, values) for table in _OF_EVIDENCE}
    return await asyncio.to_thread(_decode, version, graph, blocks)


async def read_order(connection: Connection, scope_id: int) -> Ids:
    """Return the ids of all chunks, by document name and reading order."""
    rows = await _fetch(connection, "reading_order", {"scope_id": scope_id})
    return _rows([row for row in rows if row[0]], id=_UUID)["id"]


Blocks = Sequence[tuple[Any, ...]]


async def _fetch(connection: Connection, query: str, values: dict[str, Any]) -> Blocks:
    cursor = connection.cursor(binary=True)
    await cursor.execute(_SQL[query], values)
    return await cursor.fetchall()


def _graph_rows(types: tuple[str, ...], blocks: dict[str, Blocks]) -> GraphRows:
    rows = {table: _rows(blocks[table], **_COLUMNS[table]) for table in _OF_GRAPH}
    roots, relations = rows["roots"], rows["relations"]
    return GraphRows(
        entities=rows["entities"]["id"],
        names=_lines(blocks["entities"], 1),
        entity_types=_lines(blocks["entities"], 2),
        merged=roots["merged"],
        roots=roots["root"],
        sources=relations["source"],
        targets=relations["target"],
        kinds=relations["type"] - 1,
        weights=relations["weight"],
        relation_types=types,
    )


def _decode(version: int, graph: GraphRows, blocks: dict[str, Blocks]) -> GraphArrays:
    rows = {table: _rows(blocks[table], **_COLUMNS[table]) for table in _OF_EVIDENCE}
    chunks, entities = rows["chunks"]["id"], graph.entities
    mentions, statements = rows["mentions"], rows["statements"]

    def entity_numbers(ids: Ids) -> Indices:
        return index_of(entities, _resolve(ids, graph))

    entity, chunk = entity_numbers(mentions["entity"]), index_of(chunks, mentions["chunk"])
    has_mention = (entity >= 0) & (chunk >= 0)
    source, target, kind = entity_numbers(graph.sources), entity_numbers(graph.targets), graph.kinds
    has_ends = (source >= 0) & (target >= 0)
    shape = (len(entities), len(graph.relation_types))
    known = _keys(source, target, kind, shape)[has_ends]
    order = np.argsort(known, kind="stable")
    source, target, kind = (one[has_ends][order] for one in (source, target, kind))
    ends = entity_numbers(statements["source"]), entity_numbers(statements["target"])
    stated = _find(known[order], _keys(*ends, statements["type"] - 1, shape))
    stated_in = index_of(chunks, statements["chunk"])
    is_stated = (stated >= 0) & (stated_in >= 0)
    return GraphArrays(
        version=version,
        chunks=chunks,
        entities=entities,
        names=graph.names,
        entity_types=graph.entity_types,
        mention_entity=entity[has_mention],
        mention_chunk=chunk[has_mention],
        mention_kind=mentions["kind"][has_mention],
        relation_source=source,
        relation_target=target,
        relation_type=kind,
        relation_weight=graph.weights[has_ends][order],
        relation_types=graph.relation_types,
        statement_relation=stated[is_stated],
        statement_chunk=stated_in[is_stated],
        alias_norms=_lines(blocks["aliases"], 1),
        alias_entity=entity_numbers(rows["aliases"]["id"]),
    )


_UUID, _INT, _FLOAT = np.dtype((">u8", 2)), np.dtype(">i4"), np.dtype(">f8")
_OF_GRAPH = ("entities", "roots", "relations")
_OF_EVIDENCE = ("chunks", "mentions", "statements", "aliases")
# The columns that each query of `graph_arrays.sql` packs into the first value of its rows.
_COLUMNS: dict[str, dict[str, np.dtype[Any]]] = {
    "chunks": {"id": _UUID},
    "entities": {"id": _UUID},
    "roots": {"merged": _UUID, "root": _UUID},
    "mentions": {"entity": _UUID, "chunk": _UUID, "kind": np.dtype("i1")},
    "relations": {"source": _UUID, "target": _UUID, "weight": _FLOAT, "type": _INT},
    "statements": {"source": _UUID, "target": _UUID, "chunk": _UUID, "type": _INT},
    "aliases": {"id": _UUID},
}


def _rows(blocks: Blocks, **columns: np.dtype[Any]) -> dict[str, npt.NDArray[Any]]:
    """Decode the columns of the rows that are packed in the first value of each block."""
    row = np.dtype(list(columns.items()))
    rows = np.frombuffer(b"".join(block[0] for block in blocks), row)
    return {name: rows[name].astype(kind.base.newbyteorder("=")) for name, kind in columns.items()}


def _lines(blocks: Blocks, column: int) -> list[str]:
    """Return the lines of one column of each block."""
    return [line for block in blocks for line in block[column].split("\n")]


def index_of(known: Ids, wanted: Ids) -> Indices:
    """Return the index of each wanted id among sorted ids, -1 for an unknown one."""
    if not len(known):
        return np.full(len(wanted), -1, np.int32)
    indices = _clip_index(np.searchsorted(known[:, 0], wanted[:, 0]), known)
    same = known[indices] == wanted
    if (same[:, 0] > same[:, 1]).any():  # ids that share a half, which hashes never do
        indices = _clip_index(np.searchsorted(_bytes(known), _bytes(wanted)), known)
        same = known[indices] == wanted
    return np.where(same.all(axis=1), indices, -1).astype(np.int32)


def _clip_index(found: npt.NDArray[np.intp], known: Ids) -> npt.NDArray[np.intp]:
    return np.minimum(found, len(known) - 1)


def _keys(
    source: Indices, target: Indices, kind: Indices, shape: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """Return a key for each relation, -1 if it lacks an end; `shape` is (entities, types)."""
    entities, types = shape
    key = (source.astype(np.int64) * entities + target) * types + kind
    return np.where((source >= 0) & (target >= 0), key, -1)


def _find(known: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> Indices:
    """Return the index of each wanted key among sorted keys, -1 for an unknown one."""
    if not len(known):
        return np.full(len(wanted), -1, np.int32)
    indices = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[indices] == wanted, indices, -1).astype(np.int32)


def _resolve(ids: Ids, graph: GraphRows) -> Ids:
    """Replace the ids of merged entities by those of their roots."""
    if not len(graph.merged):
        return ids
    indices = index_of(graph.merged, ids)
    return np.where((indices >= 0)[:, None], graph.roots[indices], ids)


def _bytes(ids: Ids) -> npt.NDArray[np.bytes_]:
    return np.ascontiguousarray(ids.astype(">u8")).view("S16").reshape(-1)


def halves_of(ids: Iterable[UUID]) -> Ids:
    """Return ids as halves, shape (n, 2), high first."""
    joined = b"".join(one.bytes for one in ids)
    return np.frombuffer(joined, ">u8").reshape(-1, 2).astype(np.uint64)


def halves_of_texts(ids: Iterable[str]) -> Ids:
    """Return ids in the form of `str(UUID)` as halves, shape (n, 2); faster than parsing each."""
    joined = bytes.fromhex("".join(ids).replace("-", ""))
    return np.frombuffer(joined, ">u8").reshape(-1, 2).astype(np.uint64)


def _uuid(halves: Ids) -> UUID:
    return UUID(int=int(halves[0]) << 64 | int(halves[1]))


NIL = UUID(int=0)
