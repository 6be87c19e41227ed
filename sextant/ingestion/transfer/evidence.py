"""Write the lines of an import to the graph as evidence; find the entities that they name."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.graph.extraction.chunk_evidence import EntityAlias
from sextant.ingestion.graph.index import link_names
from sextant.ingestion.transfer.documents import id_taken, identify_entities
from sextant.ingestion.transfer.lines import (
    ChunkLine,
    DecisionLine,
    EntityLine,
    LineProblem,
    RelationLine,
    line_evidence,
)
from sextant.ingestion.transfer.spool import Numbered, Spool, read_in_thread
from sextant.stores.graph.evidence import (
    AliasRow,
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
    relation_id,
)
from sextant.stores.graph.extraction import read_names
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.graph.name_decisions import Merge, decide_one, decide_pairs_two
from sextant.stores.graph.transfer import (
    KnownEntity,
    chunks_by_external_id,
    entities_by_external_id,
    find_entities_by_name,
    find_known_entities,
    find_merged_entities,
    find_stated_mentions,
    find_user_entities,
    passages_stating,
    profiles,
    subjects_naming,
)
from sextant.text.characters import normalise_name


class End(NamedTuple):
    """An entity that a line names, with its name."""

    id: UUID
    name: str


class Ends:
    """Find entities of the graph by id, else by name, else by alias."""

    def __init__(self, scope: Scope, writer: GraphWriter) -> None:
        self._scope = scope
        self._writer = writer
        self._shared: set[str] = set()

    async def find(self, named: Collection[str]) -> dict[str, End]:
        """Return the entities with these ids, names or aliases; unknown ones are left out."""
        ends = dict[str, End]()
        for find in (self._by_id, self._by_name, self._by_alias):
            if missing := [end for end in named if end not in ends]:
                ends |= await find(missing)
        return ends

    def explain_missing(self, end: str) -> CodedWarning:
        """Return why an end was not found."""
        is_shared = end in self._shared
        code = WarningCode.LINE_ALIAS_SHARED if is_shared else WarningCode.LINE_ENTITY_UNKNOWN
        return CodedWarning(code, {"entity": f"{end!r:.80}"})

    async def _by_id(self, ids: Sequence[str]) -> dict[str, End]:
        found = await entities_by_external_id(self._writer, ids)
        return {end: End(known.id, known.name) for end, known in found.items()}

    async def _by_name(self, names: Sequence[str]) -> dict[str, End]:
        ids = {name: entity_id(self._scope, name) for name in names}
        there = await find_known_entities(self._writer, list(ids.values()))
        return {name: End(one, there[one] or name) for name, one in ids.items() if one in there}

    async def _by_alias(self, names: Sequence[str]) -> dict[str, End]:
        """Return the entities with these aliases of the user's; an alias of several entities is left out."""
        norms = {name: normalise_name(name) for name in names}
        found = defaultdict[str, list[End]](list)
        for norm, entity, name in await find_entities_by_name(self._writer, list(norms.values())):
            found[norm].append(End(entity, name))
        self._shared |= {name for name, norm in norms.items() if len(found[norm]) > 1}
        return {name: found[norm][0] for name, norm in norms.items() if len(found[norm]) == 1}


_BATCH = 2000  # rows at a time


