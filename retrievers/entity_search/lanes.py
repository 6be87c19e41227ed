"""The three lanes of a search for entities: meaning, words, and the graph around the best by meaning.

What the question names, word for word, is nearest by meaning and best by words, whatever its description
adds to its vector and its text: without that another's description can put it third by the weighted formula alone.

Also here: the words of a question that full text is asked for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sextant.domain.errors import ConflictError, EmbeddingModelChanged, InputError, RetrievalError
from sextant.domain.graph import Entity
from sextant.domain.scope import Scope
from sextant.domain.settings import EntitySearchSettings
from sextant.domain.tasks import stop
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers.lanes.warnings import find_causes, log_failures
from sextant.stores.graph.protocol import EntityFilter, EntityHit, GraphStore, Hop
from sextant.stores.postgresql.watched import with_deadline
from sextant.stores.scopes import EntityStamp
from sextant.text.analysis import Analyzer, Tokenizer, drop_stop_word
from sextant.text.characters import normalise, normalise_name
from sextant.text.segmenter import search_words_of
from sextant.text.stopwords import is_stop_word

# Relations read of an entity at first; enough for ten new neighbours but for entities that share
# many relations with those already seen, of which more are read then.
_READ = 24
_MOST_READ = 24 * 4**4

_Order = tuple[float, UUID]


@dataclass(frozen=True, slots=True)
class Reached:
    """An entity that a walk came to: over which relation, from where, and at which depth (from 1)."""

    id: UUID
    via: UUID
    relation_type: str
    weight: float
    depth: int

    def score(self, decay: float) -> float:
        """Return `weight · decay^depth`."""
        return float(self.weight * decay**self.depth)


async def heaviest_relations(
    graph: GraphStore, scope: Scope, ids: Sequence[UUID], read: int = _READ
) -> dict[UUID, list[Hop]]:
    """Return the `read` heaviest relations of each entity, heaviest first, then by id."""
    by_end: dict[UUID, list[Hop]] = {one: [] for one in ids}
    for hop in await graph.neighbourhood(scope, list(by_end), depth=1, per_node=read):
        for end in (hop.source_id, hop.target_id):
            if end in by_end:
                by_end[end].append(hop)
    return {one: sorted(some, key=_order)[:read] for one, some in by_end.items()}


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk over a graph; each level keeps its `per_level` heaviest new neighbours.

    Relations are walked both ways, since which end a co-occurrence calls its source means nothing.
    An entity counts where it is met first; the seeds themselves are not results. Exact: of an entity
    with many relations more are read until what is unread cannot be among the heaviest.

    A level has at most ten entities, however many neighbours were seen.
    """

    graph: GraphStore
    scope: Scope
    per_level: int

    async def levels(self, seeds: Sequence[UUID], depth: int) -> list[Reached]:
        """Return what is reached from `seeds` in `depth` levels, level by level, heaviest first."""
        visited, frontier = set(seeds), list(dict.fromkeys(seeds))
        found: list[Reached] = []
        for level in range(1, depth + 1):
            if not frontier:
                break
            reached = await self._level(frontier, visited, level)
            found += reached
            frontier = [one.id for one in reached]
            visited.update(frontier)
        return found

    async def _level(
        self, frontier: Sequence[UUID], visited: set[UUID], level: int
    ) -> list[Reached]:
        read = _READ
        while True:
            hops = await heaviest_relations(self.graph, self.scope, frontier, read)
            best = _new_neighbours(hops, visited, level)[: self.per_level]
            # Nothing that was not read comes before the last that was, of its entity.
            unread = [_order(path[-1]) for path in hops.values() if len(path) == read]
            full = len(best) == self.per_level
            decided = not unread or (full and best[-1][0] <= min(unread))
            if decided or read >= _MOST_READ:
                return [reached for _, reached in best]
            read *= 4


def _new_neighbours(
    hops: Mapping[UUID, Sequence[Hop]], visited: set[UUID], level: int
) -> list[tuple[_Order, Reached]]:
    """Return every neighbour not seen yet, by its heaviest relation; heaviest first, then by relation."""
    best: dict[UUID, tuple[_Order, Reached]] = {}
    for start, path in hops.items():
        for hop in path:
            other = hop.other_end(start)
            order = _order(hop)
            if other not in visited and (other not in best or order < best[other][0]):
                reached = Reached(other, start, hop.relation_type, hop.weight, level)
                best[other] = (order, reached)
    return sorted(best.values(), key=lambda entry: (entry[0], entry[1].id))


def _order(hop: Hop) -> _Order:
    return -hop.weight, hop.relation_id


_MOST = 64


def words_of(question: str) -> list[str]:
    """Return the words that say something, in order, each once, at most 64.

    Chinese is cut into words by jieba's dictionary; stop words of both languages are left out. A
    single ideograph is a word only where nothing else is left: full text knows pairs. Code points
    that stand for nothing are no words.
    """
    found = list(dict.fromkeys(_WORDS.terms(normalise(question))))
    longer = [word for word in found if len(word) > 1 or word.isascii()]
    return (longer or found)[:_MOST]


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

# A text's cosine with itself; and of full text, where only the order means something, what sets the named
# apart from the best of the others.
_SAME, _ABOVE_THE_BEST = 1.0, 2.0

_Work = Coroutine[Any, Any, None]
_Named = asyncio.Task[list[Entity]]


