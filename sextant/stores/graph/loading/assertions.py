"""Compute the rows of a graph's first import, so that the server need not derive them.

In an empty graph without evidence from passages, each entity has one name and each relation is stated
once. So the rows of every table can be computed here. The server receives them in the order of its
indexes, and need not sort, join or sum.

Also here: convert weights to PostgreSQL's numeric, whose sums do not depend on the order; compute
MD5 (RFC 1321) of many short texts at once, for the ids of relations.
"""

from __future__ import annotations

import hashlib
import math
import struct
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import MentionKind
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.evidence import Accepted, GraphEvidence, collect_assertions
from sextant.stores.graph.ids import name_tokens

Array = npt.NDArray[Any]

_DIGITS = 15  # PostgreSQL manual, "Numeric Types": a float8 becomes numeric by its first 15
_GROUPS = 5  # of four digits each: 15 digits, and up to 3 zeros that bring the point between groups
# Powers of ten up to this are exact floats, so one division rounds like parsing the decimal.
_MAX_EXACT_POWER = 22


def as_numeric(weights: Array) -> tuple[Array, Array]:
    """Return `weight::numeric::float8`, and `weight::numeric` in binary format, 18 bytes each.

    Weights are greater than 0 and at most 1e14. The bytes are those of `numeric_send` (PostgreSQL,
    src/backend/utils/adt/numeric.c): number of groups, weight of the first, sign, digits after the
    point, groups. Zeros at either end are allowed.
    """
    decimals = _DIGITS - 1 - np.floor(np.log10(weights)).astype(np.int64)
    scaled = weights * 10.0 ** np.minimum(decimals, _MAX_EXACT_POWER)
    whole = np.rint(scaled)
    # A product may be off by a sixteenth. Near a half, and at the limits of 15 digits, use the text.
    is_doubtful = np.abs(np.abs(scaled - whole) - 0.5) < 0.07
    is_doubtful |= (
        (decimals > _MAX_EXACT_POWER) | (scaled < 10 ** (_DIGITS - 1)) | (whole >= 10**_DIGITS)
    )
    digits = whole.astype(np.int64)
    for index in np.flatnonzero(is_doubtful).tolist():
        mantissa, exponent = f"{weights[index]:.{_DIGITS - 1}e}".split("e")
        digits[index] = int(mantissa.replace(".", ""))
        decimals[index] = _DIGITS - 1 - int(exponent)
    rounded = digits / 10.0 ** np.minimum(decimals, _MAX_EXACT_POWER)
    for index in np.flatnonzero(decimals > _MAX_EXACT_POWER).tolist():
        rounded[index] = float(f"{digits[index]}e{-decimals[index]}")
    return rounded, _encode_decimals(digits, decimals)


