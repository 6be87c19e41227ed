"""The passages and community reports of a scope in memory, searchable by meaning; and vectors that questions share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.errors import SextantError
from sextant.domain.graph import Community
from sextant.domain.versioned_cache import VersionedCache
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers.arrays import (
    Floats,
    Rows,
    SparseScores,
    among_highest,
    dot,
    highest,
    unit,
)
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.relations import RelationTypes
from sextant.stores.chunks.stored import IndexPassage
from sextant.stores.graph.arrays import Ids, IdTable, halves_of, index_of
from sextant.stores.postgresql.queries import Embedded
from sextant.text.analysis import terms


class IndexedReport:
    """A community's report, with what questions need of it."""

    def __init__(self, community: Community) -> None:
        self.community = community

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the terms of title, summary and findings."""
        findings = " ".join(finding.text for finding in self.community.findings)
        return frozenset(terms(f"{self.community.title} {self.community.summary} {findings}"))

    @cached_property
    def members(self) -> frozenset[int]:
        """Return the entities as integers, which compare ten times faster than UUIDs."""
        return frozenset(one.int for one in self.community.entity_ids)

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Return the metadata of the report as a retrieved item."""
        report = self.community
        return {
            "title": report.title,
            "summary": report.summary,
            "level": report.level,
            "rating": report.rating,
            "findings": [
                {"text": finding.text, "chunk_ids": [str(chunk) for chunk in finding.chunk_ids]}
                for finding in report.findings
            ],
            "entity_ids": [str(member) for member in report.entity_ids],
        }


@dataclass(frozen=True, slots=True)
class ReportRows:
    """The entities and passages of a report as rows of an index; those that are not in the index are left out.

    Attributes:
        members: its entities.
        passages: the passages of its findings, one finding after the other.
        lateness: position of the finding of each passage, 0 for the first to below 1.
    """

    members: Rows
    passages: Rows
    lateness: npt.NDArray[np.float64]

    @classmethod
    def of(cls, report: Community, entities: Ids, chunks: Ids) -> ReportRows:
        """Return the rows of a report among rising ids of entities and passages."""
        members = index_of(entities, halves_of(report.entity_ids))
        findings = report.findings
        passages = index_of(chunks, halves_of(one for each in findings for one in each.chunk_ids))
        rests = [len(finding.chunk_ids) for finding in findings]
        lateness = np.repeat(np.arange(len(findings)) / max(len(findings), 1), rests)
        there = passages >= 0
        return cls(
            members[members >= 0].astype(np.intp), passages[there].astype(np.intp), lateness[there]
        )


class ReportIndex:
    """Reports with normalised vectors.

    Args:
        communities: communities with a report.
        vectors: of reports, by the community's id; some may lack one.
    """

    def __init__(self, communities: Sequence[Community], vectors: Embedded) -> None:
        self.reports = [IndexedReport(one) for one in sorted(communities, key=lambda one: one.id)]
        positions = index_of(halves_of(one.community.id for one in self.reports), vectors.ids)
        self._rows: Rows = np.sort(positions[positions >= 0]).astype(np.intp)
        ordered = vectors.vectors[positions >= 0][np.argsort(positions[positions >= 0])]
        self._vectors: Vectors = unit(ordered)

    def near(
        self, question: Vectors | None, count: int
    ) -> tuple[list[IndexedReport], Sequence[float]]:
        """Return the `count` reports nearest to a question's vector, best first, then by id; and their cosines.

        If the question or the reports have no vector, all reports with similarity 0.
        """
        if question is None or not len(self._rows):
            return self.reports, [0.0] * len(self.reports)
        cosines: Floats = dot(self._vectors, unit(question))
        best = highest(cosines, count)
        return [self.reports[row] for row in self._rows[best]], cosines[best].tolist()


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """Passages by row, in the order of their ids.

    Attributes:
        states: document → a text that changes when its passages do.
        documents: index in `states` of the document of every passage.
        ids: id of every passage.
        lexical: BM25 over the passages.
        vectors: normalised, shape (passages, dimension); None: they are not in memory.
    """

    states: Mapping[UUID, str]
    documents: npt.NDArray[np.int32]
    ids: IdTable
    lexical: LexicalIndex
    vectors: Vectors | None = None

    @classmethod
    def empty(cls) -> PassageIndex:
        """Return the index of no passage."""
        none = np.empty(0, np.int32)
        return cls({}, none, IdTable(np.empty((0, 2), np.uint64)), LexicalIndex.build(()))

    def changed(self, states: Mapping[UUID, str]) -> list[UUID]:
        """Return the new and changed documents."""
        return [one for one, state in states.items() if self.states.get(one) != state]

    def updated(self, states: Mapping[UUID, str], fresh: Sequence[IndexPassage]) -> PassageIndex:
        """Return the index of the passages as they are now, without vectors.

        Takes 0.25 ms for each fresh passage and some microseconds for each of the others.

        Args:
            states: all documents.
            fresh: all passages of documents that are new or `changed`.
        """
        number = {document: index for index, document in enumerate(states)}
        was = np.array(
            [number[one] if states.get(one) == state else -1 for one, state in self.states.items()],
            np.int32,
        )
        document = was[self.documents] if len(was) else self.documents
        unchanged = np.flatnonzero(document >= 0)
        ids = np.concatenate(
            [self.ids.halves[unchanged], halves_of(passage.id for passage in fresh)]
        )
        order = np.lexsort((ids[:, 1], ids[:, 0]))
        index = np.empty(len(ids), np.intp)
        index[order] = np.arange(len(ids))
        rows_of = np.full(len(self.ids), -1, np.intp)
        rows_of[unchanged] = index[: len(unchanged)]
        new = np.array([number[passage.document_id] for passage in fresh], np.int32)
        in_order = [fresh[one - len(unchanged)] for one in order[order >= len(unchanged)].tolist()]
        return PassageIndex(
            states,
            np.concatenate([document[unchanged], new])[order],
            IdTable(ids[order]),
            self.lexical.updated(rows_of, (passage.searched for passage in in_order)),
        )

    def with_vectors(self, before: PassageIndex, fresh: Embedded) -> PassageIndex:
        """Return the index with vectors of `before` and fresh ones; without vectors if a passage lacks one."""
        rows = index_of(self.ids.halves, fresh.ids)
        new = unit(fresh.vectors[rows >= 0])
        known = before.vectors if before.vectors is not None else new[:0]
        if len(new) and new.shape[1] != known.shape[1]:
            known = new[:0]
        was = index_of(before.ids.halves[: len(known)], self.ids.halves)
        position = np.where(was < 0, -1, was)
        position[rows[rows >= 0]] = len(known) + np.arange(len(new))
        if (position < 0).any():
            return self
        every = np.concatenate([known, new]) if len(new) else known
        return replace(self, vectors=every[position])

    def nearest(self, question: Vectors, count: int) -> SparseScores:
        """Return the cosines of the `count` passages nearest to a question's vector, shape (dimension,).

        The index must have vectors.
        """
        assert self.vectors is not None  # noqa: S101 - the caller checks it
        cosines = dot(self.vectors, unit(question))
        rows = among_highest(cosines, count)
        return SparseScores(rows, cosines[rows])