class EvidenceWriter:
    """Write the evidence of an import whose documents are stored already.

    `subjects`: the entities that the lines describe or relate; collected if `with_subjects` is set.
    """

    def __init__(
        self, scope: Scope, writer: GraphWriter, lines: Spool, *, with_subjects: bool = False
    ) -> None:
        self._scope = scope
        self._writer = writer
        self._lines = lines
        self._with_subjects = with_subjects
        self.subjects: set[UUID] = set()
        self.entities = 0
        self.relations = 0
        self._known: set[EntityAlias] | None = None
        self._fresh: list[EntityAlias] = []
        self._ends = Ends(scope, writer)

    async def write_all(self) -> AsyncIterator[tuple[list[LineProblem], int]]:
        """Write in batches; yield the problems of each batch and its number of lines."""
        async for stored in self._lines.document_batches(_BATCH // 10):
            chunks = [chunk for _, chunks in stored for chunk in chunks]
            evidence = await asyncio.to_thread(self._chunk_evidence, chunks)
            self.relations += len(evidence.relations)
            self._note(row.source_id for row in evidence.relations)
            await self._writer.add(evidence)
            yield [], len(stored)
        async for groups in read_in_thread(self._lines.entities(), _BATCH):
            yield await self._add_entities(groups), sum(map(len, groups))
        await self._writer.derive()  # so that relations and decisions find the new entities
        async for batch in read_in_thread(self._lines.relations(), _BATCH):
            yield await self._add_relations(batch), len(batch)
        if self._fresh:
            await link_names(self._writer, self._fresh)
        async for decided in read_in_thread(self._lines.decisions(), _BATCH):
            yield await self._decide(decided), len(decided)

    def _chunk_evidence(self, chunks: Sequence[ChunkLine]) -> GraphEvidence:
        mentions, relations = list[MentionRow](), list[RelationRow]()
        for line in chunks:
            chunk = self._lines.chunk(line.id)
            if chunk is not None:
                found = line_evidence(self._scope, chunk, line)
                mentions += found.mentions
                relations += found.relations
        return GraphEvidence(mentions, relations)

    async def _add_entities(
        self, groups: Sequence[Sequence[Numbered[EntityLine]]]
    ) -> list[LineProblem]:
        external = [line.id for group in groups for _, line in group if line.id]
        known = await entities_by_external_id(self._writer, external)
        plain = await asyncio.to_thread(self._plain_ids, groups)
        owners = await find_user_entities(self._writer, plain)
        evidence, whole, problems = await asyncio.to_thread(
            self._entity_evidence, groups, plain, owners, known
        )
        self.entities += len(evidence.mentions)
        if self._with_subjects and self._writer.version:
            names = {row.entity_id: row.name for row in evidence.mentions}
            before = await profiles(self._writer, names)
            renamed = [one.id for one in before.values() if one.name != names[one.id]]
            self._note(await subjects_naming(self._writer, renamed))
        self._note(row.entity_id for row in evidence.mentions)
        if evidence.aliases and self._known is None:
            self._known = {EntityAlias(*row) for row in await read_names(self._writer)}
        named = [EntityAlias(alias.entity_id, alias.name) for alias in evidence.aliases]
        self._fresh += [alias for alias in named if alias not in (self._known or ())]
        await self._writer.keep_aliases(whole, evidence.aliases)
        await self._writer.add(evidence)
        return problems

    def _plain_ids(self, groups: Sequence[Sequence[Numbered[EntityLine]]]) -> list[UUID]:
        return [entity_id(self._scope, group[0].line.name) for group in groups]

    def _entity_evidence(
        self,
        groups: Sequence[Sequence[Numbered[EntityLine]]],
        plain: Sequence[UUID],
        owners: Mapping[UUID, KnownEntity],
        known: Mapping[str, KnownEntity],
    ) -> tuple[GraphEvidence, list[UUID], list[LineProblem]]:
        """Return the evidence of entities, and the entities whose line lists all their aliases."""
        problems, mentions, aliases = list[LineProblem](), list[MentionRow](), list[AliasRow]()
        whole = list[UUID]()
        for named, group in zip(plain, groups, strict=True):
            for number, line_of, line, entity in identify_entities(
                self._scope, named, group, owners, known
            ):
                if entity is None:
                    problems.append(LineProblem(number, id_taken(known, line)))
                    continue
                mentions.append(_entity_mention(entity, line))
                names = (line_of.name, *line.aliases)
                aliases += [AliasRow(entity, name, "import") for name in names]
                whole += [entity] * (line_of.id == line.id)
        return GraphEvidence(mentions, (), aliases), whole, problems

    async def _add_relations(self, batch: Sequence[Numbered[RelationLine]]) -> list[LineProblem]:
        named = list({one for _, line in batch for one in line.chunk_ids})
        ends = await self._ends.find(_collect_names(batch))
        chunks = await asyncio.to_thread(
            lambda: {one: chunk for one in named if (chunk := self._lines.chunk(one))}
        )
        if missing := [one for one in named if one not in chunks]:
            chunks |= await chunks_by_external_id(self._writer, missing)
        evidence, problems = await asyncio.to_thread(self._relation_evidence, batch, ends, chunks)
        self._note(row.source_id for row in evidence.relations)
        known = await find_stated_mentions(self._writer, [row[:2] for row in evidence.mentions])
        mentions = [row for row in evidence.mentions if row[:2] not in known]
        evidence = replace(evidence, mentions=mentions)
        await self._writer.add(await self._with_passages(evidence))
        return problems

    async def _with_passages(self, evidence: GraphEvidence) -> GraphEvidence:
        """Give relations that the user asserts the generated passages that state them, if any."""
        chunk_rows = {
            relation_id(row.source_id, row.target_id, row.relation_type): row
            for row in evidence.relations
            if row.chunk_id is None
        }
        passages = (
            await passages_stating(self._writer, chunk_rows)
            if chunk_rows and self._writer.version
            else {}
        )
        if not passages:
            return evidence
        relations = [row for row in evidence.relations if row.chunk_id is not None]
        relations += [row._replace(chunk_id=passages.get(one)) for one, row in chunk_rows.items()]
        return replace(evidence, relations=relations)

    def _note(self, subjects: Iterable[UUID]) -> None:
        if self._with_subjects:
            self.subjects.update(subjects)

    def _relation_evidence(
        self,
        batch: Sequence[Numbered[RelationLine]],
        ends: Mapping[str, End],
        chunks: Mapping[str, UUID],
    ) -> tuple[GraphEvidence, list[LineProblem]]:
        """Return the evidence of relations, and mentions of both ends in their passages."""
        problems, mentions, relations = list[LineProblem](), list[MentionRow](), list[RelationRow]()
        for number, line in batch:
            rows, reasons = self._relation_rows(line, ends, chunks)
            problems += [LineProblem(number, reason) for reason in reasons]
            relations += rows
            self.relations += bool(rows)
            mentions += [
                MentionRow(ends[end].id, row.chunk_id, MentionKind.IMPORT, ends[end].name)
                for row in rows
                if row.chunk_id
                for end in (line.source, line.target)
            ]
        return GraphEvidence(mentions, relations), problems

    async def _decide(self, batch: Sequence[Numbered[DecisionLine]]) -> list[LineProblem]:
        """Record the user's decisions that entities are one, or differ."""
        await self._writer.derive()
        found = await self._ends.find(_collect_names(batch))
        ends = {end: one.id for end, one in found.items()}
        roots = await find_merged_entities(self._writer, list(ends.values()))
        problems, merges, pairs = list[LineProblem](), list[Merge](), list[tuple[UUID, UUID]]()
        for number, line in batch:
            missing = [end for end in (line.source, line.target) if end not in ends]
            problems += [LineProblem(number, self._ends.explain_missing(end)) for end in missing]
            if missing:
                continue
            source, target = ends[line.source], ends[line.target]
            if not line.same and source == target:
                problems.append(LineProblem(number, _same_entity(line)))
            elif not line.same:
                pairs.append((source, target))
            elif roots.get(source, source) != roots.get(target, target):
                merges.append(Merge(source, target, line.reason))
        if merges:
            await decide_one(self._writer, merges)
        if pairs:
            await decide_pairs_two(self._writer, pairs)
        return problems

    def _relation_rows(
        self, line: RelationLine, ends: Mapping[str, End], chunks: Mapping[str, UUID]
    ) -> tuple[list[RelationRow], list[CodedWarning]]:
        missing = [end for end in (line.source, line.target) if end not in ends]
        if missing:
            return [], [self._ends.explain_missing(end) for end in missing]
        source, target = ends[line.source].id, ends[line.target].id
        if source == target:
            return [], [_same_entity(line)]
        reasons = [
            CodedWarning(WarningCode.LINE_CHUNK_UNKNOWN, {"chunk": f"{one!r:.80}"})
            for one in line.chunk_ids
            if one not in chunks
        ]
        passages = [chunks[one] for one in line.chunk_ids if one in chunks]
        return [
            RelationRow(source, target, line.relation_type, passage, line.weight, line.description)
            for passage in (passages if line.chunk_ids else [None])
        ], reasons


def _collect_names(batch: Sequence[Numbered[RelationLine | DecisionLine]]) -> set[str]:
    return {end for _, line in batch for end in (line.source, line.target)}


def _same_entity(line: RelationLine | DecisionLine) -> CodedWarning:
    params = {"source": f"{line.source!r:.80}", "target": f"{line.target!r:.80}"}
    return CodedWarning(WarningCode.LINE_ONE_ENTITY, params)


def _entity_mention(entity: UUID, line: EntityLine) -> MentionRow:
    return MentionRow(
        entity, None, MentionKind.IMPORT, line.name, line.entity_type, line.description, line.id
    )