@dataclass(slots=True)
class EntityHits:
    """What the lanes found: (entity, score) best first by lane, and how the graph lane came there.

    `named`: what the question names word for word.
    """

    hits: dict[str, list[tuple[UUID, float]]] = field(default_factory=dict)
    entities: dict[UUID, Entity] = field(default_factory=dict)
    paths: dict[UUID, Reached] = field(default_factory=dict)
    named: set[UUID] = field(default_factory=set)
    timings: dict[str, float] = field(default_factory=dict)
    failed: dict[str, Exception] = field(default_factory=dict)

    @property
    def warnings(self) -> list[CodedWarning]:
        """Return a warning for every lane that failed, and why these did."""
        return [*(_GOES_ON[lane] for lane in self.failed), *find_causes(self.failed)]


@dataclass(frozen=True, slots=True)
class EntityQuestion:
    """A question to one knowledge base as it is at a moment, and which entities may be found."""

    scope: Scope
    question: str
    stamp: EntityStamp
    only: EntityFilter


@dataclass(frozen=True, slots=True)
class EntityLanes:
    """Runs the lanes over one graph store; a lane that fails or is late does not stop the others."""

    graph: GraphStore
    embedder: Embedder
    settings: EntitySearchSettings
    deadline: float

    async def run(self, question: EntityQuestion) -> EntityHits:
        """Meaning and words at the same time; the graph as soon as meaning has found where to start.

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
        finally:  # one that is refused leaves the others running
            await stop(meaning, words, named)
        if VECTOR in found.failed and FTS in found.failed:
            raise RetrievalError.of(found.failed)
        return found

    async def _named(self, question: EntityQuestion) -> list[Entity]:
        """Return those whose name is the question, in any spelling; where there is none, those with such an alias."""
        hits = await self.graph.entities_by_alias(question.scope, [question.question])
        if not hits:
            return []
        there = await self.graph.get_entities(
            question.scope, [hit.entity.id for hit in hits], question.only
        )
        name = normalise_name(question.question)
        return [one for one in there if normalise_name(one.name) == name] or there

    async def _meaning_then_graph(
        self, found: EntityHits, question: EntityQuestion, named: _Named
    ) -> None:
        await self._run(found, VECTOR, lambda: self._meaning(found, question, named))
        if seeds := [key for key, _ in found.hits.get(VECTOR, [])[: self.settings.seeds]]:
            await self._run(found, GRAPH, lambda: self._neighbours(found, question, seeds))

    async def _meaning(self, found: EntityHits, question: EntityQuestion, named: _Named) -> None:
        vector = await self.embedder.embed_query(question.question)
        _require_space(self.embedder, vector, question.stamp)
        k = self.settings.candidates
        hits = await self.graph.entities_by_vector(question.scope, vector, k, question.only)
        near = [hit for hit in hits if hit.score > self.settings.threshold]
        _take(found, VECTOR, near, await asyncio.shield(named), _SAME)

    async def _words(self, found: EntityHits, question: EntityQuestion, named: _Named) -> None:
        words = await asyncio.to_thread(words_of, question.question)
        k = self.settings.candidates
        hits = await self.graph.entities_by_words(question.scope, words, k, question.only)
        best = hits[0].score if hits else 1.0
        _take(found, FTS, hits, await asyncio.shield(named), _ABOVE_THE_BEST * best)

    async def _neighbours(
        self, found: EntityHits, question: EntityQuestion, seeds: Sequence[UUID]
    ) -> None:
        scope = question.scope
        walk = Walk(self.graph, scope, self.settings.neighbours)
        reached = await walk.levels(seeds, self.settings.depth)
        found.paths = {one.id: one for one in reached}
        seen = await self.graph.get_entities(scope, list(found.paths), question.only)
        decay = self.settings.decay
        scored = [(one.id, found.paths[one.id].score(decay)) for one in seen]
        found.hits[GRAPH] = sorted(scored, key=lambda hit: (-hit[1], hit[0]))
        found.entities |= {one.id: one for one in seen}

    async def _run(self, found: EntityHits, lane: str, work: Callable[[], _Work]) -> None:
        """Note how a lane fared; its failure is data from here on."""
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


def _take(
    found: EntityHits, lane: str, hits: Sequence[EntityHit], named: Sequence[Entity], head: float
) -> None:
    """Take over what a lane found, after what the question names, which has the score `head`."""
    found.named |= {one.id for one in named}
    others = [(hit.entity.id, hit.score) for hit in hits if hit.entity.id not in found.named]
    found.hits[lane] = [(one.id, head) for one in named] + others
    found.entities |= {one.id: one for one in (*named, *(hit.entity for hit in hits))}


def _require_space(embedder: Embedder, vector: Vectors, stamp: EntityStamp) -> None:
    """Vectors of another model mean nothing, and those of another length cannot be compared at all."""
    length = stamp.dimension
    other = stamp.space is not None and stamp.space != embedder.name
    if other or (length is not None and vector.shape != (length,)):
        raise EmbeddingModelChanged(
            f"The stored vectors come from {stamp.space or 'another model'} ({length} dimensions), "
            f"but the question's from {embedder.name} ({'×'.join(map(str, vector.shape))}).",
            next_step="Run `sextant reembed`, or set SEXTANT_EMBEDDING back.",
            field="embedding",
        )
