"""What graph modes keep of a scope in memory: words, vectors, names, graph and reports.

Passages are PostgreSQL's; the graph and its reports are Neo4j's where it has a copy that is up to date. A stamp
of both tells when an index is out of date, and losing an index costs only the time to build it again.
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
from sextant.retrievers.index.passages import (
    IndexedReport,
    PassageIndex,
    QueryVectors,
    ReportIndex,
    ReportRows,
)
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
    """A scope's passages, graph and reports, ready to be asked.

    Attributes:
        passages: their words and vectors.
        names: finds entities by name and alias.
        types: finds relation types by the question's words and meaning.
        walk: the graph, for personalised PageRank.
        entities: ids of the graph's entities, by row.
        labels: their names.
        reports: of its communities.
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
        """Return id of every passage."""
        return self.passages.ids

    @property
    def lexical(self) -> LexicalIndex:
        """Return BM25 over the passages."""
        return self.passages.lexical

    @classmethod
    def build(cls, passages: PassageIndex, stored: StoredGraph, reports: ReportIndex) -> ScopeIndex:
        """Build from what the stores hold; takes about a tenth of a millisecond a passage."""
        uses = np.bincount(stored.relation_type, minlength=len(stored.relation_types))
        types = RelationTypes(stored.relation_types, passages.lexical, uses)
        return cls(
            passages=passages,
            names=_names(stored),
            types=types,
            walk=WalkIndex(_graph(stored, passages.ids.halves, types.co_occurs)),
            entities=IdTable(stored.entities),
            labels=stored.names,
            reports=reports,
        )

    def rows_of_report(self, report: IndexedReport) -> ReportRows:
        """Return a report of this index as rows of it."""
        return ReportRows.of(report.community, self.entities.halves, self.chunk_ids.halves)


class ScopeIndexes:
    """The indexes of the scopes asked last; built off the event loop, once for all who wait on one.

    Args:
        chunks: where passages come from.
        record: where the graph comes from.
        copies: where it comes from instead as long as they are current; None: there are none.
        passages: most passages kept over all scopes; those asked longest ago go first.
        vectors: most passages of a scope whose vectors are kept, too; of larger ones the store is
            asked.
        patience: seconds that a question waits for what has changed while there is an older index.
        idle: seconds after which an index that nobody asks is let go.
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
        """Return the index in memory, whether it is of now or not, with the stamp of what it is of."""
        return self._cached.peek(scope)

    async def get(self, scope: Scope) -> ScopeIndex:
        """Return the index of the scope as it is now.

        When bringing it up to date takes longer than the patience, the one of before answers, which
        `sextant.stores.graph.protocol` tells. A caller that stops waiting does not stop the build, and is told so.
        """
        try:
            return await self._at(scope, await self.stamp(scope))
        except GraphStoreUnavailable:
            # The copy went away while it was read; by now its state says that the record has to answer.
            return await self._at(scope, await self.stamp(scope))

    async def stamp(self, scope: Scope) -> Stamp:
        """Return what changes whenever something does that the scope's index is made of."""
        if self._copies is None:
            return await self._chunks.stamp(scope)
        stamp, copy = await asyncio.gather(self._chunks.stamp(scope), self.copy(scope))
        return replace(stamp, copy=copy)

    async def copy(self, scope: Scope) -> str:
        """Return the state of the copy that the graph is to be read from; empty: it is to be the record."""
        return "" if self._copies is None else await self._copies.state(scope)

    def whole(self, stamp: Stamp) -> WholeGraph:
        """Return where the graph of a stamp is."""
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
        """Stop what this loop is building, and let go of all indexes."""
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
        """Everything but the passages that have stayed as they were."""
        passages, stored, reports = await asyncio.gather(
            self._passages(scope, before),
            whole.arrays(scope),
            self._reports(scope, whole),
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
        # An alias is kept folded; it must not loosen how a name of the same letters is written.
        if entity >= 0 and name_key(alias) not in spelled:
            entities[alias].append(entity)
    return NameTrie(entities)


def _graph(stored: StoredGraph, chunk_ids: Ids, co_occurs: int) -> ScopeGraph:
    """Return the stored graph over the passages at hand; the two were read a moment apart."""
    rows = index_of(chunk_ids, stored.chunks).astype(np.int64)
    passage = rows[stored.mention_chunk]
    there = passage >= 0
    pairs = np.stack([passage[there], stored.mention_entity[there].astype(np.int64)], axis=1)
    titled = stored.mention_kind[there] == _TITLE
    mentions = _distinct(pairs)
    relations = np.stack(
        [stored.relation_source, stored.relation_target, stored.relation_type], axis=1
    ).astype(np.int64)
    return ScopeGraph(
        passages=len(chunk_ids),
        entities=len(stored.entities),
        types=len(stored.relation_types),
        mentions=mentions,
        titles=_distinct(pairs[titled]),
        relations=relations,
        relation_weights=stored.relation_weight.astype(np.float32),
        statements=_statements(stored, rows),
        co_occurs=co_occurs,
    )


def _statements(stored: StoredGraph, rows: Ints) -> Ints:
    """Return (Relation, passage) rows of what the passages at hand state."""
    pairs = np.stack([stored.statement_relation.astype(np.int64), rows[stored.statement_chunk]], 1)
    return _distinct(pairs[pairs[:, 1] >= 0])


def _distinct(pairs: Ints) -> Ints:
    """Return the pairs in rising order, each once.

    Pairs of numbers from 0 on, as one number each, are sorted twenty times faster than `np.unique` finds
    1.2 million distinct rows or numbers.
    """
    width = int(pairs[:, 1].max(initial=0)) + 1
    keys = np.sort(pairs[:, 0] * width + pairs[:, 1])
    return np.stack(np.divmod(keys[np.diff(keys, prepend=-1) > 0], width), axis=1)
