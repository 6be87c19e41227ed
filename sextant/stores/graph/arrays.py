"""A whole graph as numpy arrays, for walks and communities: read in blocks, decoded off the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import CO_OCCURS, MentionKind
from sextant.stores.graph.ids import NIL, id_text
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("graph_arrays")

Indices = npt.NDArray[np.int32]
Ids = npt.NDArray[np.uint64]  # shape (n, 2): the halves of a uuid, high first

KINDS = (
    MentionKind.TITLE,
    MentionKind.ALIAS,
    MentionKind.TERM,
    MentionKind.MODEL,
    MentionKind.IMPORT,
)


@dataclass(frozen=True, slots=True)
class GraphArrays:
    """Chunks and entities are numbered in the order of their ids; links are parallel index arrays.

    Attributes:
        version: of the graph that this is.
        chunks: ids of all chunks of the scope, whether they mention anything or not.
        entities: ids of the entities that readers see.
        names: the entities' names.
        entity_types: the entities' types.
        mention_entity, mention_chunk: which entity a chunk mentions; a pair may come once per kind.
        mention_kind: place in `KINDS`.
        relation_source, relation_target: entities, never the same; relations come sorted by both and their
            type, not as their rows lie, so that what is equal otherwise has one order.
        relation_type: place in `relation_types`.
        relation_weight: sum of the evidence, > 0.
        statement_relation, statement_chunk: which chunk states which relation. Co-occurrence states
            nothing, and would be four fifths of the rows.
        alias_norms: normalised names that mean `alias_entity`; a name may come more than once.
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
        """Return the id of a chunk's number."""
        return _uuid(self.chunks[index])

    def entity_id(self, index: int) -> UUID:
        """Return the id of an entity's number."""
        return _uuid(self.entities[index])

    def entity_indices(self, ids: Sequence[UUID]) -> Indices:
        """Return the numbers of entities, -1 where the graph has none of that id."""
        return index_of(self.entities, halves_of(ids))

    def chunk_indices(self, ids: Sequence[UUID]) -> Indices:
        """Return the numbers of chunks, -1 where the scope has none of that id."""
        return index_of(self.chunks, halves_of(ids))

    def entity_places(self, ids: Ids) -> Indices:
        """Return the same for ids as `Ids`."""
        return index_of(self.entities, ids)

    @property
    def titled(self) -> npt.NDArray[np.bool_]:
        """Return whether a chunk, section or document is titled with an entity's name, for every entity: shape (entities,)."""
        mask = np.zeros(len(self.entities), np.bool_)
        mask[self.mention_entity[self.mention_kind == KINDS.index(MentionKind.TITLE)]] = True
        return mask


