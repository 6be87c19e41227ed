"""Read a whole graph from Neo4j for an index in memory, and detect changes of it.

Entities, merges, relations, communities and reports come from Neo4j. The evidence comes from the
record: mentions, statements of relations, and aliases.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString, TypeVar

import numpy as np

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.graph import Community
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import GraphArrays, GraphRows, Ids, halves_of, halves_of_texts
from sextant.stores.graph.evidence import graph_key
from sextant.stores.graph.protocol import community_of
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.queries import Embedded, load_cypher

if TYPE_CHECKING:
    from collections.abc import Callable

    from sextant.stores.graph.neo4j.bolt import Bolt, Row

_CYPHER = load_cypher("reads")

# Graphs with more entities and relations are not checked at every commit to the server.
_LARGE = 50_000
_MAX_CACHED_STATES = 4096

T = TypeVar("T")


class CopiedGraph:
    """Read whole graphs from Neo4j; every method raises `GraphStoreUnavailable` if it cannot."""

    def __init__(self, bolt: Bolt, record: GraphRecord) -> None:
        self._bolt = bolt
        self._record = record

    async def arrays(self, scope: Scope) -> GraphArrays:
        """Return entities and relations from Neo4j, the evidence for them from the record."""
        entities = await self._stream(scope, "whole")
        merged = await self._stream(scope, "merged")
        graph = await _decode_rows(_graph_rows, entities, merged)
        return await self._record.arrays(scope, graph)

    async def reports(self, scope: Scope) -> tuple[list[Community], Embedded]:
        """Return every community with a report, and the vectors of reports."""
        return await _decode_rows(_reports, await self._stream(scope, "reports"))

    async def _stream(self, scope: Scope, query: str) -> list[Row]:
        statement: LiteralString = _CYPHER[query]
        rows: list[Row] = []
        async with aclosing(self._bolt.stream(statement, graph=_key(scope))) as portions:
            async for portion in portions:
                rows += portion
        return rows


@dataclass(frozen=True, slots=True)
class _CachedState:
    header: Row
    bookmarks: frozenset[str]
    state: str
    is_large: bool
    checked_at: float


class CopyStates:
    """Detect changes of graphs in Neo4j, with one short query if nothing was committed.

    After any commit the graph's counts, lengths and sums are compared (`fingerprint`). A change that
    keeps all of them is detected only if its author sets `edited` of the `__Graph__` node. A large
    graph is checked at most every `pause` seconds.
    """

    def __init__(self, bolt: Bolt, pause: float) -> None:
        self._bolt = bolt
        self._pause = pause
        self._cached: dict[Scope, _CachedState] = {}

    async def of(self, scope: Scope) -> str | None:
        """Return a text that changes whenever the copy of a graph does; None if there is no copy."""
        rows, bookmarks = await self._bolt.read_with_bookmarks(
            _CYPHER["said_of"], graph=_key(scope)
        )
        if not rows:
            self._cached.pop(scope, None)
            return None
        [header] = rows
        cached = self._cached.get(scope)
        if cached is not None and cached.header == header:
            is_fresh = cached.is_large and time.monotonic() < cached.checked_at + self._pause
            if is_fresh or (bookmarks and cached.bookmarks == bookmarks):
                return cached.state
        [sums] = await self._bolt.read(_CYPHER["fingerprint"], graph=_key(scope))
        state = json.dumps([*header.values(), *sums.values()])
        is_large = sums["entities"] + sums["relations"] > _LARGE
        if len(self._cached) >= _MAX_CACHED_STATES:
            self._cached.clear()
        self._cached[scope] = _CachedState(header, bookmarks, state, is_large, time.monotonic())
        return state


def _key(scope: Scope) -> str:
    return str(graph_key(scope))


async def _decode_rows(decode: Callable[..., T], *rows: list[Row]) -> T:
    """Decode in a thread; what others have written to Neo4j may have any shape."""
    try:
        return await asyncio.to_thread(decode, *rows)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise GraphStoreUnavailable(
            f"Neo4j holds a graph that cannot be read: {error}.",
            next_step="Run `sextant graph rebuild` to replace it by the graph in PostgreSQL.",
        ) from error


def _graph_rows(entities: Sequence[Row], merged: Sequence[Row]) -> GraphRows:
    ids = halves_of_texts([row["id"] for row in entities])
    relations = [relation for row in entities for relation in row["relations"]]
    types = tuple(sorted({str(kind) for _, kind, _ in relations}))
    number = {kind: index for index, kind in enumerate(types)}
    return GraphRows(
        entities=ids,
        names=[row["name"] for row in entities],
        entity_types=[row["type"] for row in entities],
        merged=halves_of_texts([row["id"] for row in merged]),
        roots=halves_of_texts([row["root"] for row in merged]),
        sources=np.repeat(ids, [len(row["relations"]) for row in entities], axis=0),
        targets=halves_of_texts([target for target, _, _ in relations]),
        kinds=np.array([number[str(kind)] for _, kind, _ in relations], np.int32),
        weights=np.array([weight for _, _, weight in relations], np.float64),
        relation_types=types,
    )


def _reports(rows: Sequence[Row]) -> tuple[list[Community], Embedded]:
    communities = [
        community_of(row["c"], json.loads(row["c"]["findings"]), row["entity_ids"]) for row in rows
    ]
    vectors = [
        (one.id, row["embedding"])
        for one, row in zip(communities, rows, strict=True)
        if row["embedding"] is not None
    ]
    ids: Ids = halves_of(one for one, _ in vectors)
    floats = np.array([vector for _, vector in vectors], np.float32)
    return communities, Embedded(
        ids, floats.reshape(len(vectors), -1) if vectors else np.empty((0, 0), np.float32)
    )
