"""Read the graph from Neo4j, with one statement for each request and the same results as the record.

Labels and types follow other projects: `__Entity__`, `Chunk` and FROM_CHUNK of neo4j-graphrag,
`__Community__`, IN_COMMUNITY and PARENT_COMMUNITY of llm-graph-builder. Relations have the type
RELATED and a property `kind`. Every node and relation has its graph's key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, LiteralString
from uuid import UUID

import numpy as np

from sextant.domain.graph import Entity
from sextant.domain.scope import Scope
from sextant.domain.settings import RetrievalSettings
from sextant.stores.graph.evidence import entity_id, graph_key
from sextant.stores.graph.protocol import (
    EVERY_ENTITY,
    HUB_DEGREE,
    EntityFilter,
    EntityHit,
    Hop,
    Vector,
    entity_of,
)
from sextant.stores.postgresql.queries import load_cypher
from sextant.text.characters import MARKS, clean_text, normalise, normalise_name
from sextant.text.stopwords import ENGLISH_STOP_WORDS

if TYPE_CHECKING:
    from sextant.stores.graph.neo4j.bolt import Bolt, Row

_CYPHER = load_cypher("reads")

_LETTERS = re.compile(rf"(?:[^\W_][{MARKS}]*)+")
_MAX_WORDS = 1000  # Lucene allows 1024 clauses in a query
# At most this many entities that share a word with a text are fetched and ranked; beyond it Lucene's
# order decides.
_MAX_NAMES = 5000


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
        phrases = list(dict.fromkeys(found))[: _MAX_WORDS // 3]
        if not phrases or k < 1:
            return []
        for every in (True, False):
            query = _lucene(scope, phrases, every=every)
            values = {"asked": query, "k": k, "wide": max(_MAX_NAMES, k)}
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
