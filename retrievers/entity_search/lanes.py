"""The three lanes of entity search: meaning, words, and the graph around the best entities by meaning.

An entity whose name is the question leads the lanes of meaning and words. Its description is part of its vector and
text, so that otherwise another entity could go before it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sextant.domain.concurrency import stop
from sextant.domain.errors import ConflictError, EmbeddingModelChanged, InputError
from sextant.domain.graph import Entity
from sextant.domain.retrieval import RetrievalError
from sextant.domain.scope import Scope
from sextant.domain.settings import EntitySearchSettings
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.protocols import Embedder
from sextant.retrievers.lanes.lane import find_causes, log_failures
from sextant.stores.graph.protocol import EntityFilter, EntityHit, GraphStore, Hop
from sextant.stores.postgresql.watched import with_deadline
from sextant.stores.scopes import EntityStamp
from sextant.text.analysis import Analyzer, Tokenizer, drop_stop_word
from sextant.text.characters import normalise, normalise_name
from sextant.text.segmenter import search_words_of
from sextant.text.stopwords import is_stop_word

# Relations read of an entity, heaviest first: enough for ten new neighbours, though some lead back or are parallel.
_READ = 64


@dataclass(frozen=True, slots=True)
class ReachedEntity:
    """An entity that a traversal reached: over which relation, from which entity, and at which depth (from 1)."""

    id: UUID
    via: UUID
    relation_type: str
    weight: float
    depth: int

    def score(self, decay: float) -> float:
        """Return `weight · decay^depth`."""
        return float(self.weight * decay**self.depth)


async def heaviest_relations(
    graph: GraphStore, scope: Scope, ids: Sequence[UUID]
) -> dict[UUID, list[Hop]]:
    """Return the heaviest relations of each entity, heaviest first, then by id."""
    by_end: dict[UUID, list[Hop]] = {id_: [] for id_ in ids}
    for hop in await graph.neighbourhood(scope, list(by_end), depth=1, per_node=_READ):
        for end in (hop.source_id, hop.target_id):
            if end in by_end:
                by_end[end].append(hop)
    return {id_: sorted(hops, key=_order)[:_READ] for id_, hops in by_end.items()}


async def traverse(
    graph: GraphStore, scope: Scope, seeds: Sequence[UUID], *, depth: int, per_level: int
) -> list[ReachedEntity]:
    """Return the entities around `seeds`, level by level, heaviest relation first; without the seeds.

    Relations are followed both ways, and an entity counts at the level that reaches it first.

    Args:
        graph: the store.
        scope: whose data, and which knowledge base.
        seeds: where to start.
        depth: number of levels.
        per_level: entities of a level at most, those with the heaviest relations.
    """
    visited, frontier = set(seeds), list(dict.fromkeys(seeds))
    found: list[ReachedEntity] = []
    for level in range(1, depth + 1):
        if not frontier:
            break
        hops = await heaviest_relations(graph, scope, frontier)
        reached = _new_neighbours(hops, visited, level)[:per_level]
        found += reached
        frontier = [entity.id for entity in reached]
        visited.update(frontier)
    return found


def _new_neighbours(
    hops: Mapping[UUID, Sequence[Hop]], visited: set[UUID], level: int
) -> list[ReachedEntity]:
    """Return every new neighbour by its heaviest relation; heaviest first, then by relation."""
    best: dict[UUID, tuple[tuple[float, UUID], ReachedEntity]] = {}
    for start, relations in hops.items():
        for hop in relations:
            other, order = hop.other_end(start), _order(hop)
            if other not in visited and (other not in best or order < best[other][0]):
                reached = ReachedEntity(other, start, hop.relation_type, hop.weight, level)
                best[other] = (order, reached)
    ordered = sorted(best.values(), key=lambda entry: (entry[0], entry[1].id))
    return [reached for _, reached in ordered]


def _order(hop: Hop) -> tuple[float, UUID]:
    return -hop.weight, hop.relation_id


_MAX_WORDS = 64


def words_of(question: str) -> list[str]:
    """Return the words to search full text for, in order, each once, at most 64; without stop words.

    Chinese is segmented by jieba. A single ideograph counts only if there is nothing else, since full text
    indexes pairs.
    """
    found = list(dict.fromkeys(_WORDS.terms(normalise(question))))
    longer = [word for word in found if len(word) > 1 or word.isascii()]
    return (longer or found)[:_MAX_WORDS]


def _chinese_words(ideographs: str) -> list[str]:
    words = search_words_of(ideographs)
    return [word for word in words if word.isalnum() and not is_stop_word(word)]


_WORDS = Analyzer(Tokenizer(_chinese_words), (drop_stop_word,))

VECTOR, FTS, GRAPH = "vector", "fts", "graph"
LANES = (VECTOR, FTS, GRAPH)

_GOES_ON = {
    VECTOR: CodedWarning(WarningCode.ENTITY_VECTOR_LANE_FAILED),
    FTS: CodedWarning(WarningCode.ENTITY_TEXT_LANE_FAILED),
    GRAPH: CodedWarning(WarningCode.ENTITY_GRAPH_LANE_FAILED),
}

# Score of a named entity: the cosine of a text with itself; in full text, where scores have no scale, twice the best.
_NAMED_COSINE, _NAMED_FACTOR = 1.0, 2.0

_Work = Coroutine[Any, Any, None]
_Named = asyncio.Task[list[Entity]]


@dataclass(slots=True)
class EntityHits:
    """What the lanes found.

    Attributes:
        hits: lane → (entity, score), best first.
        entities: all entities by id.
        paths: how the graph lane reached its entities.
        named: entities whose name or alias is the question.
        timings: milliseconds by lane.
        failed: lane → its error.
    """

    hits: dict[str, list[tuple[UUID, float]]] = field(default_factory=dict)
    entities: dict[UUID, Entity] = field(default_factory=dict)
    paths: dict[UUID, ReachedEntity] = field(default_factory=dict)
    named: set[UUID] = field(default_factory=set)
    timings: dict[str, float] = field(default_factory=dict)
    failed: dict[str, Exception] = field(default_factory=dict)

    @property
    def warnings(self) -> list[CodedWarning]:
        """Return a warning for every failed lane, then the causes."""
        return [*(_GOES_ON[lane] for lane in self.failed), *find_causes(self.failed)]


@dataclass(frozen=True, slots=True)
class EntityQuestion:
    """A question to one knowledge base, with the stamp of its present state and a filter of entities."""

    scope: Scope
    question: str
    stamp: EntityStamp
    only: EntityFilter


@dataclass(frozen=True, slots=True)
class EntityLanes:
    """Runs the lanes over a graph store; a lane that fails or is late does not stop the others."""

    graph: GraphStore
    embedder: Embedder
    settings: EntitySearchSettings
    deadline: float

    async def run(self, question: EntityQuestion) -> EntityHits:
        """Run the lanes of meaning and words at the same time, and the graph lane after that of meaning.

        Raises:
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: neither meaning nor words could be searched.
        """
        found = EntityHits()
        named = asyncio.create_task(with_deadline(self.deadline, self._named(question)))
        meaning = asyncio.create_task(self._meaning_then_graph(found, question, named))
        words = asyncio.create_task(
            self._run(found, FTS, lambda: self._words(found, question, named))
        )
        try:
            await asyncio.gather(meaning, words)
        finally:  # an error of one lane leaves the others running
            await stop(meaning, words, named)
        if VECTOR in found.failed and FTS in found.failed:
            raise RetrievalError.of(found.failed)
        return found

    async def _named(self, question: EntityQuestion) -> list[Entity]:
        """Return the entities whose name is the question, in any spelling, else those with such an alias."""
        hits = await self.graph.entities_by_alias(question.scope, [question.question])
        if not hits:
            return []
        ids = [hit.entity.id for hit in hits]
        entities = await self.graph.get_entities(question.scope, ids, question.only)
        name = normalise_name(question.question)
        return [entity for entity in entities if normalise_name(entity.name) == name] or entities

    async def _meaning_then_graph(
        self, found: EntityHits, question: EntityQuestion, named: _Named
    ) -> None:
        await self._run(found, VECTOR, lambda: self._meaning(found, question, named))
        if seeds := [key for key, _ in found.hits.get(VECTOR, [])[: self.settings.seeds]]:
            await self._run(found, GRAPH, lambda: self._neighbours(found, question, seeds))

    async def _meaning(self, found: EntityHits, question: EntityQuestion, named: _Named) -> None:
        vector = await self.embedder.embed_query(question.question)
        space, length = question.stamp.space, question.stamp.dimension
        is_other = space is not None and space != self.embedder.name
        if is_other or (length is not None and vector.shape != (length,)):
            raise EmbeddingModelChanged(
                f"The stored vectors come from {space or 'another model'} ({length} dimensions), "
                f"but the question's from {self.embedder.name} ({'×'.join(map(str, vector.shape))}).",
                next_step="Run `sextant reembed`, or set SEXTANT_EMBEDDING back.",
                field="embedding",
            )
        k = self.settings.candidates
        hits = await self.graph.entities_by_vector(question.scope, vector, k, question.only)
        near = [hit for hit in hits if hit.score > self.settings.threshold]
        _add_hits(found, VECTOR, near, await asyncio.shield(named), _NAMED_COSINE)

    async def _words(self, found: EntityHits, question: EntityQuestion, named: _Named) -> None:
        words = await asyncio.to_thread(words_of, question.question)
        k = self.settings.candidates
        hits = await self.graph.entities_by_words(question.scope, words, k, question.only)
        best = hits[0].score if hits else 1.0
        _add_hits(found, FTS, hits, await asyncio.shield(named), _NAMED_FACTOR * best)

    async def _neighbours(
        self, found: EntityHits, question: EntityQuestion, seeds: Sequence[UUID]
    ) -> None:
        scope, settings = question.scope, self.settings
        reached = await traverse(
            self.graph, scope, seeds, depth=settings.depth, per_level=settings.neighbours
        )
        found.paths = {entity.id: entity for entity in reached}
        entities = await self.graph.get_entities(scope, list(found.paths), question.only)
        scored = [(entity.id, found.paths[entity.id].score(settings.decay)) for entity in entities]
        found.hits[GRAPH] = sorted(scored, key=lambda hit: (-hit[1], hit[0]))
        found.entities |= {entity.id: entity for entity in entities}

    async def _run(self, found: EntityHits, lane: str, work: Callable[[], _Work]) -> None:
        """Run a lane, and note its time and its error."""
        started = time.perf_counter()
        try:
            await with_deadline(self.deadline, work())
        except (InputError, ConflictError):
            raise
        except Exception as error:  # noqa: BLE001 - a lane is an edge: its failure is data from here on
            log_failures({lane: error})
            found.failed[lane] = error
            found.hits.pop(lane, None)
        found.timings[lane] = milliseconds_since(started)


def _add_hits(
    found: EntityHits, lane: str, hits: Sequence[EntityHit], named: Sequence[Entity], score: float
) -> None:
    """Add the hits of a lane, the named entities first; these get `score`."""
    found.named |= {entity.id for entity in named}
    others = [(hit.entity.id, hit.score) for hit in hits if hit.entity.id not in found.named]
    found.hits[lane] = [(entity.id, score) for entity in named] + others
    found.entities |= {entity.id: entity for entity in (*named, *(hit.entity for hit in hits))}
