"""Writes the reports of dirty communities, as far as they need new ones.

Also here: when a report is rewritten.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from sextant.domain.graph import Relation
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.graph.communities.membership import CommunityGroup
from sextant.ingestion.graph.communities.model_reports import Material, ReportWriter
from sextant.ingestion.graph.communities.network import Floats, Network
from sextant.ingestion.graph.communities.outlines import Outline, outlines
from sextant.ingestion.graph.communities.reports import (
    CommunityEvidence,
    CommunityReport,
    extractive_report,
)
from sextant.ingestion.progress import OnStage
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.graph.communities.store import Basis, CommunityStore, KnownReport, StoredReport
from sextant.stores.graph.ids import relation_id
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel

# The share of the weight, of the entities, of the passages or of the relations, from which on a report
# lacks too much. A third member of two, a fourth passage beside three is more; a tenth of ten is less.
NEWS = 0.2
# Those who lead a community, and how many a report can be expected to name.
_LEADING, NAMED = 3, 12


@dataclass(frozen=True, slots=True)
class Present:
    """What reports rest on, as it is now: relations and texts of passages by id, numbers of entities."""

    arrays: GraphArrays
    relations: Mapping[UUID, Relation]
    passages: Mapping[UUID, str]
    entities: Mapping[UUID, int]

    @classmethod
    def of(
        cls,
        arrays: GraphArrays,
        entities: Iterable[UUID],
        relations: Mapping[UUID, Relation],
        passages: Mapping[UUID, str],
    ) -> Present:
        """Look up the numbers of these entities and of the relations' ends at once."""
        ends = chain.from_iterable((one.source_id, one.target_id) for one in relations.values())
        ids = list({*entities, *ends})
        numbers = dict(zip(ids, arrays.entity_indices(ids).tolist(), strict=True))
        return cls(arrays, relations, passages, numbers)

    def words(
        self, entities: Sequence[UUID], relations: Sequence[UUID], cited: Iterable[UUID]
    ) -> UUID:
        """Return a hash of what a report of these may tell: names, statements, passages."""
        digest = hashlib.md5(usedforsecurity=False)
        names = [self._name(entity_id) for entity_id in entities[:NAMED]]
        stated = [self._statement(entity_id) for entity_id in relations]
        passages = [self.passages.get(entity_id, "") for entity_id in sorted(set(cited))]
        for text in chain(names, ("",), stated, ("",), passages):
            digest.update(text.encode() + b"\0")
        return UUID(bytes=digest.digest())

    def holds(self, outline: Outline, basis: Basis) -> bool:
        """Return whether whom a report names, and the ends of its relations, are members still."""
        relations = [
            self.relations[relation_id]
            for relation_id in basis.relations
            if relation_id in self.relations
        ]
        ends = chain.from_iterable((one.source_id, one.target_id) for one in relations)
        numbers = [
            self.entities[relation_id] for relation_id in chain(basis.entities[:NAMED], ends)
        ]
        return bool(np.isin(numbers, outline.group.members).all())

    def _name(self, entity_id: UUID) -> str:
        number = self.entities[entity_id]
        return self.arrays.names[number] if number >= 0 else ""

    def _statement(self, relation_id: UUID) -> str:
        relation = self.relations.get(relation_id)
        if relation is None:
            return ""
        ends = self._name(relation.source_id), self._name(relation.target_id)
        return f"{ends[0]}\0{relation.description}\0{ends[1]}"


def stays(present: Present, outline: Outline, known: KnownReport) -> bool:
    """Return whether a report can stay as it is."""
    basis = known.basis
    return (
        basis is not None
        and lacks_little(present.arrays, outline, basis)
        and present.holds(outline, basis)
        and cites_members(present.arrays, outline, known.cited)
        and present.words(basis.entities, basis.relations, known.cited) == basis.words
    )


def lacks_little(arrays: GraphArrays, outline: Outline, basis: Basis) -> bool:
    """Return whether nearly all of what there is now was there when the report was made."""
    entities, passages, relations = ids_of(arrays, outline)
    weights = arrays.relation_weight[outline.relations]
    return (
        set(entities[:_LEADING]) <= set(basis.entities[:NAMED])
        and news(entities, outline.weights, set(basis.entities)) < NEWS
        and news(passages, outline.telling, set(basis.passages)) < NEWS
        and news(relations, weights, set(basis.relations)) < NEWS
    )


def news(now: Sequence[UUID], weights: Floats, then: Set[UUID]) -> float:
    """Return how much of the weight of what is there `now` is of what was not there `then`, 0..1; `weights` are those of `now`."""
    fresh = np.array([one not in then for one in now], np.bool_)
    return float(weights[fresh].sum() / weights.sum()) if len(now) else 0.0


def cites_members(arrays: GraphArrays, outline: Outline, cited: Sequence[UUID]) -> bool:
    """Return whether all these passages are there and mention a member."""
    return bool(np.isin(arrays.chunk_indices(cited), outline.mentioned).all())


