"""What follows from a graph that has changed: merges, vectors of entities, communities, reports.

Called once after documents came or went. Every step works from what the store says is missing or
dirty, and commits as it goes, so a refresh that was killed goes on where it was, and one with nothing
to do costs a query or two.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from uuid import UUID

import numpy as np

from domain.errors import ModelUnavailable
from domain.scope import Scope
from ingestion.graph.communities import hierarchy as leiden
from ingestion.graph.communities.hierarchy import Group, Network
from ingestion.graph.communities.model_reports import Material, ReportWriter
from ingestion.graph.communities.outlines import Outline, outlines
from ingestion.graph.communities.reports import Evidence, Report, extractive_report
from ingestion.graph.resolution.resolve import resolve
from models.chat import ChatModel
from models.protocols import Embedder
from stores.chunks import ChunkStore
from stores.database import Database
from stores.embedding_space import check_space
from stores.graph.arrays import GraphArrays
from stores.graph.communities import CommunityStore, StoredReport
from stores.graph.hierarchy import Change, Follows, HierarchyStore, Standing
from stores.graph.ids import relation_id
from stores.graph.neo4j.projector import open_projector, standing
from stores.graph.postgres import PostgresGraph
from stores.graph.record import GraphRecord
from stores.graph.vectors import EntityText, EntityVectors
from stores.partitions import look_at_sizes

OnStage = Callable[[str, int, int], None]

# Passages that mention a mere term before it gets a vector: there are many, and whoever asks for one
# finds it by its words. See docs/performance.md for the cost.
_TELLING_MENTIONS = 5
_NAMES_AT_ONCE = 512
_REPORTS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did: entities embedded, communities there are, reports written, full run or not."""

    entities_embedded: int = 0
    communities: int = 0
    reports_written: int = 0
    full_run: bool = False


