"""A question held against a knowledge base: what its lanes over the scope's index have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from domain.errors import ConflictError, SextantError
from domain.retrieval import ItemKind, LaneScore, RetrievedItem
from domain.scope import Scope
from models.protocols import Embedder, Vectors
from retrievers.index.passages import Near
from retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from retrievers.index.sparse import Floats, Places
from retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery
from retrievers.lanes.two_events import two_events
from retrievers.memory.texts import ScopeTexts, Texts
from retrievers.ranking.mixing import Evidence, Ranking, fit_of, link_strength
from retrievers.ranking.relevance import blend, highest, nearest_wanted, nearness, with_parts
from stores.chunks import ChunkStore
from stores.deadlines import seen
from stores.graph.arrays import places_of
from stores.stamps import Stamp

T = TypeVar("T")

WALK = "walk"

# Orders passages that the walk does not reach, below all that it does.
_FIT_SHARE = 1e-4
_LEAST_SCORE = 1e-9
_TELLING_LINK = 0.25
# So many scores are counted faster than sorted, where a passage says little of what common words say.
_MANY = 8192
_NOTHING = Near(np.empty(0, np.intp), np.empty(0, np.float32))
NO_VECTOR = "向量检索失败，使用关键词与图谱检索降级"


@dataclass(frozen=True, slots=True)
class Reading:
    """A scope's index, and what a question shares with it.

    Attributes:
        index: the scope's passages and graph.
        evidence: words, meaning and names that the question shares with them.
        vector: the question's vector; None when no model gave one.
        near: the passages nearest to the centred vector, with cosines; none without vectors.
        allowed: whether the question's filters let a passage through; None without filters.
    """

    index: ScopeIndex
    evidence: Evidence
    vector: Vectors | None
    near: Near
    allowed: npt.NDArray[np.bool_] | None = None


Work = Callable[[Reading], object]


@dataclass(slots=True)
class QuestionReader:
    """Reads one question once for all the lanes that want it; made anew for every search.

    Args:
        chunks, embedder, indexes: what is read.
        trusting: take the scope's index as it is in memory, where it is; whoever asks compares `stamp`
            with the scope's when it reads the texts of what was found.
        texts: where texts may be at hand.

    Attributes:
        stamp: of the index that was trusted; None: it was the scope's own when the question came.
        told: the texts of all that this index finds, if they are at hand.
        now: the scope's stamp, where they are: it is asked for after all that is read of the store.
    """

    chunks: ChunkStore
    embedder: Embedder
    indexes: ScopeIndexes
    trusting: bool = False
    texts: Texts | None = None
    stamp: Stamp | None = field(default=None, init=False)
    told: ScopeTexts | None = field(default=None, init=False)
    now: asyncio.Task[Stamp] | None = field(default=None, init=False)
    _reading: asyncio.Task[Reading] | None = field(default=None, init=False)
    _works: list[Work] | None = field(default_factory=list[Work], init=False)
    _outcomes: list[Any] = field(default_factory=list[Any], init=False)

    async def ask(self, query: LaneQuery, work: Callable[[Reading], T]) -> T:
        """What `work` makes of the question held against the scope as it is now, in a thread.

        Works that are given before the scope is at hand share one trip to a thread. Without a model
        that answers, words and names go on alone, with a warning.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._read(query))
        if self._works is None:
            return await asyncio.to_thread(work, await asyncio.shield(self._reading))
        place = len(self._works)
        self._works.append(work)
        await asyncio.shield(self._reading)
        outcome: T | Exception = self._outcomes[place]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def look(self, scope: Scope) -> None:
        """Ask for the scope's stamp, if it is wanted, now that the store has been read."""
        if self.told is not None:
            self.now = asyncio.create_task(self.chunks.stamp(scope))
            self.now.add_done_callback(seen)  # nobody need wait for it

    async def _read(self, query: LaneQuery) -> Reading:
        texts = [query.text, *two_events(query.text)]
        index, vectors = await self._index_and_vectors(query, texts)
        whole, *events = [
            await self._sought(query, index, text, vector)
            for text, vector in zip(texts, vectors, strict=True)
        ]
        similar = await self._type_similarity(index, vectors[0])
        allowed = await self._allowed(query, index)
        works, self._works = self._works or [], None
        if self.now is None:
            self.look(query.scope)

        def read() -> tuple[Reading, list[Any]]:
            nearest = whole.nearest(index)
            evidence = _evidence(index, query.text, nearest, similar, events)
            reading = Reading(index, evidence, vectors[0], nearest or _NOTHING, allowed)
            return reading, [_outcome(work, reading) for work in works]

        reading, self._outcomes = await asyncio.to_thread(read)
        return reading

    async def _index_and_vectors(
        self, query: LaneQuery, texts: Sequence[str]
    ) -> tuple[ScopeIndex, list[Vectors | None]]:
        kept = self.indexes.kept(query.scope) if self.trusting else None
        if kept is None:
            vectors = asyncio.gather(*(self._vector(query, text) for text in texts))
            return await asyncio.gather(self.indexes.get(query.scope), vectors)
        self.stamp, index = kept
        if self.texts is not None:
            self.told = self.texts.of(query.scope, self.stamp, index)
        if query.filters is None and index.passages.vectors is not None:
            self.look(query.scope)  # nothing else is read: it comes while the question is embedded
        return index, [await self._vector(query, text) for text in texts]

    async def _sought(
        self, query: LaneQuery, index: ScopeIndex, text: str, vector: Vectors | None
    ) -> _Sought:
        if vector is None:
            return _Sought(text)
        centred = await self.indexes.meanings(self.embedder).centred(vector)
        if index.passages.vectors is not None:
            return _Sought(text, centred)
        return _Sought(text, found=await self._near(query, index, centred))

    async def _type_similarity(self, index: ScopeIndex, vector: Vectors | None) -> Floats | None:
        if vector is None:
            return None
        return await self.indexes.meanings(self.embedder).type_similarity(index.types, vector)

    async def _allowed(self, query: LaneQuery, index: ScopeIndex) -> npt.NDArray[np.bool_] | None:
        if query.filters is None:
            return None
        matching = await self.chunks.matching(query.scope, query.filters)
        rows = places_of(index.chunk_ids.halves, matching)
        allowed = np.zeros(len(index.chunk_ids), np.bool_)
        allowed[rows[rows >= 0]] = True
        return allowed

    async def _vector(self, query: LaneQuery, text: str) -> Vectors | None:
        try:
            return await self.embedder.embed_query(text)
        except ConflictError:
            raise
        except SextantError:
            query.warn(NO_VECTOR)
            return None

    async def _near(self, query: LaneQuery, index: ScopeIndex, vector: Vectors) -> Near | None:
        """The nearest passages as the store finds them."""
        try:
            found = await self.chunks.nearest(
                query.scope, vector, nearest_wanted(len(index.chunk_ids))
            )
        except ConflictError:
            raise
        except SextantError:
            query.warn(NO_VECTOR)
            return None
        rows = places_of(index.chunk_ids.halves, found.ids).astype(np.intp)
        return Near(rows[rows >= 0], found.cosines[rows >= 0])