def basis_of(present: Present, outline: Outline, cited: Iterable[UUID]) -> Basis:
    """Return what a report is made from that is written now and cites these passages."""
    entities, passages, relations = ids_of(present.arrays, outline)
    return Basis(entities, passages, relations, present.words(entities, relations, cited))


def ids_of(
    arrays: GraphArrays, outline: Outline
) -> tuple[tuple[UUID, ...], tuple[UUID, ...], tuple[UUID, ...]]:
    """Return an outline's entities, passages and relations by their ids."""
    return (
        tuple(arrays.entity_id(n) for n in outline.entities.tolist()),
        tuple(arrays.chunk_id(n) for n in outline.passages.tolist()),
        tuple(_relation_id(arrays, row) for row in outline.relations.tolist()),
    )


def _relation_id(arrays: GraphArrays, row: int) -> UUID:
    return relation_id(
        arrays.entity_id(int(arrays.relation_source[row])),
        arrays.entity_id(int(arrays.relation_target[row])),
        arrays.relation_types[arrays.relation_type[row]],
    )


_REPORTS_AT_ONCE = 64  # communities at a time


class ReportKeeper:
    """Keeps the reports of one graph's communities, for one run.

    Args:
        database: where they are.
        scope: whose graph.
        arrays: the graph as it is.
        network: what joins its entities.
        chat: writes the reports; None: they are put together from sentences.
        full: rewrite every report that would come out differently now, even where little has changed.
    """

    def __init__(
        self,
        database: Database,
        scope: Scope,
        arrays: GraphArrays,
        network: Network,
        chat: ChatModel | None,
        *,
        full: bool = False,
    ) -> None:
        self._scope, self._arrays, self._network = scope, arrays, network
        self._full = full
        self._failures = Counter[str]()  # by reason
        self._communities = CommunityStore(database)
        self._graph = PostgresGraph(database)
        self._record = GraphRecord(database)
        self._chunks = ChunkStore(database)
        settings = database.settings
        self._writer: ReportWriter | None = None
        if chat is not None:
            self._writer = ReportWriter(
                chat,
                tokens=settings.limits.context_tokens,
                most=settings.communities.model_reports,
                at_once=settings.communities.concurrency,
            )

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """Return how many reports the model should have written and did not, and the commonest reason."""
        if not self._failures:
            return ()
        ((reason, _),) = self._failures.most_common(1)
        params = {"reports": count(self._failures.total(), "report"), "reason": reason}
        return (CodedWarning(WarningCode.REPORTS_WITHOUT_MODEL, params),)

    async def write(self, groups: Sequence[CommunityGroup], report: OnStage) -> int:
        """Write what is due, the innermost first, since a model reads those; returns how many."""
        waiting = set(await self._communities.dirty(self._scope))
        due = sorted((one for one in groups if one.id in waiting), key=lambda one: -one.level)
        reading = await self._record.reading_order(self._scope)
        drawn = await asyncio.to_thread(outlines, self._arrays, self._network, due, reading)
        written = done = 0
        for part in _portions(drawn):
            written += await self._write_some(part)
            done += len(part)
            report("reports", done, len(drawn))
        return written

    async def _write_some(self, part: Sequence[Outline]) -> int:
        ids = [one.group.id for one in part]
        known = await self._communities.known(self._scope, ids)
        staying = set() if self._full else await self._staying(part, known)
        due = [one for one in part if one.group.id not in staying]
        evidence = await self._evidence(due)
        if self._writer is None:
            fresh = await asyncio.to_thread(_by_extraction, evidence, known)
        else:
            fresh = await self._by_model(evidence, known, self._writer)
        cited = {id_: one.cited for id_, one in known.items()} | {
            one.id: one.cited for one in fresh
        }
        bases = await self._bases(due, cited)
        written = [replace(one, basis=bases.pop(one.id)) for one in fresh]
        await self._communities.write(self._scope, self._arrays.version, written)
        await self._communities.settle(
            self._scope, self._arrays.version, dict.fromkeys(sorted(staying)) | bases
        )
        return len(written)

    async def _staying(
        self, part: Sequence[Outline], known: Mapping[UUID, KnownReport]
    ) -> set[UUID]:
        """Return communities whose reports are still correct and lack little."""
        writer = self._writer.name if self._writer else ""
        candidates = [one for one in known.values() if one.writer == writer and one.basis]
        bases = [one.basis for one in candidates if one.basis]
        present = await self._present(
            chain.from_iterable(one.entities for one in bases),
            chain.from_iterable(one.relations for one in bases),
            chain.from_iterable(one.cited for one in candidates),
        )
        its = {one.id: one for one in candidates}
        pairs = [(one, its[one.group.id]) for one in part if one.group.id in its]
        return await asyncio.to_thread(
            lambda: {known.id for outline, known in pairs if stays(present, outline, known)}
        )

    async def _bases(
        self, part: Sequence[Outline], cited: Mapping[UUID, Sequence[UUID]]
    ) -> dict[UUID, Basis]:
        """Return what the reports of some communities are made from now, which cite these passages."""
        drawn = [ids_of(self._arrays, one) for one in part]
        present = await self._present(
            chain.from_iterable(entities for entities, _, _ in drawn),
            chain.from_iterable(relations for _, _, relations in drawn),
            chain.from_iterable(cited[one.group.id] for one in part),
        )
        return {
            group_id: basis_of(present, one, cited[group_id])
            for one in part
            for group_id in [one.group.id]
        }

    async def _present(
        self, entities: Iterator[UUID], relations: Iterator[UUID], passages: Iterator[UUID]
    ) -> Present:
        stated = await self._load_relations(set(relations))
        chunks = await self._texts(set(passages))
        texts = {chunk_id: chunk.text for chunk_id, chunk in chunks.items()}
        return Present.of(self._arrays, entities, stated, texts)

    async def _by_model(
        self,
        evidence: Sequence[CommunityEvidence],
        known: Mapping[UUID, KnownReport],
        writer: ReportWriter,
    ) -> list[StoredReport]:
        """Ask the model about the communities whose material has changed."""
        inner = await self._communities.parts(
            self._scope, [one.outline.group.id for one in evidence]
        )
        requests = {
            group_id: material
            for one in evidence
            for group_id in [one.outline.group.id]
            for material in [Material(one, inner.get(group_id, ()))]
            if _is_news(known.get(group_id), writer.name, material.digest)
        }
        reports = await asyncio.gather(*(writer.write(material) for material in requests.values()))
        self._failures.update(report.note for report in reports if report.note)
        return [
            _to_stored(group_id, report, material.digest)
            for (group_id, material), report in zip(requests.items(), reports, strict=True)
        ]

    async def _evidence(self, part: Sequence[Outline]) -> list[CommunityEvidence]:
        """Return the texts of some communities' outlines, read at once."""
        arrays = self._arrays
        ids = [ids_of(arrays, one) for one in part]
        chunks = await self._texts({chunk_id for _, passages, _ in ids for chunk_id in passages})
        stated = await self._load_relations(
            {chunk_id for _, _, relations in ids for chunk_id in relations}
        )
        return [
            CommunityEvidence(
                one,
                [arrays.names[n] for n in one.entities.tolist()],
                [arrays.entity_types[n] for n in one.entities.tolist()],
                [chunks[chunk_id] for chunk_id in passages if chunk_id in chunks],
                [
                    (arrays.names[source], stated[chunk_id], arrays.names[target])
                    for chunk_id, row in zip(relations, one.relations.tolist(), strict=True)
                    if chunk_id in stated
                    for source in [arrays.relation_source[row]]
                    for target in [arrays.relation_target[row]]
                ],
            )
            for one, (_, passages, relations) in zip(part, ids, strict=True)
        ]

    async def _load_relations(self, ids: set[UUID]) -> dict[UUID, Relation]:
        found = await self._graph.get_relations(self._scope, sorted(ids)) if ids else []
        return {relation.id: relation for relation in found}

    async def _texts(self, ids: set[UUID]) -> dict[UUID, StoredChunk]:
        found = await self._chunks.get(self._scope, sorted(ids)) if ids else []
        return {chunk.id: chunk for chunk in found}