class GraphUpkeep:
    """Brings what is derived from whole graphs up to date.

    Args:
        database: where the graphs are.
        embedder: for names and reports; loaded only when there is something to embed.
        chat: writes the reports; None: they are put together from sentences.
    """

    def __init__(
        self, database: Database, embedder: Embedder, chat: ChatModel | None = None
    ) -> None:
        self._database = database
        self._chat = chat
        self._embedder = embedder
        self._settings = database.settings.communities
        self._record = GraphRecord(database)
        self._graph = PostgresGraph(database)
        self._chunks = ChunkStore(database)
        self._hierarchy = HierarchyStore(database)
        self._communities = CommunityStore(database)
        self._vectors = EntityVectors(database)

    async def refresh(
        self, scope: Scope, on_progress: OnStage | None = None, *, full: bool = False
    ) -> Refreshed:
        """Bring one graph up to date; a second process waits, and finds little left to do.

        Args:
            scope: whose graph.
            on_progress: called with (stage, done, total; 0 where the total is not known).
            full: partition the whole graph anew, whatever has changed, and write the reports anew
                that somebody else has written than would now.

        Raises:
            ModelUnavailable: vectors are missing, all else is done.
            DatabaseUnavailable: what was committed stays; the next refresh goes on from there.
            GraphStoreUnavailable: Neo4j is gone, all else is done; what it has to take over waits.
        """
        report = on_progress or _silent
        missing: ModelUnavailable | None = None
        async with self._hierarchy.alone(scope):
            await look_at_sizes(self._database, scope.user_id)  # an import has not
            await resolve(self._database, scope, self._chat)
            embedded = 0
            try:
                embedded = await self._embed_entities(scope, report)
            except ModelUnavailable as error:
                missing = error
            done = Refreshed()
            if self._settings.enabled:
                done = await self._refresh_communities(scope, report, full=full)
            if missing is None:
                await self._embed_reports(scope, report)
        await self._project(scope, report)
        if missing is not None:
            raise missing
        return replace(done, entities_embedded=embedded)

    async def _embed_entities(self, scope: Scope, report: OnStage) -> int:
        most, done = self._settings.entity_vectors, 0
        while texts := await self._vectors.to_embed(
            scope, _NAMES_AT_ONCE, mentions=_TELLING_MENTIONS, most=most
        ):
            if not done:
                await self._load_model()
            vectors = await self._embedder.embed_passages([_passage(text) for text in texts])
            await self._vectors.store(scope, texts, vectors)
            done += len(texts)
            report("entities", done, 0)
        if done:
            await self._vectors.index_if_large(scope)
        return done

    async def _embed_reports(self, scope: Scope, report: OnStage) -> None:
        done = 0
        while texts := await self._communities.to_embed(scope, _REPORTS_AT_ONCE):
            if not done:
                await self._load_model()
            vectors = await self._embedder.embed_passages([text.text for text in texts])
            await self._communities.store_vectors(scope, texts, vectors)
            done += len(texts)
            report("report vectors", done, 0)

    async def _project(self, scope: Scope, report: OnStage) -> None:
        """Let Neo4j take over what has changed, where the settings name a server."""
        async with open_projector(self._database) as projector:
            if projector is not None and await standing(self._database, scope) is not None:
                await projector.sync(scope, lambda rows: report("projection", rows, 0))

    async def _load_model(self) -> None:
        await self._embedder.warm_up()
        await check_space(self._database, self._embedder)

    async def _refresh_communities(self, scope: Scope, report: OnStage, *, full: bool) -> Refreshed:
        if not (full or await self._hierarchy.is_due(scope)):
            return Refreshed()
        report("communities", 0, 0)
        if full:
            await self._communities.reopen(scope, self._chat.name if self._chat else "")
        arrays = await self._record.arrays(scope)
        follows, standing = await self._hierarchy.read(scope)
        old = _groups(arrays, standing)
        network = await asyncio.to_thread(leiden.network_of, arrays)
        groups, now, full_run = await asyncio.to_thread(
            _next, arrays, network, old, None if full else follows
        )
        await self._store(scope, arrays, old, groups, now)
        written = await self._write_reports(scope, arrays, network, groups, report)
        return Refreshed(0, len(groups), written, full_run)

    async def _store(
        self,
        scope: Scope,
        arrays: GraphArrays,
        old: Sequence[Group],
        groups: Sequence[Group],
        now: Follows,
    ) -> None:
        changes = await asyncio.to_thread(lambda: list(_changes(arrays, old, groups)))
        gone = {group.id for group in old} - {group.id for group in groups}
        await self._hierarchy.write(scope, changes, sorted(gone), now)

    async def _write_reports(
        self,
        scope: Scope,
        arrays: GraphArrays,
        network: Network,
        groups: Sequence[Group],
        report: OnStage,
    ) -> int:
        """Write the reports of all dirty communities, the innermost first: a model reads those."""
        waiting = set(await self._communities.dirty(scope))
        due = sorted((one for one in groups if one.id in waiting), key=lambda one: -one.level)
        drawn = await asyncio.to_thread(outlines, arrays, network, due)
        writer = self._writer()
        written = done = 0
        for part in _portions(drawn):
            written += await self._write_some(scope, arrays, part, writer)
            done += len(part)
            report("reports", done, len(drawn))
        return written

    async def _write_some(
        self,
        scope: Scope,
        arrays: GraphArrays,
        part: Sequence[Outline],
        writer: ReportWriter | None,
    ) -> int:
        evidence = await self._evidence(scope, arrays, part)
        known = await self._communities.evidence(scope, [one.group.id for one in part])
        if writer is None:
            reports = await asyncio.to_thread(lambda: [_extracted(one) for one in evidence])
            fresh = [one for one in reports if known.get(one.id) != (one.writer, one.evidence)]
        else:
            fresh = await self._write_by_model(scope, evidence, known, writer)
        await self._communities.write(scope, arrays.version, fresh)
        same = {one.group.id for one in part} - {one.id for one in fresh}
        await self._communities.settle(scope, arrays.version, sorted(same))
        return len(fresh)

    async def _write_by_model(
        self,
        scope: Scope,
        evidence: Sequence[Evidence],
        known: Mapping[UUID, tuple[str, UUID]],
        writer: ReportWriter,
    ) -> list[StoredReport]:
        """Ask the model about the communities of which the material has changed."""
        inner = await self._communities.parts(scope, [one.outline.group.id for one in evidence])
        asked = {
            own: material
            for one in evidence
            for own in [one.outline.group.id]
            for material in [Material(one, inner.get(own, ()))]
            if known.get(own) != (writer.name, material.digest)
        }
        reports = await asyncio.gather(*(writer.write(material) for material in asked.values()))
        return [
            _stored(own, report, material.digest)
            for (own, material), report in zip(asked.items(), reports, strict=True)
        ]

    def _writer(self) -> ReportWriter | None:
        if self._chat is None:
            return None
        return ReportWriter(
            self._chat,
            tokens=self._database.settings.limits.context_tokens,
            most=self._settings.model_reports,
            at_once=self._settings.concurrency,
        )

    async def _evidence(
        self, scope: Scope, arrays: GraphArrays, part: Sequence[Outline]
    ) -> list[Evidence]:
        """The texts of some communities' outlines, read at once."""
        passages = {arrays.chunk_id(n) for one in part for n in one.passages.tolist()}
        rows = {row for one in part for row in one.relations.tolist()}
        keys = {row: _relation_id(arrays, row) for row in sorted(rows)}
        chunks = {chunk.id: chunk for chunk in await self._chunks.get(scope, sorted(passages))}
        stated = await self._graph.get_relations(scope, list(keys.values()))
        relations = {relation.id: relation for relation in stated}
        return [
            Evidence(
                one,
                [arrays.names[n] for n in one.entities.tolist()],
                [
                    chunks[own]
                    for n in one.passages.tolist()
                    if (own := arrays.chunk_id(n)) in chunks
                ],
                [
                    (
                        arrays.names[arrays.relation_source[row]],
                        relations[keys[row]],
                        arrays.names[arrays.relation_target[row]],
                    )
                    for row in one.relations.tolist()
                    if keys[row] in relations
                ],
            )
            for one in part
        ]


