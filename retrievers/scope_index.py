"""What `mix` keeps of a scope in memory: its words, names and graph, built once per version.

PostgreSQL stays the truth: a stamp of the scope's chunks and graph tells when an index is out of
date, and losing an index costs only the time to build it again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from domain.graph import MentionKind
from domain.linking import NameTrie, name_key, names_of_title
from domain.scope import Scope
from models.protocols import Embedder
from retrievers.lexical import LexicalIndex
from retrievers.meanings import Meanings
from retrievers.relations import Ints
from retrievers.statements import RelationTypes
from retrievers.walk import GraphArrays, WalkIndex
from stores.chunks import ChunkStore, Passage
from stores.graph.arrays import KINDS, Ids, halves_of, places_of
from stores.graph.arrays import GraphArrays as StoredGraph
from stores.graph.ids import IdTable
from stores.graph.record import GraphRecord

_TITLE = KINDS.index(MentionKind.TITLE)


@dataclass(frozen=True, slots=True)
class ScopeIndex:
    """A scope's passages and graph, ready to be asked; passages are rows in the order of their ids.

    Attributes:
        chunk_ids: id of every passage.
        lexical: BM25 over the passages.
        names: finds entities by name and alias.
        types: finds relation types by the question's words and meaning.
        walk: the graph, for personalised PageRank.
        entities: ids of the graph's entities, by row.
    """

    chunk_ids: IdTable
    lexical: LexicalIndex
    names: NameTrie[int]
    types: RelationTypes
    walk: WalkIndex
    entities: IdTable

    @classmethod
    def build(cls, passages: Sequence[Passage], stored: StoredGraph) -> ScopeIndex:
        """Build from what the stores hold; takes about a third of a millisecond a passage."""
        chunk_ids = halves_of(passage.id for passage in passages)
        lexical = LexicalIndex.build(passage.searched for passage in passages)
        uses = np.bincount(stored.relation_type, minlength=len(stored.relation_types))
        return cls(
            chunk_ids=IdTable(chunk_ids),
            lexical=lexical,
            names=_names(stored),
            types=RelationTypes(stored.relation_types, lexical, uses),
            walk=WalkIndex(_graph(stored, chunk_ids)),
            entities=IdTable(stored.entities),
        )


class ScopeIndexes:
    """The indexes of the scopes asked last; built off the event loop, once for all who wait on one.

    Args:
        chunks: where passages come from.
        record: where the graph comes from.
        passages: most passages kept over all scopes; those asked longest ago go first.
        folder: where `meanings` keeps what it computes; None: nowhere.
    """

    def __init__(
        self,
        chunks: ChunkStore,
        record: GraphRecord,
        passages: int,
        folder: Path | None = None,
    ) -> None:
        self._chunks = chunks
        self._record = record
        self._limit = passages
        self._folder = folder
        self._meanings: dict[str, Meanings] = {}
        self._ready: OrderedDict[Scope, tuple[str, ScopeIndex]] = OrderedDict()
        self._building: dict[_Build, asyncio.Task[ScopeIndex]] = {}

    def meanings(self, embedder: Embedder) -> Meanings:
        """What questions are compared by besides passages, by this embedder's vectors."""
        return self._meanings.setdefault(embedder.name, Meanings(embedder, self._folder))

    async def get(self, scope: Scope) -> ScopeIndex:
        """The index of the scope as it is now.

        A caller that stops waiting does not stop the build.
        """
        stamp = f"{await self._chunks.stamp(scope)} {await self._record.version(scope)}"
        known, index = self._ready.get(scope, ("", None))
        if index is not None and known == stamp:
            self._ready.move_to_end(scope)
            return index
        # A task belongs to its event loop, and a synchronous caller brings a loop of its own.
        build = (asyncio.get_running_loop(), scope, stamp)
        if build not in self._building:
            self._building[build] = asyncio.create_task(self._build(build))
        return await asyncio.shield(self._building[build])

    async def _build(self, build: _Build) -> ScopeIndex:
        _, scope, stamp = build
        try:
            passages, stored = await asyncio.gather(
                self._chunks.passages(scope), self._record.arrays(scope)
            )
            index = await asyncio.to_thread(ScopeIndex.build, passages, stored)
        finally:
            del self._building[build]
        self._ready[scope] = (stamp, index)
        self._ready.move_to_end(scope)
        self._shrink()
        return index

    def _shrink(self) -> None:
        """Let go of the scopes asked longest ago while too many passages are kept; never of the last."""
        sizes = {scope: len(index.chunk_ids) for scope, (_, index) in self._ready.items()}
        total = sum(sizes.values())
        for scope, size in list(sizes.items())[:-1]:
            if total <= self._limit:
                return
            total -= size
            del self._ready[scope]


_Build = tuple[asyncio.AbstractEventLoop, Scope, str]


def _names(stored: StoredGraph) -> NameTrie[int]:
    bearers: defaultdict[str, list[int]] = defaultdict(list)
    for entity, name in enumerate(stored.names):
        for variant in names_of_title(name):
            bearers[variant].append(entity)
    spelled = {name_key(name) for name in bearers}
    for alias, entity in zip(stored.alias_norms, stored.alias_entity.tolist(), strict=True):
        # An alias is kept folded; it must not loosen how a name of the same letters is written.
        if entity >= 0 and name_key(alias) not in spelled:
            bearers[alias].append(entity)
    return NameTrie(bearers)


def _graph(stored: StoredGraph, chunk_ids: Ids) -> GraphArrays:
    """The stored graph over the passages at hand; the two were read a moment apart."""
    rows = places_of(chunk_ids, stored.chunks).astype(np.int64)
    passage = rows[stored.mention_chunk]
    there = passage >= 0
    pairs = np.stack([passage[there], stored.mention_entity[there].astype(np.int64)], axis=1)
    titled = stored.mention_kind[there] == _TITLE
    mentions = _distinct(pairs)
    relations = np.stack(
        [stored.relation_source, stored.relation_target, stored.relation_type], axis=1
    ).astype(np.int64)
    return GraphArrays(
        passages=len(chunk_ids),
        entities=len(stored.entities),
        types=len(stored.relation_types),
        mentions=mentions,
        titles=_distinct(pairs[titled]),
        relations=relations,
        relation_weights=stored.relation_weight.astype(np.float32),
        statements=_statements(stored, rows),
    )


def _statements(stored: StoredGraph, rows: Ints) -> Ints:
    """(Relation, passage) rows of what the passages at hand state."""
    pairs = np.stack([stored.statement_relation.astype(np.int64), rows[stored.statement_chunk]], 1)
    return _distinct(pairs[pairs[:, 1] >= 0])


def _distinct(pairs: Ints) -> Ints:
    unique: Ints = np.unique(pairs, axis=0) if len(pairs) else pairs.reshape(0, 2)
    return unique