def _encode_decimals(digits: Array, decimals: Array) -> Array:
    """Encode the numbers `digits` ÷ 10**`decimals` as bytes."""
    after = -(-decimals // 4)  # groups after the point
    rest = digits * 10 ** (4 * after - decimals)
    rows = np.empty((len(digits), 4 + _GROUPS), ">i2")
    rows[:, 0], rows[:, 1], rows[:, 2] = _GROUPS, _GROUPS - 1 - after, 0
    rows[:, 3] = np.maximum(0, decimals - _zeros(digits))
    for group in reversed(range(_GROUPS)):
        rest, rows[:, 4 + group] = np.divmod(rest, 10_000)
    return rows.view("V18").reshape(-1)


def _zeros(digits: Array) -> Array:
    """Count the trailing zeros of each number."""
    zeros = np.zeros(len(digits), np.int64)
    remaining = np.flatnonzero(digits % 10 == 0)
    while len(remaining):
        zeros[remaining] += 1
        remaining = remaining[digits[remaining] // 10 ** zeros[remaining] % 10 == 0]
    return zeros


_MAX_TEXT_BYTES = 23  # the two ends, the text and the padding must fit in one block of 64 bytes
_ROWS = 8192  # at a time, so that the data stays in the processor's cache
_SINES = [np.uint32(int(abs(math.sin(step)) * 2**32)) for step in range(1, 65)]
_TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)  # RFC 1321, 3.3


def digests(sources: Array, targets: Array, kinds: Array, texts: Sequence[str]) -> Array:
    """Return the MD5 of each source, target and text.

    Ids and digests are of dtype `V16`; `kinds` are indices of `texts`.
    """
    encoded = [text.encode() for text in texts]
    tails = np.zeros((len(encoded), _MAX_TEXT_BYTES + 1), np.uint8)
    for row, text in zip(tails, encoded, strict=True):
        row[: len(text) + 1] = np.frombuffer(text[:_MAX_TEXT_BYTES] + b"\x80", np.uint8)[: len(row)]
    sizes = np.array([min(len(text), _MAX_TEXT_BYTES) for text in encoded], np.uint32)
    result = np.empty(len(kinds), "V16")
    for first in range(0, len(kinds), _ROWS):
        part = slice(first, first + _ROWS)
        blocks = np.zeros((len(kinds[part]), 64), np.uint8)
        blocks[:, :16] = sources[part].view(np.uint8).reshape(-1, 16)
        blocks[:, 16:32] = targets[part].view(np.uint8).reshape(-1, 16)
        blocks[:, 32 : 33 + _MAX_TEXT_BYTES] = tails[kinds[part]]
        words = blocks.view("<u4").astype(np.uint32).T.copy()
        words[14] = (32 + sizes[kinds[part]]) * 8
        result[part] = _md5(words).T.astype("<u4").copy().view("V16").reshape(-1)
    long = np.array([len(text) > _MAX_TEXT_BYTES for text in encoded], bool)
    for index in np.flatnonzero(long[kinds]).tolist():
        whole = sources[index].tobytes() + targets[index].tobytes() + encoded[kinds[index]]
        result[index] = np.void(hashlib.md5(whole, usedforsecurity=False).digest())
    return result


def _md5(words: Array) -> Array:
    """Return the digests of blocks: 16 rows of words in, 4 out; variables are named as in the RFC."""
    start = [np.full(words.shape[1], word, np.uint32) for word in _START]
    a, b, c, d = start
    for step in range(64):
        part = step // 16
        if part == 0:
            mixed, word = d ^ (b & (c ^ d)), step
        elif part == 1:
            mixed, word = c ^ (d & (b ^ c)), (5 * step + 1) % 16
        elif part == 2:
            mixed, word = b ^ c ^ d, (3 * step + 5) % 16
        else:
            mixed, word = c ^ (b | ~d), 7 * step % 16
        mixed += a
        mixed += words[word]
        mixed += _SINES[step]
        turn = _TURNS[part][step % 4]
        a, b, c, d = d, b + (mixed << turn | mixed >> (32 - turn)), b, c
    return np.array([one + before for one, before in zip((a, b, c, d), start, strict=True)])


MAX_BUFFERED_ROWS = 1_000_000  # computing their tables takes about 200 MB
_BLOCK = 50_000  # rows of a message
_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # PostgreSQL manual, COPY, "Binary Format"
_TAIL = b"\xff\xff"
_INT8 = 20  # its oid in pg_type

# The words are sent as the bytes of an array.
ENTITY_TYPES = ["uuid", *["text"] * 4, "int4", "int4", "bytea", "bool", "int8"]


def _numbering() -> dict[Any, int]:
    """Return a dictionary that numbers its keys in the order in which they are first looked up."""
    numbers = defaultdict[Any, int]()
    numbers.default_factory = numbers.__len__
    return numbers


@dataclass(slots=True)
class Assertions:
    """The entities and relations that the user asserts; of duplicates the last one counts.

    Each id is stored once, as a 128-bit integer; relations are columns of indices of ids and texts.
    """

    _named: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    _nodes: dict[int, int] = field(default_factory=_numbering)
    _texts: dict[str, int] = field(default_factory=_numbering)
    _sources: array[int] = field(default_factory=lambda: array("i"))
    _targets: array[int] = field(default_factory=lambda: array("i"))
    _types: array[int] = field(default_factory=lambda: array("i"))
    _descriptions: array[int] = field(default_factory=lambda: array("i"))
    _weights: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self._named) + len(self._weights)

    def take(self, evidence: GraphEvidence) -> bool:
        """Add `evidence` if it consists of valid assertions only; return whether it was added."""
        asserted = collect_assertions(evidence)
        if asserted is None:
            return False
        nodes, texts = self._nodes, self._texts
        self._named |= {nodes[row[0].int]: row for row in asserted.named}
        self._sources.extend([nodes[id_] for id_ in asserted.sources])
        self._targets.extend([nodes[id_] for id_ in asserted.targets])
        self._types.extend([texts[type_] for type_ in asserted.types])
        self._weights.extend(asserted.weights)
        self._descriptions.extend([texts[text] for text in asserted.descriptions])
        return True

    def accepted(self) -> Accepted:
        """Return the added evidence as rows, to be stored in the usual way."""
        ids, texts = [UUID(int=one) for one in self._nodes], list(self._texts)
        columns = (self._sources, self._targets, self._types, self._weights, self._descriptions)
        relations = [
            (index, ids[source], ids[target], texts[kind], NIL, weight, texts[text])
            for index, (source, target, kind, weight, text) in enumerate(zip(*columns, strict=True))
        ]
        mentions = [
            (index, row[0], NIL, MentionKind.IMPORT.value, 0, *row[1:])
            for index, row in enumerate(self._named.values())
        ]
        return Accepted(0, mentions, relations, names={row[1] for row in self._named.values()})

    def compute_rows(self, scope_id: int) -> Loaded:
        """Compute the rows of the whole graph."""
        node_ids = np.array([one.to_bytes(16, "big") for one in self._nodes], "V16")
        columns = (self._sources, self._targets, self._types, self._descriptions)
        source, target, types, description = (np.frombuffer(one, np.intc) for one in columns)
        ids = digests(node_ids[source], node_ids[target], types, list(self._texts))
        last = _last_of_each(ids)
        source, target, types, description = (
            one[last] for one in (source, target, types, description)
        )
        weights, ids = np.frombuffer(self._weights)[last], ids[last]
        named = np.zeros(len(node_ids), bool)
        named[list(self._named)] = True
        by_id = _order(node_ids)
        rank = np.empty(len(by_id), np.int32)
        rank[by_id] = np.arange(len(by_id), dtype=np.int32)
        sums, totals = as_numeric(weights)
        order, outgoing = _heaviest(rank, source, target, named, sums)
        nodes, neighbours = np.concatenate([source, target]), np.concatenate([target, source])

        def relations(part: slice) -> tuple[Array, ...]:
            near, far = node_ids[source[part]], node_ids[target[part]]
            return ids[part], near, far, types[part], description[part], weights[part]

        def ends(part: slice) -> tuple[Array, ...]:
            index = order[part]
            node, neighbour, relation = nodes[index], neighbours[index], index % len(ids)
            return (
                *(node_ids[node], node_ids[neighbour], ids[relation], types[relation]),
                *(sums[relation], totals[relation]),
                *(named[node] & named[neighbour], outgoing[part]),
            )

        return Loaded(
            self._entities(by_id, np.bincount(nodes, minlength=len(node_ids)), scope_id),
            list(enumerate(self._texts)),
            ColumnRows(len(ids), relations),
            ColumnRows(len(order), ends),
        )

    def _entities(self, by_id: Array, degrees: Array, scope_id: int) -> Iterator[tuple[Any, ...]]:
        ids = list(self._nodes)
        for node, degree in zip(by_id.tolist(), degrees[by_id].tolist(), strict=True):
            if row := self._named.get(node):
                yield (*row, _int8_array(name_tokens(row[1], scope_id)), True, degree)
            else:
                none = _int8_array([])
                yield (UUID(int=ids[node]), "", "TERM", "", None, 0, 0, none, False, degree)