@dataclass(frozen=True, slots=True)
class _Sought:
    """The question or one event of it, by meaning: its centred vector, or what the store `found` near."""

    text: str
    centred: Vectors | None = None
    found: Near | None = None

    def nearest(self, index: ScopeIndex) -> Near | None:
        """The passages nearest to it; None when no model gave a vector."""
        if self.centred is None:
            return self.found
        return index.passages.nearest(self.centred, nearest_wanted(len(index.chunk_ids)))


def _outcome(work: Work, reading: Reading) -> object:
    """What a lane's work comes to, or why it failed: the other lanes' goes on."""
    try:
        return work(reading)
    except Exception as failure:  # noqa: BLE001 - raised in the lane that asked
        return failure


def best_passages(
    query: LaneQuery, reading: Reading, ranking: Ranking, *, by: str = WALK
) -> list[RetrievedItem]:
    """The best `query.limit` passages of a ranking, without their texts (`contents`).

    Fewer only when the scope has fewer. The score is the mass relative to the best passage's;
    passages without mass follow, by their fit to the question. `by` names what gave the mass in the
    items' `lanes`.
    """
    scores = ranking.passages / (float(ranking.passages.max(initial=0.0)) or np.float32(1))
    scores += _FIT_SHARE * ranking.fit
    near = reading.near
    scores[near.rows] += np.float32(_FIT_SHARE * _FIT_SHARE) * np.maximum(near.cosines, 0)
    rows = _best(scores, query.limit, reading.allowed)
    most = float(scores.max(initial=0.0)) or 1.0
    shares = np.maximum(scores[rows] / most, _LEAST_SCORE)
    lanes = {
        by: _ranks(ranking.passages, rows),
        KEYWORD: _ranks(reading.evidence.match.scores, rows),
        VECTOR: _ranks_of_nearest(near, rows, len(scores)),
    }
    return [
        RetrievedItem(
            ItemKind.CHUNK,
            own,
            "",
            share,
            lanes={lane: placed for lane, placed in zip(lanes, places, strict=True) if placed},
        )
        for own, share, *places in zip(
            reading.index.chunk_ids.texts_of(rows), shares.tolist(), *lanes.values(), strict=True
        )
    ]


