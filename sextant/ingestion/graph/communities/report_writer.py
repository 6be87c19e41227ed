"""Write the reports of dirty communities whose content has changed."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING
from uuid import UUID

from sextant.domain.graph import Relation
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.graph.communities.membership import CommunityGroup
from sextant.ingestion.graph.communities.model_reports import Material, ReportWriter
from sextant.ingestion.graph.communities.network import Network
from sextant.ingestion.graph.communities.outlines import Outline, outlines
from sextant.ingestion.graph.communities.reports import CommunityEvidence, extractive_report
from sextant.ingestion.progress import OnStage
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.graph.community_store import CommunityStore, KnownReport, StoredReport
from sextant.stores.graph.evidence import relation_id
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel

# The share of new names, passages or relations, by weight, from which on a report is written again.
NEWS = 0.2
# The names that a report must contain, and the number that it may contain.
_LEADING, NAMED = 3, 12


def stays(
    evidence: CommunityEvidence, chunks: Mapping[UUID, StoredChunk], known: KnownReport | None
) -> bool:
    """Return whether a report is still good: its content exists, and little of the evidence is new.

    Args:
        evidence: the community as it is now.
        chunks: include the passages that the report cites, if they exist.
        known: the report; None if there is none.
    """
    if known is None:
        return False
    sources = _sources_of(evidence)
    leading = [*sources[0]][:_LEADING]
    existing = {*map(_passage_key, chunks.values())}.union(*sources)
    content, then = set(known.content), set(known.sources)
    return (
        content <= existing
        and content.issuperset(leading)
        and all(news(kind, then) < NEWS for kind in sources)
    )


def news(now: Mapping[UUID, float], then: Set[UUID]) -> float:
    """Return the share of the weight `now` of keys that are not in `then`, 0..1."""
    fresh = sum(weight for key, weight in now.items() if key not in then)
    return fresh / sum(now.values()) if now else 0.0


def _sources_of(evidence: CommunityEvidence) -> list[dict[UUID, float]]:
    """Return the evidence as weights by hash: of names, relations and passages, the heaviest first."""
    outline = evidence.outline
    names = zip(evidence.names, outline.weights.tolist(), strict=True)
    passages = zip(evidence.chunks, outline.telling.tolist(), strict=False)
    return [
        {_hash(name): weight for name, weight in names},
        {
            _hash(source, one.relation_type, one.description, target): one.weight
            for source, one, target in evidence.relations
        },
        {_passage_key(chunk): weight for chunk, weight in passages},
    ]


def note_sources(
    report: StoredReport, evidence: CommunityEvidence, chunks: Mapping[UUID, StoredChunk]
) -> StoredReport:
    """Return a new report with the hashes of its evidence, and of what it may contain.

    It may contain the first names, all relations, and the passages of `chunks` that it cites.
    """
    sources = _sources_of(evidence)
    names, statements, _ = sources
    cited = [_passage_key(chunks[one]) for one in report.cited if one in chunks]
    content = [*[*names][:NAMED], *statements, *cited]
    return replace(report, content=content, sources=[key for kind in sources for key in kind])


def _passage_key(chunk: StoredChunk) -> UUID:
    return _hash(str(chunk.id), chunk.text)


def ids_of(
    arrays: GraphArrays, outline: Outline
) -> tuple[tuple[UUID, ...], tuple[UUID, ...], tuple[UUID, ...]]:
    """Return the ids of an outline's entities, passages and relations."""
    return (
        tuple(arrays.entity_id(n) for n in outline.entities.tolist()),
        tuple(arrays.chunk_id(n) for n in outline.passages.tolist()),
        tuple(
            relation_id(
                arrays.entity_id(int(arrays.relation_source[row])),
                arrays.entity_id(int(arrays.relation_target[row])),
                arrays.relation_types[arrays.relation_type[row]],
            )
            for row in outline.relations.tolist()
        ),
    )


_REPORTS_AT_ONCE = 64  # communities at a time