@dataclass(frozen=True, slots=True)
class IdTable:
    """Ids in rising order, 16 bytes each, where a list of them takes a hundred.

    `halves`: shape (n, 2), the high and the low half of each; all high ones lie in a row, as searches want them.
    """

    halves: Ids

    def __post_init__(self) -> None:
        """Lay the halves by column: else numpy copies all high ones for each search."""
        object.__setattr__(self, "halves", np.asfortranarray(self.halves))

    def __len__(self) -> int:
        return len(self.halves)

    def __getitem__(self, row: int) -> UUID:
        """Return the id of a row."""
        return _uuid(self.halves[row])

    def bytes_of(self, rows: Sequence[int] | Indices | npt.NDArray[np.intp]) -> list[bytes]:
        """Return the ids of some rows as 16 bytes each."""
        joined = self.halves[rows].astype(">u8").tobytes()
        return [joined[start : start + 16] for start in range(0, len(joined), 16)]

    def texts_of(self, rows: Sequence[int] | Indices | npt.NDArray[np.intp]) -> list[str]:
        """Return the ids of some rows as text."""
        digits = self.halves[rows].astype(">u8").tobytes().hex()
        return [id_text(digits[start : start + 32]) for start in range(0, len(digits), 32)]

    def row_of(self, wanted: UUID) -> int | None:
        """Return the row of an id; None when it is not among them."""
        rows = self.rows_of(halves_of([wanted]))
        return int(rows[0]) if len(rows) else None

    def rows_of(self, wanted: Ids) -> Indices:
        """Return the rows of those ids that are among them, in the order asked."""
        rows = index_of(self.halves, wanted)
        return rows[rows >= 0]


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The part of a graph that a copy of it holds as well: entities, merges, relations.

    Attributes:
        entities: ids of the entities that readers see, rising; `names` and `entity_types` lie beside them.
        merged, roots: ids of merged entities, rising, and of the entities they were merged into.
        sources, targets: ends of relations; merged ones may be among them.
        kinds: place of each relation's type in `relation_types`.
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
    """Read a graph; `connection` is in a snapshot transaction, so that all of it is of one moment.

    `graph`: entities and relations as a copy of the graph has them; only the evidence for them is read then.
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
    """Return the ids of all chunks, documents by name and each from its beginning."""
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

    def numbers(ids: Ids) -> Indices:
        return index_of(entities, _resolve(ids, graph))

    entity, chunk = numbers(mentions["entity"]), index_of(chunks, mentions["chunk"])
    seen = (entity >= 0) & (chunk >= 0)
    source, target, kind = numbers(graph.sources), numbers(graph.targets), graph.kinds
    joined = (source >= 0) & (target >= 0)
    shape = (len(entities), len(graph.relation_types))
    known = _keys(source, target, kind, shape)[joined]
    order = np.argsort(known, kind="stable")
    source, target, kind = (one[joined][order] for one in (source, target, kind))
    ends = numbers(statements["source"]), numbers(statements["target"])
    stated = _find(known[order], _keys(*ends, statements["type"] - 1, shape))
    stated_in = index_of(chunks, statements["chunk"])
    placed = (stated >= 0) & (stated_in >= 0)
    return GraphArrays(
        version=version,
        chunks=chunks,
        entities=entities,
        names=graph.names,
        entity_types=graph.entity_types,
        mention_entity=entity[seen],
        mention_chunk=chunk[seen],
        mention_kind=mentions["kind"][seen],
        relation_source=source,
        relation_target=target,
        relation_type=kind,
        relation_weight=graph.weights[joined][order],
        relation_types=graph.relation_types,
        statement_relation=stated[placed],
        statement_chunk=stated_in[placed],
        alias_norms=_lines(blocks["aliases"], 1),
        alias_entity=numbers(rows["aliases"]["id"]),
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
    """Return the columns of rows that lie one after the other in the first value of each block."""
    row = np.dtype(list(columns.items()))
    rows = np.frombuffer(b"".join(block[0] for block in blocks), row)
    return {name: rows[name].astype(kind.base.newbyteorder("=")) for name, kind in columns.items()}


def _lines(blocks: Blocks, column: int) -> list[str]:
    """Return the lines of one value of each block."""
    return [line for block in blocks for line in block[column].split("\n")]


def index_of(known: Ids, wanted: Ids) -> Indices:
    """Return where each wanted id is among the known, which are sorted; -1 where it is not."""
    if not len(known):
        return np.full(len(wanted), -1, np.int32)
    places = _clip_index(np.searchsorted(known[:, 0], wanted[:, 0]), known)
    same = known[places] == wanted
    if (same[:, 0] > same[:, 1]).any():  # ids that share a half, which hashes never do
        places = _clip_index(np.searchsorted(_bytes(known), _bytes(wanted)), known)
        same = known[places] == wanted
    return np.where(same.all(axis=1), places, -1).astype(np.int32)


def _clip_index(found: npt.NDArray[np.intp], known: Ids) -> npt.NDArray[np.intp]:
    return np.minimum(found, len(known) - 1)


def _keys(
    source: Indices, target: Indices, kind: Indices, shape: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """Return a number for each relation among so many entities and types, -1 for one that lacks an end."""
    entities, types = shape
    key = (source.astype(np.int64) * entities + target) * types + kind
    return np.where((source >= 0) & (target >= 0), key, -1)


def _find(known: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> Indices:
    """Return where each wanted key is among the known, which are sorted; -1 where it is not."""
    if not len(known):
        return np.full(len(wanted), -1, np.int32)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, places, -1).astype(np.int32)


def _resolve(ids: Ids, graph: GraphRows) -> Ids:
    """Return the ids under which merged entities are known."""
    if not len(graph.merged):
        return ids
    places = index_of(graph.merged, ids)
    return np.where((places >= 0)[:, None], graph.roots[places], ids)


def _bytes(ids: Ids) -> npt.NDArray[np.bytes_]:
    return np.ascontiguousarray(ids.astype(">u8")).view("S16").reshape(-1)


def halves_of(ids: Iterable[UUID]) -> Ids:
    """Return ids as numbers, shape (n, 2)."""
    joined = b"".join(one.bytes for one in ids)
    return np.frombuffer(joined, ">u8").reshape(-1, 2).astype(np.uint64)


def halves_of_texts(ids: Iterable[str]) -> Ids:
    """Return the same of ids as `str(UUID)` writes them, in a tenth of the time."""
    joined = bytes.fromhex("".join(ids).replace("-", ""))
    return np.frombuffer(joined, ">u8").reshape(-1, 2).astype(np.uint64)


def _uuid(halves: Ids) -> UUID:
    return UUID(int=int(halves[0]) << 64 | int(halves[1]))