def _evidence(
    index: ScopeIndex,
    question: str,
    nearest: Near | None,
    type_similarity: Floats | None,
    events: Sequence[_Sought],
) -> Evidence:
    evidence = Evidence(
        match=index.lexical.match(question),
        near=_nearness(index, nearest),
        named=_named(index, question),
        type_match=index.types.named_by(question),
        type_similarity=type_similarity,
    )
    fit = fit_of(index.walk, evidence)
    return replace(evidence, fit=_with_events(index, fit, events) if events else fit)


def _with_events(index: ScopeIndex, fit: Floats, events: Sequence[_Sought]) -> Floats:
    return with_parts(
        fit,
        [
            blend(index.lexical.match(event.text), _nearness(index, event.nearest(index)))
            for event in events
        ],
    )


def _nearness(index: ScopeIndex, nearest: Near | None) -> Floats | None:
    if nearest is None:
        return None
    return nearness(nearest.rows, nearest.cosines, len(index.chunk_ids))


def _named(index: ScopeIndex, question: str) -> dict[int, float]:
    """Entities that the question names, with the strength of each link."""
    named: dict[int, float] = {}
    for _, bearers, strength in _links(index, question):
        for entity in bearers:
            named[entity] = max(strength, named.get(entity, 0.0))
    return {entity: strength for entity, strength in named.items() if strength > 0}


def linked_names(index: ScopeIndex, text: str) -> dict[str, list[str]]:
    """Names in `text`, as written there, with the ids of the entities that bear them.

    Without names of words that most passages hold ("time", "country"), which name nothing.
    """
    return {
        name: index.entities.texts_of(list(bearers))
        for name, bearers, strength in _links(index, text)
        if strength >= _TELLING_LINK
    }


def _links(index: ScopeIndex, text: str) -> Iterator[tuple[str, tuple[int, ...], float]]:
    for match in index.names.find(text):
        name = text[match.start : match.end]
        yield name, match.bearers, link_strength(index.lexical, name)


def _best(scores: Floats, count: int, allowed: npt.NDArray[np.bool_] | None) -> Places:
    """Rows of the highest scores among those allowed, best first."""
    if allowed is None:
        return highest(scores, count)
    there = np.flatnonzero(allowed)
    return there[highest(scores[there], count)]


def _ranks(scores: Floats, rows: Places) -> list[LaneScore | None]:
    """The rank from 1 and the score of each of `rows` that scores at all."""
    own = scores[rows]
    least = own[own > 0].min(initial=np.inf)
    others = scores[scores >= least]
    better = better_of_many(others, own) if len(others) > _MANY else better_of_few(others, own)
    return [
        LaneScore(1 + rank, score) if score > 0 else None
        for rank, score in zip(better, own.tolist(), strict=True)
    ]


def better_of_few(scores: Floats, own: Floats) -> list[int]:
    """How many scores are higher than each of `own`, by sorting them."""
    found: list[int] = (len(scores) - np.searchsorted(np.sort(scores), own, side="right")).tolist()
    return found


def better_of_many(scores: Floats, own: Floats) -> list[int]:
    """The same by counting: of 100,000 scores that is done in a tenth of the time that sorting takes."""
    return [int(np.count_nonzero(scores > one)) for one in own]


def _ranks_of_nearest(near: Near, rows: Places, passages: int) -> list[LaneScore | None]:
    """The same by meaning, where cosines are there of the nearest passages only, best first."""
    places = np.full(passages, -1, np.intp)
    places[near.rows] = np.arange(len(near.rows))
    return [
        LaneScore(1 + place, float(near.cosines[place])) if place >= 0 else None
        for place in places[rows].tolist()
    ]