class ReportKeeper:
    """Write the reports of one graph's communities in one update.

    Args:
        database: the database of the reports.
        scope: the knowledge base.
        arrays: its graph.
        network: the network of its entities.
        chat: writes the reports; None: they are extractive.
        full: write every report again that has changed at all.
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
                at_once=settings.shared_concurrency,
            )

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """Return a warning with the number of reports that the model failed to write, and the commonest reason."""
        if not self._failures:
            return ()
        ((reason, _),) = self._failures.most_common(1)
        params = {"reports": count(self._failures.total(), "report"), "reason": reason}
        return (CodedWarning(WarningCode.REPORTS_WITHOUT_MODEL, params),)

    async def write(self, groups: Sequence[CommunityGroup], report: OnStage) -> int:
        """Write the due reports, the innermost first, since a model reads these; return their number."""
        waiting = set(await self._communities.dirty(self._scope))
        due = sorted((one for one in groups if one.id in waiting), key=lambda one: -one.level)
        if not due:
            return 0
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
        evidence = await self._evidence(part)
        cited = await self._texts({chunk_id for one in known.values() for chunk_id in one.cited})
        due = evidence
        if not self._full:
            due = await asyncio.to_thread(self._without_staying, evidence, cited, known)
        if self._writer is None:
            fresh = await asyncio.to_thread(_by_extraction, due, known)
        else:
            fresh = await self._by_model(due, known, self._writer)
        chunks = await self._texts({chunk_id for one in fresh for chunk_id in one.cited})
        its = {one.outline.group.id: one for one in due}
        written = {one.id: note_sources(one, its[one.id], chunks) for one in fresh}
        await self._communities.write(self._scope, self._arrays.version, [*written.values()])
        staying = [one for one in ids if one not in written]
        await self._communities.settle(self._scope, self._arrays.version, staying)
        return len(written)

    def _without_staying(
        self,
        evidence: Sequence[CommunityEvidence],
        cited: Mapping[UUID, StoredChunk],
        known: Mapping[UUID, KnownReport],
    ) -> list[CommunityEvidence]:
        """Return the communities whose report is of another writer or no longer good."""
        writer = self._writer.name if self._writer else ""
        its = {id_: one for id_, one in known.items() if one.writer == writer}
        return [one for one in evidence if not stays(one, cited, its.get(one.outline.group.id))]

    async def _by_model(
        self,
        evidence: Sequence[CommunityEvidence],
        known: Mapping[UUID, KnownReport],
        writer: ReportWriter,
    ) -> list[StoredReport]:
        """Let the model write the reports of the communities whose material has changed."""
        inner = await self._communities.parts(
            self._scope, [one.outline.group.id for one in evidence]
        )
        requests = [
            material
            for one in evidence
            for group_id in [one.outline.group.id]
            for material in [Material(one, inner.get(group_id, ()))]
            if _is_news(known.get(group_id), writer.name, material.digest)
        ]
        reports = await asyncio.gather(*map(writer.write, requests))
        self._failures.update(report.note for report in reports if report.note)
        return [
            replace(report, evidence=material.digest)
            for report, material in zip(reports, requests, strict=True)
        ]

    async def _evidence(self, part: Sequence[Outline]) -> list[CommunityEvidence]:
        """Return the outlines with their texts, read in two statements."""
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
    """Yield batches of communities of one level, so that a community comes after its children."""
    for _, level in groupby(drawn, key=lambda one: one.group.level):
        rest = list(level)
        for start in range(0, len(rest), _REPORTS_AT_ONCE):
            yield rest[start : start + _REPORTS_AT_ONCE]


def _by_extraction(
    evidence: Sequence[CommunityEvidence], known: Mapping[UUID, KnownReport]
) -> list[StoredReport]:
    """Return the extractive reports that differ from the stored ones."""
    reports = [_extract_report(one) for one in evidence]
    return [one for one in reports if _is_news(known.get(one.id), one.writer, one.evidence)]


def _is_news(known: KnownReport | None, writer: str, evidence: UUID | None) -> bool:
    return known is None or (known.writer, known.evidence) != (writer, evidence)


def _extract_report(evidence: CommunityEvidence) -> StoredReport:
    report = extractive_report(evidence)
    digest = _hash(report.title, report.summary, repr(report.findings))
    return replace(report, evidence=digest)


def _hash(*texts: str) -> UUID:
    digest = hashlib.md5("\0".join(texts).encode(), usedforsecurity=False)
    return UUID(bytes=digest.digest())
