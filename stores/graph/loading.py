"""The first import of a graph by the user's own word: all that follows from it, worked out here.

Where nothing was there before and no passage says anything, each entity is called one thing and each
relation is stated once. So the rows of every table are known without asking the server, which is sent
them in the order of its indexes: it neither sorts, joins nor sums, half of what an import cost it.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from stores.graph.evidence import Accepted
from stores.graph.ids import NIL, name_tokens

MOST_HELD = 1_000_000  # rows: working them out takes some 200 MB
_BLOCK = 50_000  # rows that are sent at once
_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # PostgreSQL manual, COPY, "Binary Format"
_TAIL = b"\xff\xff"

ENTITY_TYPES = ["uuid", *["text"] * 4, "int4", "int4", "int8[]", "bool", "int8"]

Array = npt.NDArray[Any]


def _numbering() -> dict[Any, int]:
    """What is looked up gets the next number when it is new."""
    numbers = defaultdict[Any, int]()
    numbers.default_factory = numbers.__len__
    return numbers


@dataclass(slots=True)
class Assertions:
    """What the user says of entities and relations; of what is said twice the last counts.

    Ids are kept once, as 128-bit integers; relations are columns of numbers of ids and texts.
    """

    _named: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    _ends: dict[int, int] = field(default_factory=_numbering)
    _texts: dict[str, int] = field(default_factory=_numbering)
    _sources: array[int] = field(default_factory=lambda: array("i"))
    _targets: array[int] = field(default_factory=lambda: array("i"))
    _types: array[int] = field(default_factory=lambda: array("i"))
    _descriptions: array[int] = field(default_factory=lambda: array("i"))
    _weights: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self._named) + len(self._weights)

    @staticmethod
    def only(accepted: Accepted) -> bool:
        """Whether nothing but assertions is in `accepted`: no passages, no aliases."""
        said = ((accepted.mentions, 2), (accepted.relations, 4))
        return not accepted.aliases and all(row[at] is NIL for rows, at in said for row in rows)

    def take(self, accepted: Accepted) -> None:
        """Keep what `only` has allowed."""
        ends, texts, rows = self._ends, self._texts, accepted.relations
        self._named |= {row[1].int: row for row in accepted.mentions}
        self._sources.extend([ends[row[1].int] for row in rows])
        self._targets.extend([ends[row[2].int] for row in rows])
        self._types.extend([texts[row[3]] for row in rows])
        self._weights.extend([row[5] for row in rows])
        self._descriptions.extend([texts[row[6]] for row in rows])

    def accepted(self) -> Accepted:
        """What was taken, to be stored in the usual way."""
        ids, texts = [UUID(int=one) for one in self._ends], list(self._texts)
        columns = (self._sources, self._targets, self._types, self._weights, self._descriptions)
        relations = [
            (place, ids[source], ids[target], texts[kind], NIL, weight, texts[said])
            for place, (source, target, kind, weight, said) in enumerate(zip(*columns, strict=True))
        ]
        mentions = list(self._named.values())
        return Accepted(0, mentions, relations, names={row[5] for row in mentions})

    def worked_out(self, scope_id: int) -> Loaded:
        """The rows of the graph that follows."""
        node_ids = np.array([one.to_bytes(16, "big") for one in self._ends], "V16")
        ids = self._relation_ids(node_ids)
        kept = _last_of_each(ids)
        columns = (self._sources, self._targets, self._types, self._descriptions)
        source, target, types, said = (np.frombuffer(one, np.intc)[kept] for one in columns)
        weights, ids = np.frombuffer(self._weights)[kept], ids[kept]
        named = np.array([one in self._named for one in self._ends], bool)
        sums = _of_15_digits(weights)
        order, outgoing = _heaviest(_rank(node_ids), source, target, named, sums)
        node = np.concatenate([source, target])[order]
        neighbour = np.concatenate([target, source])[order]
        relation = order % max(1, len(ids))
        return Loaded(
            self._entities(np.bincount(node, minlength=len(node_ids)), scope_id),
            list(enumerate(self._texts)),
            (ids, node_ids[source], node_ids[target], types, said, weights),
            (
                *(node_ids[node], node_ids[neighbour], ids[relation], types[relation]),
                *(sums[relation], named[node] & named[neighbour], outgoing),
            ),
        )

    def _relation_ids(self, node_ids: Array) -> Array:
        """The ids of all relations (stores.graph.ids.relation_bytes), the objects spared."""
        md5, nodes = hashlib.md5, [node.tobytes() for node in node_ids]
        texts = [text.encode() for text in self._texts]
        ends = zip(self._sources, self._targets, self._types, strict=True)
        made = [
            md5(nodes[source] + nodes[target] + texts[kind], usedforsecurity=False).digest()
            for source, target, kind in ends
        ]
        return np.frombuffer(b"".join(made), "V16")

    def _entities(self, counts: Array, scope_id: int) -> Iterator[tuple[Any, ...]]:
        degrees = dict(zip(self._ends, counts.tolist(), strict=True))
        for one in sorted(self._named.keys() | degrees.keys()):
            degree = degrees.get(one, 0)
            if row := self._named.get(one):
                tokens = name_tokens(row[5], scope_id)
                yield (row[1], *row[5:], tokens, True, degree)
            else:
                yield (UUID(int=one), "", "TERM", "", None, 0, 0, [], False, degree)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What goes into the tables of `sql/queries/graph_loading.sql`; the two last as columns.

    Columns are as wide as PostgreSQL's; rows are in the order of the indexes.
    """

    entities: Iterator[tuple[Any, ...]]
    texts: list[tuple[int, str]]
    relations: tuple[Array, ...]
    ends: tuple[Array, ...]