def _int8_array(numbers: Sequence[int]) -> bytes:
    """Return a `bigint[]` in binary format (PostgreSQL, array_send); faster than the driver."""
    if not numbers:
        return struct.pack(">iii", 0, 0, _INT8)
    sized = chain.from_iterable((8, number) for number in numbers)
    return struct.pack(f">iiiii{'iq' * len(numbers)}", 1, 0, _INT8, len(numbers), 1, *sized)


class ColumnRows(NamedTuple):
    """Rows with columns of fixed width and no nulls; `part` builds a slice of them.

    All rows at once would take several times the memory of the columns they are built from.
    """

    number: int
    part: Callable[[slice], tuple[Array, ...]]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rows of the tables of `sql/queries/graph_loading.sql`.

    Columns are as wide as PostgreSQL's; rows are in the order of the indexes.
    """

    entities: Iterator[tuple[Any, ...]]
    texts: list[tuple[int, str]]
    relations: ColumnRows
    ends: ColumnRows


def binary_blocks(rows: ColumnRows) -> Iterator[bytes]:
    """Yield rows in the binary format of COPY."""
    yield _HEAD
    for first in range(0, rows.number, _BLOCK):
        columns = rows.part(slice(first, first + _BLOCK))
        fields: list[tuple[str, np.dtype[Any]]] = [("count", np.dtype(">i2"))]
        for number, column in enumerate(columns):
            wide = column.dtype.newbyteorder(">")
            fields += [(f"size {number}", np.dtype(">i4")), (f"value {number}", wide)]
        block = np.empty(len(columns[0]), fields)
        block["count"] = len(columns)
        for number, column in enumerate(columns):
            block[f"size {number}"], block[f"value {number}"] = column.itemsize, column
        yield block.tobytes()
    yield _TAIL


def _last_of_each(ids: Array) -> Array:
    """Return the indices of distinct ids, by id; of equal ones the last."""
    order = _order(ids)
    halves = ids[order].view(np.uint64).reshape(-1, 2)
    same = (halves[1:, 0] == halves[:-1, 0]) & (halves[1:, 1] == halves[:-1, 1])
    last: Array = order[np.append(~same, np.ones(min(1, len(ids)), bool))]
    return last


def _order(ids: Array) -> Array:
    """Return the indices that sort ids; the sort is stable."""
    high, low = ids.view(">u8").reshape(-1, 2).T.astype(np.uint64)
    order: Array = np.argsort(high)
    ordered = high[order]
    if (ordered[1:] == ordered[:-1]).any():  # sorting by both halves is much slower
        order = np.lexsort((low, high))
    return order


def _heaviest(
    rank: Array, source: Array, target: Array, named: Array, weights: Array
) -> tuple[Array, Array]:
    """Sort the ends of relations (first all sources, then all targets) like the index `adjacency_heaviest`.

    The order is by node, visibility and descending weight; nearly equal weights are in any order.

    Returns:
        The sorted indices, and a mask of those that are sources.
    """
    # Positive floats are ordered as the integers of the same bits (IEEE 754).
    lightness = ~weights.astype(np.float32).view(np.uint32)
    groups = np.concatenate([rank[source], rank[target]]) * 2
    groups += np.tile(named[source] & named[target], 2)
    order = np.argsort(groups.astype(np.uint64) << 32 | np.tile(lightness, 2))
    return order, order < len(source)
