"""A whole graph out of Neo4j, for an index in memory, and what tells whether it has changed since.

Entities, merges, relations, communities and reports are Neo4j's. The evidence is the record's: which
passage mentions an entity, by what kind of mention, which states a relation, and which aliases a text gives.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar
from uuid import UUID

import numpy as np

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.graph import Community
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import GraphArrays, GraphRows, Ids, halves_of, halves_of_texts
from sextant.stores.graph.ids import graph_key
from sextant.stores.graph.record import GraphRecord
from sextant.stores.graph.rows import community_of
from sextant.stores.postgresql.binary import Embedded
from sextant.stores.postgresql.queries import load_cypher

if TYPE_CHECKING:
    from collections.abc import Callable

    from sextant.stores.graph.neo4j.bolt import Bolt, Row

_CYPHER = load_cypher("reads")

# A graph of more entities and relations is not looked through at every commit to the server.
_LARGE = 50_000
# Of so many graphs it is remembered how they were.
_REMEMBERED = 4096

T = TypeVar("T")


class CopiedGraph:
    """Whole graphs as Neo4j has them; every method raises `GraphStoreUnavailable` where it cannot."""

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
        """Return every community that has a report, and the vectors that reports have."""
        return await _decode_rows(_reports, await self._stream(scope, "reports"))

    async def contents(self, scope: Scope, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return what results show of entities, as rows (`sextant.stores.graph.rows.entity_of`)."""
        rows = await self._bolt.read(_CYPHER["entities"], graph=_key(scope), ids=list(ids))
        return [row["e"] for row in rows]

    async def _stream(self, scope: Scope, query: str) -> list[Row]:
        statement: LiteralString = _CYPHER[query]
        rows: list[Row] = []
        async with aclosing(self._bolt.stream(statement, graph=_key(scope))) as portions:
            async for portion in portions:
                rows += portion
        return rows


@dataclass(frozen=True, slots=True)
class _Seen:
    said: Row
    mark: frozenset[str]
    state: str
    is_large: bool
    moment: float


class CopyStates:
    """What tells whether the graphs in Neo4j are as they were, in one short query where nothing was committed.

    After a commit, whosever it was, the graph is counted and summed (`fingerprint`): a change that leaves all
    counts, lengths and sums as they were goes unnoticed, unless whoever makes it sets `edited` of the
    `__Graph__` node. A large graph is looked through at most every `pause` seconds.
    """

    def __init__(self, bolt: Bolt, pause: float) -> None:
        self._bolt = bolt
        self._pause = pause
        self._seen: dict[Scope, _Seen] = {}

    async def of(self, scope: Scope) -> str | None:
        """Return a text that is another one when the copy of a graph has changed; None where there is no copy."""
        rows, mark = await self._bolt.read_marked(_CYPHER["said_of"], graph=_key(scope))
        if not rows:
            self._seen.pop(scope, None)
            return None
        [said] = rows
        known = self._seen.get(scope)
        if known is not None and known.said == said:
            resting = known.is_large and time.monotonic() < known.moment + self._pause
            if resting or (mark and known.mark == mark):
                return known.state
        [sums] = await self._bolt.read(_CYPHER["fingerprint"], graph=_key(scope))
        state = json.dumps([*said.values(), *sums.values()])
        is_large = sums["entities"] + sums["relations"] > _LARGE
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[scope] = _Seen(said, mark, state, is_large, time.monotonic())
        return state


def _key(scope: Scope) -> str:
    return str(graph_key(scope))


async def _decode_rows(decode: Callable[..., T], *rows: list[Row]) -> T:
    """Decode in a thread; what somebody else has written there may be of any shape."""
    try:
        return await asyncio.to_thread(decode, *rows)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise GraphStoreUnavailable(
            f"Neo4j holds a graph that cannot be read: {error}.",
            next_step="`sextant graph rebuild` replaces it by what PostgreSQL holds.",
        ) from error


def _graph_rows(entities: Sequence[Row], merged: Sequence[Row]) -> GraphRows:
    ids = halves_of_texts([row["id"] for row in entities])
    relations = [relation for row in entities for relation in row["relations"]]
    types = tuple(sorted({str(kind) for _, kind, _ in relations}))
    number = {kind: place for place, kind in enumerate(types)}
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
    return communities, _to_embedded(vectors)


def _to_embedded(vectors: Sequence[tuple[UUID, Sequence[float]]]) -> Embedded:
    ids: Ids = halves_of(one for one, _ in vectors)
    floats = np.array([vector for _, vector in vectors], np.float32)
    return Embedded(
        ids, floats.reshape(len(vectors), -1) if vectors else np.empty((0, 0), np.float32)
    )