def _next(
    arrays: GraphArrays,
    network: Network,
    old: Sequence[Group],
    follows: Follows | None,
) -> tuple[list[Group], Follows, bool]:
    """The communities now, what they follow, and whether they were built anew or joined to.

    Without `follows` they are built anew.
    """
    if follows is not None:
        joined = leiden.join(network, arrays, old)
        if not leiden.is_outdated(
            network, joined, edges=follows.edges, modularity_then=follows.modularity
        ):
            return joined, replace(follows, version=arrays.version), False
    built = leiden.build(network, arrays, old)
    best = leiden.modularity(network, leiden.top(built, network.size))
    return built, Follows(arrays.version, len(network.source), best), True


def _groups(arrays: GraphArrays, standing: Sequence[Standing]) -> list[Group]:
    """Stored communities by the numbers of those members that are still seen."""
    groups = []
    for one in standing:
        places = arrays.entity_places(one.members).astype(np.int64)
        groups.append(Group(one.id, one.level, one.parent_id, np.sort(places[places >= 0])))
    return groups


def _changes(
    arrays: GraphArrays, old: Sequence[Group], groups: Sequence[Group]
) -> Iterator[Change]:
    before = {group.id: group for group in old}
    for group in groups:
        known = before.get(group.id)
        same = known is not None and np.array_equal(known.members, group.members)
        if known is not None and same and _place(known) == _place(group):
            continue
        members = None if same else [arrays.entity_id(n) for n in group.members.tolist()]
        yield Change(group.id, group.level, group.parent_id, members)


def _place(group: Group) -> tuple[int, UUID | None]:
    return group.level, group.parent_id


def _relation_id(arrays: GraphArrays, row: int) -> UUID:
    return relation_id(
        arrays.entity_id(int(arrays.relation_source[row])),
        arrays.entity_id(int(arrays.relation_target[row])),
        arrays.relation_types[arrays.relation_type[row]],
    )


def _passage(text: EntityText) -> str:
    name, _, description = text.text.partition("\n")
    return f"{name}: {description}" if description else name


def _portions(drawn: Sequence[Outline]) -> Iterator[list[Outline]]:
    """Some communities at a time, all of one level, so that parts are written before the whole."""
    for _, level in groupby(drawn, key=lambda one: one.group.level):
        rest = list(level)
        for start in range(0, len(rest), _REPORTS_AT_ONCE):
            yield rest[start : start + _REPORTS_AT_ONCE]


def _extracted(evidence: Evidence) -> StoredReport:
    report = extractive_report(evidence)
    digest = _hash(report.title, report.summary, repr(report.findings))
    return _stored(evidence.outline.group.id, report, digest)


def _stored(own: UUID, report: Report, evidence: UUID) -> StoredReport:
    return StoredReport(
        own,
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


def _silent(*_: object) -> None:
    """Report to nobody."""
