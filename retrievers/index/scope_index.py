"""The index of a scope in memory, for the graph modes: words, vectors, names, graph and reports.

Passages come from PostgreSQL, graph and reports from Neo4j if its copy is current. A stamp of both says when an index
is out of date.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.versioned_cache import VersionedCache
from sextant.domain.warnings import WarningCode, warn
from sextant.models.protocols import Embedder
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.passages import PassageIndex, QueryVectors, ReportIndex
from sextant.retrievers.index.relations import Ints, RelationTypes
from sextant.retrievers.index.walk import ScopeGraph, WalkIndex
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.arrays import KINDS, Ids, IdTable, index_of
from sextant.stores.graph.arrays import GraphArrays as StoredGraph
from sextant.stores.graph.protocol import GraphCopies, WholeGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.scopes import Stamp
from sextant.text.name_linker import NameTrie, name_key, names_of_title

_TITLE = KINDS.index(MentionKind.TITLE)


@dataclass(frozen=True, slots=True)
class ScopeIndex:
    """The passages, graph and reports of a scope.

    Attributes:
        passages: their words and vectors.
        names: finds entities by name and alias.
        types: the relation types, searchable by words and meaning.
        walk: the graph, for personalised PageRank.
        entities: ids of the graph's entities, by row.
        labels: their names.
        reports: reports of its communities.
    """

    passages: PassageIndex
    names: NameTrie[int]
    types: RelationTypes
    walk: WalkIndex
    entities: IdTable
    labels: Sequence[str]
    reports: ReportIndex

    @property
    def chunk_ids(self) -> IdTable:
        """Return the id of every passage."""
        return self.passages.ids

    @property
    def lexical(self) -> LexicalIndex:
        """Return BM25 over the passages."""
        return self.passages.lexical

    @classmethod
    def build(cls, passages: PassageIndex, stored: StoredGraph, reports: ReportIndex) -> ScopeIndex:
        """Build the index from stored data; takes about 0.1 ms a passage."""
        uses = np.bincount(stored.relation_type, minlength=len(stored.relation_types))
        types = RelationTypes(stored.relation_types, passages.lexical, uses)
        return cls(
            passages=passages,
            names=_names(stored),
            types=types,
            walk=WalkIndex(_graph(stored, passages.ids.halves)),
            entities=IdTable(stored.entities),
            labels=stored.names,
            reports=reports,
        )


class ScopeIndexes:
    """A cache of the indexes of scopes; built off the event loop, once for all who wait.

    Args:
        chunks: store of the passages.
        record: the graph in PostgreSQL.
        copies: copies of the graph in Neo4j, used while they are current; None: there are none.
        passages: number of passages of all indexes; the least recently used index is evicted first.
        vectors: largest number of passages of a scope whose vectors are in memory, too.
        patience: seconds that a question waits for an update while there is an older index.
        idle: seconds after which an unused index is evicted.
    """

    def __init__(
        self,
        chunks: ChunkStore,
        record: GraphRecord,
        passages: int,
        *,
        copies: GraphCopies | None = None,
        vectors: int = 20_000,
        patience: float = 5.0,
        idle: float = math.inf,
    ) -> None:
        self._chunks = chunks
        self._record = record
        self._copies = copies
        self._vectors = vectors
        self._patience = patience
        self._query_vectors: dict[str, QueryVectors] = {}
        self._cached: VersionedCache[Scope, Stamp, ScopeIndex] = VersionedCache(
            passages, lambda index: len(index.chunk_ids), idle=idle
        )

    def query_vectors(self, embedder: Embedder) -> QueryVectors:
        """Return the vectors of this embedder that questions share."""
        return self._query_vectors.setdefault(embedder.name, QueryVectors(embedder))

    def cached(self, scope: Scope) -> tuple[Stamp, ScopeIndex] | None:
        """Return the index in memory with its stamp, current or not."""
        return self._cached.peek(scope)

    async def get(self, scope: Scope) -> ScopeIndex:
        """Return the index of the scope as it is now.

        If an update takes longer than the patience, the older index is returned with a warning. A caller that is
        cancelled does not stop the build, and gets a warning.
        """
        try:
            return await self._at(scope, await self.stamp(scope))
        except GraphStoreUnavailable:
            # The copy failed while it was read; the new stamp is of the record.
            return await self._at(scope, await self.stamp(scope))

    async def stamp(self, scope: Scope) -> Stamp:
        """Return a stamp that changes with the passages, graph and reports of the scope."""
        if self._copies is None:
            return await self._chunks.stamp(scope)
        stamp, copy = await asyncio.gather(self._chunks.stamp(scope), self.copy(scope))
        return replace(stamp, copy=copy)

    async def copy(self, scope: Scope) -> str:
        """Return the state of the copy to read the graph from; empty: read it from the record."""
        return "" if self._copies is None else await self._copies.state(scope)

    def whole(self, stamp: Stamp) -> WholeGraph:
        """Return the source of the graph of a stamp."""
        return self._copies if stamp.copy and self._copies is not None else self._record

    async def _at(self, scope: Scope, stamp: Stamp) -> ScopeIndex:
        build = partial(self._build, scope, stamp)
        try:
            index, current = await self._cached.get(scope, stamp, build, self._patience)
        except asyncio.CancelledError:
            if self.cached(scope) is None:
                warn(WarningCode.INDEX_BUILDING)
            raise
        if not current:
            warn(WarningCode.INDEX_BEHIND)
        return index

    async def close(self) -> None:
        """Stop the builds of this loop, and drop all indexes."""
        await self._cached.close()

    async def _build(
        self, scope: Scope, stamp: Stamp, before: tuple[Stamp, ScopeIndex] | None
    ) -> ScopeIndex:
        whole = self.whole(stamp)
        if before is None:
            return await self._read(scope, PassageIndex.empty(), whole)
        known, index = before
        if replace(known, reports=stamp.reports) == stamp:
            return replace(index, reports=await self._reports(scope, whole))
        return await self._read(scope, index.passages, whole)

    async def _read(self, scope: Scope, before: PassageIndex, whole: WholeGraph) -> ScopeIndex:
        """Build the index; unchanged passages come from the one before."""
        passages, stored, reports = await asyncio.gather(
            self._passages(scope, before), whole.arrays(scope), self._reports(scope, whole)
        )
        return await asyncio.to_thread(ScopeIndex.build, passages, stored, reports)

    async def _passages(self, scope: Scope, before: PassageIndex) -> PassageIndex:
        states = await self._chunks.documents(scope)
        changed = before.changed(states)
        if not changed and len(states) == len(before.states):
            return before
        fresh = await self._chunks.passages(scope, changed)
        now = await asyncio.to_thread(before.updated, states, fresh)
        if not len(now.ids) or len(now.ids) > self._vectors:
            return now
        wanted = states if before.vectors is None else changed
        vectors = await self._chunks.vectors(scope, list(wanted))
        return await asyncio.to_thread(now.with_vectors, before, vectors)

    async def _reports(self, scope: Scope, whole: WholeGraph) -> ReportIndex:
        communities, vectors = await whole.reports(scope)
        return await asyncio.to_thread(ReportIndex, communities, vectors)


def _names(stored: StoredGraph) -> NameTrie[int]:
    entities: defaultdict[str, list[int]] = defaultdict(list)
    for entity, name in enumerate(stored.names):
        for variant in names_of_title(name):
            entities[variant].append(entity)
    spelled = {name_key(name) for name in entities}
    for alias, entity in zip(stored.alias_norms, stored.alias_entity.tolist(), strict=True):
        # An alias is stored in lower case; a name of the same letters goes first, as it is written.
        if entity >= 0 and name_key(alias) not in spelled:
            entities[alias].append(entity)
    return NameTrie(entities)


def _graph(stored: StoredGraph, chunk_ids: Ids) -> ScopeGraph:
    """Return the stored graph over the given passages, without mentions of others."""
    rows = index_of(chunk_ids, stored.chunks).astype(np.int64)
    passage = rows[stored.mention_chunk]
    there = passage >= 0
    pairs = np.stack([passage[there], stored.mention_entity[there].astype(np.int64)], axis=1)
    titled = stored.mention_kind[there] == _TITLE
    mentions = _distinct(pairs)
    relations = np.stack(
        [stored.relation_source, stored.relation_target, stored.relation_type], axis=1
    ).astype(np.int64)
    stated = [stored.statement_relation.astype(np.int64), rows[stored.statement_chunk]]
    statements = np.stack(stated, axis=1)  # relation and passage
    return ScopeGraph(
        passages=len(chunk_ids),
        entities=len(stored.entities),
        types=len(stored.relation_types),
        mentions=mentions,
        titles=_distinct(pairs[titled]),
        relations=relations,
        relation_weights=stored.relation_weight.astype(np.float32),
        statements=_distinct(statements[statements[:, 1] >= 0]),
    )


def _distinct(pairs: Ints) -> Ints:
    """Return distinct pairs of numbers ≥ 0 in rising order, twenty times faster than `np.unique` with an axis."""
    width = int(pairs[:, 1].max(initial=0)) + 1
    keys = np.sort(pairs[:, 0] * width + pairs[:, 1])
    return np.stack(np.divmod(keys[np.diff(keys, prepend=-1) > 0], width), axis=1)