def _portions(drawn: Sequence[Outline]) -> Iterator[list[Outline]]:
    """Yield some communities at a time, all of one level, so that parts are written before the whole."""
    for _, level in groupby(drawn, key=lambda one: one.group.level):
        rest = list(level)
        for start in range(0, len(rest), _REPORTS_AT_ONCE):
            yield rest[start : start + _REPORTS_AT_ONCE]


def _by_extraction(
    evidence: Sequence[CommunityEvidence], known: Mapping[UUID, KnownReport]
) -> list[StoredReport]:
    """Return the extracted reports that differ from the stored ones."""
    reports = [_extract_report(one) for one in evidence]
    return [one for one in reports if _is_news(known.get(one.id), one.writer, one.evidence)]


def _is_news(known: KnownReport | None, writer: str, evidence: UUID | None) -> bool:
    return known is None or (known.writer, known.evidence) != (writer, evidence)


def _extract_report(evidence: CommunityEvidence) -> StoredReport:
    report = extractive_report(evidence)
    digest = _hash(report.title, report.summary, repr(report.findings))
    return _to_stored(evidence.outline.group.id, report, digest)


def _to_stored(group_id: UUID, report: CommunityReport, evidence: UUID) -> StoredReport:
    return StoredReport(
        group_id,
        report.title,
        report.summary,
        report.findings,
        report.rating,
        report.writer,
        report.note,
        evidence,
    )


def _hash(*texts: str) -> UUID:
    digest = hashlib.md5("\0".join(texts).encode(), usedforsecurity=False)
    return UUID(bytes=digest.digest())
