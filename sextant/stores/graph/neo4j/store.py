"""Read the graph from Neo4j: with one statement for each request and the same results as the record, or whole.

Labels and types follow other projects: `__Entity__`, `Chunk` and FROM_CHUNK of neo4j-graphrag,
`__Community__`, IN_COMMUNITY and PARENT_COMMUNITY of llm-graph-builder. Relations have the type
RELATED and a property `kind`. Every node and relation has its graph's key.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, LiteralString, TypeVar
from uuid import UUID

import numpy as np

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.graph import Community, Entity
from sextant.domain.scope import Scope
from sextant.domain.settings import RetrievalSettings
from sextant.stores.graph.arrays import GraphArrays, GraphRows, Ids, halves_of, halves_of_texts
from sextant.stores.graph.evidence import entity_id, graph_key
from sextant.stores.graph.protocol import (
    EVERY_ENTITY,
    HUB_DEGREE,
    EntityFilter,
    EntityHit,
    Hop,
    Vector,
    community_of,
    entity_of,
)
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.queries import Embedded, load_cypher
from sextant.text.characters import MARKS, clean_text, normalise, normalise_name
from sextant.text.stopwords import ENGLISH_STOP_WORDS

if TYPE_CHECKING:
    from sextant.stores.graph.neo4j.bolt import Bolt, Row

_CYPHER = load_cypher("reads")

_LETTERS = re.compile(rf"(?:[^\W_][{MARKS}]*)+")


class Neo4jGraph:
    """A `GraphStore` over the projection in a Neo4j server."""

    def __init__(self, bolt: Bolt, settings: RetrievalSettings) -> None:
        self._bolt = bolt
        self._settings = settings

    async def entities_by_alias(self, scope: Scope, names: Sequence[str]) -> list[EntityHit]:
        """See `GraphStore`."""
        norms = [normalise_name(clean_text(name)) for name in names]
        wanted = [
            {"place": index, "id": str(entity_id(scope, norm)), "key": alias_key(scope, norm)}
            for index, norm in enumerate(norms)
        ]
        rows = await self._rows(scope, "by_alias", names=wanted)
        return [EntityHit(entity_of(row["e"]), 1.0) for row in rows]

    async def entities_by_words(
        self, scope: Scope, words: Sequence[str], k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """See `GraphStore`."""
        # Phrases of letters, marks and digits, none of which is Lucene syntax. Stop words are dropped, since a phrase
        # that the analyzer empties would match every entity.
        runs = (_LETTERS.findall(normalise(clean_text(word))) for word in words)
        found = (" ".join(run) for run in runs if not ENGLISH_STOP_WORDS.issuperset(run))
        # Lucene allows 1,024 clauses in a query.
        phrases = list(dict.fromkeys(found))[: 1000 // 3]
        if not phrases or k < 1:
            return []
        for every in (True, False):
            query = _lucene(scope, phrases, every=every)
            # At most so many entities that share a word with a text are ranked; beyond them Lucene's order decides.
            values = {"asked": query, "k": k, "wide": max(5000, k)}
            rows = await self._rows(scope, "by_words", **values, **only.bounds())
            if rows:
                return [EntityHit(entity_of(row["e"]), row["score"]) for row in rows]
        return []

    async def entities_by_vector(
        self, scope: Scope, vector: Vector, k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """See `GraphStore`."""
        if k < 1:
            return []
        nearest = {"vector": [float(value) for value in np.asarray(vector, np.float32)], "k": k}
        rows: list[Row] = []
        if only == EVERY_ENTITY and await self._bolt.can_prefilter():
            [sizes] = await self._rows(scope, "sizes")
            if sizes["vectors"] >= self._settings.exact_below:
                rows = await self._rows(scope, "by_vector_within", **nearest)
        if len(rows) < k:
            rows = await self._rows(scope, "by_vector", **nearest, **only.bounds())
        return [EntityHit(entity_of(row["e"]), row["score"]) for row in rows]

    async def get_entities(
        self, scope: Scope, ids: Sequence[UUID], only: EntityFilter = EVERY_ENTITY
    ) -> list[Entity]:
        """See `GraphStore`."""
        rows = await self._rows(scope, "entities", ids=_texts(ids), **only.bounds())
        return [entity_of(row["e"]) for row in rows]

    async def neighbourhood(
        self, scope: Scope, ids: Sequence[UUID], *, depth: int = 1, per_node: int = 10
    ) -> list[Hop]:
        """See `GraphStore`."""
        [columns] = await self._rows(
            scope,
            "neighbourhood",
            ids=_texts(ids),
            depth=depth,
            per_node=per_node,
            hub_degree=HUB_DEGREE,
        )
        ends = {one: UUID(one) for one in {*columns["sources"], *columns["targets"]}}
        names = ("depths", "weights", "relations", "sources", "targets", "kinds")
        rows = zip(*(columns[name] for name in names), strict=True)
        return [
            Hop(UUID(relation), ends[source], ends[target], kind, weight, depth)
            for depth, weight, relation, source, target, kind in sorted(
                rows, key=lambda row: (row[0], -row[1], row[2])
            )
        ]

    async def _rows(self, scope: Scope, query: str, **values: object) -> list[Row]:
        statement: LiteralString = _CYPHER[query]
        return await self._bolt.read(statement, graph=str(graph_key(scope)), **values)


def alias_key(scope: Scope, norm: str) -> str:
    """Return the key of a normalised name in the index of names; it is salted with the graph."""
    digest = blake2b(norm.encode(), digest_size=16, key=graph_key(scope).bytes)
    return digest.hexdigest()


def graph_word(scope: Scope) -> str:
    """Return the word that restricts a full-text search to one graph."""
    return graph_key(scope).hex


def _lucene(scope: Scope, phrases: Sequence[str], *, every: bool) -> str:
    """Return a query for entities of this graph with every phrase, or any; the name counts ten times."""
    clauses = [f'(name:"{phrase}"^10 description:"{phrase}")' for phrase in phrases]
    joined = " ".join(f"+{clause}" for clause in clauses) if every else f"+({' '.join(clauses)})"
    return f"+graph_word:{graph_word(scope)}^0 {joined}"


def _texts(ids: Iterable[UUID]) -> list[str]:
    return [str(one) for one in ids]


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
        async with aclosing(self._bolt.stream(statement, graph=str(graph_key(scope)))) as portions:
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
            _CYPHER["said_of"], graph=str(graph_key(scope))
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
        [sums] = await self._bolt.read(_CYPHER["fingerprint"], graph=str(graph_key(scope)))
        state = json.dumps([*header.values(), *sums.values()])
        # A larger graph is not checked at every commit to the server.
        is_large = sums["entities"] + sums["relations"] > 50_000
        if len(self._cached) >= 4096:
            self._cached.clear()
        self._cached[scope] = _CachedState(header, bookmarks, state, is_large, time.monotonic())
        return state


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