def binary_blocks(columns: tuple[Array, ...]) -> Iterator[bytes]:
    """Rows of columns of fixed width, none null, as COPY reads them."""
    fields: list[tuple[str, np.dtype[Any]]] = [("count", np.dtype(">i2"))]
    for number, column in enumerate(columns):
        wide = column.dtype.newbyteorder(">")
        fields += [(f"size {number}", np.dtype(">i4")), (f"value {number}", wide)]
    yield _HEAD
    for first in range(0, len(columns[0]), _BLOCK):
        parts = [column[first : first + _BLOCK] for column in columns]
        rows = np.empty(len(parts[0]), fields)
        rows["count"] = len(columns)
        for number, part in enumerate(parts):
            rows[f"size {number}"], rows[f"value {number}"] = part.itemsize, part
        yield rows.tobytes()
    yield _TAIL


def _of_15_digits(weights: Array) -> Array:
    """Weights as PostgreSQL makes them of sums, which are numeric: a float8 becomes 15 digits."""
    rounded: Array = weights.round(6)
    more = (rounded != weights) | (weights >= 1e9)
    rounded[more] = [float(f"{weight:.15g}") for weight in weights[more].tolist()]
    return rounded


def _last_of_each(ids: Array) -> Array:
    """The places of different ids, by id; of equal ones the last."""
    order = _order(ids)
    ordered = ids[order]
    last: Array = order[np.append(ordered[1:] != ordered[:-1], np.ones(min(1, len(ids)), bool))]
    return last


def _order(ids: Array) -> Array:
    high, low = ids.view(">u8").reshape(-1, 2).T.astype(np.uint64)
    order: Array = np.lexsort((low, high))
    return order


def _rank(ids: Array) -> Array:
    """At which place, by id, each id is."""
    rank = np.empty(len(ids), np.int32)
    rank[_order(ids)] = np.arange(len(ids), dtype=np.int32)
    return rank


def _heaviest(
    rank: Array, source: Array, target: Array, named: Array, weights: Array
) -> tuple[Array, Array]:
    """Relations from their sources and then their targets, in the order of `adjacency_heaviest`.

    That is by node, whether it is shown, and weight, heaviest first; nearly equal weights in any order.
    Returns the places in that order, and which of them are of the first half.
    """
    # Positive floats are ordered as the integers of the same bits (IEEE 754).
    lightness = ~weights.astype(np.float32).view(np.uint32)
    groups = np.concatenate([rank[source], rank[target]]) * 2
    groups += np.tile(named[source] & named[target], 2)
    order = np.argsort(groups.astype(np.uint64) << 32 | np.tile(lightness, 2))
    return order, order < len(source)