_ENGLISH = (
    "What is the river called?",
    "Who was president at the time?",
    "In which year did the team win the championship?",
    "At which university did the author study?",
    "What are the symptoms of the disease?",
    "How is the medicine taken?",
    "What did the teacher say about the trip?",
    "When does the meeting take place?",
)

_CHINESE = (
    "这条河叫什么名字？",
    "当时的总统是谁？",
    "球队在哪一年夺得冠军？",
    "作者毕业于哪所大学？",
    "这种疾病有哪些症状？",
    "这种药怎么服用？",
    "老师对这次旅行说了什么？",
    "会议什么时候举行？",
)

GENERIC_QUESTIONS = _ENGLISH + _CHINESE


# Half of the mean of questions is subtracted from a question: docs/experiments/ranking.md.
_CENTRING = np.float32(0.5)
_PATIENCE_SECONDS = 2.0
_CACHED_TYPES, _CACHED_TYPE_SETS = 4096, 16


class QueryVectors:
    """Vectors that many questions share: the mean of generic questions, and those of relation types.

    They are computed once. A question waits two seconds for them at most, and goes on without.

    Args:
        embedder: computes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._common: Vectors | None = None
        self._types: VersionedCache[str, None, Vectors] = VersionedCache(_CACHED_TYPES)
        # By set of types; the empty set stands for the mean of generic questions.
        self._sets: VersionedCache[tuple[str, ...], None, Vectors] = VersionedCache(
            _CACHED_TYPE_SETS
        )

    async def centred(self, question: Vectors) -> Vectors:
        """Return the question's vector minus half of the mean of generic questions, normalised.

        Vectors of questions share a direction; passages in that direction would be near every question.

        Args:
            question: shape (dimension,), normalised.
        """
        common = self._common
        if common is None:
            common = self._common = await self._patiently((), self._embed_common)
        if common is None:
            return question
        rest = question - _CENTRING * common
        length = float(np.linalg.norm(rest))
        return (rest / length).astype(np.float32) if length else question

    async def type_similarity(self, types: RelationTypes, question: Vectors) -> Floats | None:
        """Return the cosine of each relation type to a question, shape (types,); None without vectors.

        A type is embedded as a passage. See `RelationTypes.similarity`.
        """
        key = types.common
        if not key:
            return None
        vectors = self._sets.at(key, None)
        if vectors is None:
            vectors = await self._patiently(key, lambda: self._embed_types(key))
        return None if vectors is None else types.similarity(dot(vectors, question))

    async def _patiently(
        self, key: tuple[str, ...], compute: Callable[[], Coroutine[None, None, Vectors]]
    ) -> Vectors | None:
        """Return vectors that are computed once for all questions; None if that fails or takes long."""
        try:
            vectors, _ = await asyncio.wait_for(
                self._sets.get(key, None, lambda _: compute()), _PATIENCE_SECONDS
            )
        except (TimeoutError, SextantError):
            return None
        return vectors

    async def _embed_types(self, types: tuple[str, ...]) -> Vectors:
        cached = ((one, self._types.at(one, None)) for one in types)
        known = {one: vector for one, vector in cached if vector is not None}
        unknown = [one for one in types if one not in known]
        texts = [one.replace("_", " ") for one in unknown]
        fresh = await self._embedder.embed_passages(texts) if texts else ()
        known.update(zip(unknown, fresh, strict=True))
        for one in unknown:
            self._types.put(one, None, known[one])
        return np.stack([known[one] for one in types])

    async def _embed_common(self) -> Vectors:
        vectors = await asyncio.gather(*map(self._embedder.embed_query, GENERIC_QUESTIONS))
        common: Vectors = np.mean(vectors, axis=0, dtype=np.float32)
        return common
