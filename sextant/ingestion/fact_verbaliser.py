"""Write facts that the user asserts as passages, so that questions find them.

The facts are read from the graph after an import, so they are those of all imports. The passages are ordinary chunks.
Each relation is then stated by its passage instead of the user's assertion. If an import is interrupted, the
assertion stays, and the next import writes the passages.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sextant.domain.errors import DocumentNotFound, FileRejected, Superseded, describe_reason
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, names, word_warnings
from sextant.ingestion.fact_passages import Fact, FactPassage, Subject, document_of, passages_of
from sextant.ingestion.pipeline import Ingestor
from sextant.ingestion.progress import runs_of
from sextant.ingestion.transfer.documents import ImportUpkeep, chunk_id, upload
from sextant.ingestion.transfer.lines import DocumentLine
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow, entity_id
from sextant.stores.graph.record import GraphRecord
from sextant.stores.graph.transfer import (
    FactsDocument,
    GraphTransaction,
    Profile,
    UserStatement,
    facts_documents,
    find_user_statements,
    other_names,
    profiles,
    replace_user_statements,
)
from sextant.text.characters import normalise_name

_BATCH = 200  # entities at a time
# Errors of a document that another import has replaced or deleted.
_OVERTAKEN = (Superseded, DocumentNotFound)


@dataclass(slots=True)
class StoredDocuments:
    """The numbers of stored documents, of unchanged ones among them, and of passages.

    Attributes:
        warnings: what could not be stored or updated, in sentences; `coded_warnings`: the same as data.
    """

    documents: int = 0
    unchanged: int = 0
    chunks: int = 0
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[CodedWarning, ...] = ()

    def warn(self, warnings: Iterable[CodedWarning]) -> None:
        """Add warnings, and their sentences."""
        self.coded_warnings = (*self.coded_warnings, *warnings)
        self.warnings = word_warnings(self.coded_warnings, "en")


class EntityFacts(NamedTuple):
    """An entity with the document and passages to store; there are no passages if the user asserts nothing.

    `stored` is the stored document, `others` those stored under another name.
    """

    id: UUID
    subject: Subject
    document: DocumentLine
    passages: Sequence[FactPassage]
    stored: FactsDocument | None
    others: Sequence[FactsDocument]

    @property
    def unchanged(self) -> bool:
        """Return whether exactly these passages are stored; their ids are hashes of their content."""
        wanted = {passage.line.id for passage in self.passages}
        return self.stored is not None and wanted == set(self.stored.passages)

    def is_current(self, now: EntityFacts | None) -> bool:
        """Return whether the facts are those read `now`, and stored; None: the entity is gone."""
        if now is None:
            return True
        is_stored = now.unchanged if now.passages else now.stored is None
        return is_stored and (self.subject, self.passages) == (now.subject, now.passages)


class StoredFacts(NamedTuple):
    """The facts of an entity and the document that states them, if any."""

    facts: EntityFacts
    document: UUID | None
    unchanged: bool


class FactVerbaliser:
    """Write the facts of a knowledge base's entities as passages."""

    def __init__(
        self,
        scope: Scope,
        record: GraphRecord,
        ingestor: Ingestor,
        upkeep: ImportUpkeep,
    ) -> None:
        self._scope = scope
        self._upkeep = upkeep
        self._record = record
        self._ingestor = ingestor

    async def verbalise(
        self, subjects: Sequence[UUID], report: StoredDocuments, on_done: Callable[[int], None]
    ) -> None:
        """Update the passages of entities, and the report; `on_done` is called with the number of entities done."""
        for start in range(0, len(subjects), _BATCH):
            ids = subjects[start : start + _BATCH]
            async with self._record.reading(self._scope) as graph:
                self._upkeep.found(graph.scope_id)
                found = await profiles(graph, ids)
            there = [found[one] for one in ids if one in found]
            # 20,000 relations of the entities of one batch.
            for some in runs_of(there, lambda one: one.degree, 20_000):
                await self._verbalise([one.id for one in some], report)
            on_done(start + len(ids))

    async def _verbalise(self, ids: Sequence[UUID], report: StoredDocuments) -> None:
        """Update the passages of entities, and again of those that another import changes meanwhile."""
        for _ in range(10):  # attempts
            async with self._record.reading(self._scope) as graph:
                entities = await self._read(graph, ids)
            left = await self._state(await self._store(entities, report), report)
            if not left:
                return
            ids = [one.id for one in left]
        changing = [{"entity": names([one.subject.name])} for one in left]
        report.warn(CodedWarning(WarningCode.FACTS_CHANGING, entity) for entity in changing)

    async def _read(self, graph: GraphTransaction, ids: Collection[UUID]) -> list[EntityFacts]:
        self._upkeep.found(graph.scope_id)
        found = await profiles(graph, ids)
        subjects = {one: self._subject(found[one]) for one in ids if one in found}
        documents = {one: self._documents_of(subject) for one, subject in subjects.items()}
        there = await facts_documents(
            graph, [name for named in documents.values() for name in named]
        )
        words = await find_user_statements(graph, subjects, [one.id for one in there.values()])
        targets = await profiles(graph, {word.target_id for word in words})
        aliases = await other_names(graph, subjects)

        def verbalised() -> list[EntityFacts]:
            facts = _facts(words, targets)
            return [
                EntityFacts(
                    one,
                    subject,
                    document_of(subject),
                    [*passages_of(subject, facts[one], _aliases(subject, aliases[one]))],
                    there.get(documents[one][0]),
                    [there[name] for name in documents[one][1:] if name in there],
                )
                for one, subject in subjects.items()
            ]

        return await asyncio.to_thread(verbalised)

    def _subject(self, one: Profile) -> Subject:
        plain = one.id == entity_id(self._scope, one.name)
        return Subject(_key(one), one.name, one.external_id, one.description.strip(), plain)

    def _documents_of(self, subject: Subject) -> list[str]:
        """Return the name of its document, and the name before the user gave it an id."""
        names = [document_of(subject).id]
        if subject.external_id and subject.plain:
            names.append(document_of(Subject(_key_of("", subject.name), subject.name)).id)
        return names

    async def _store(
        self, entities: Sequence[EntityFacts], report: StoredDocuments
    ) -> list[StoredFacts]:
        """Update the documents; those that cannot be stored are left out, with a warning."""
        fresh = [one for one in entities if one.passages and not one.unchanged]
        uploads = await asyncio.to_thread(
            lambda: [
                upload(one.document, [passage.line for passage in one.passages]) for one in fresh
            ]
        )
        ingested = await self._ingestor.ingest_uploads(self._scope, uploads)
        results = dict(zip((one.id for one in fresh), ingested, strict=True))
        stored = list[StoredFacts]()
        for one in entities:
            result = results.get(one.id)
            error = result.error if result else None
            if isinstance(error, FileRejected):
                params = {"entity": names([one.subject.name]), "reason": describe_reason(error)}
                report.warn([CodedWarning(WarningCode.FACTS_NOT_STORED, params)])
            elif error is not None and not isinstance(error, _OVERTAKEN):
                await self._upkeep.fail(error)
            else:
                document_id = result.document_id if result else one.stored and one.stored.id
                stored.append(StoredFacts(one, document_id, result is None or result.unchanged))
        for one in entities:
            gone = [*one.others, *([one.stored] if one.stored and not one.passages else [])]
            for document in gone:
                await self._ingestor.documents.withdraw(self._scope, document.id)
        return stored

    async def _state(
        self, stored: Sequence[StoredFacts], report: StoredDocuments
    ) -> list[EntityFacts]:
        """Add the evidence of the passages to the graph; return the entities that have changed meanwhile.

        The facts are read again under the writer's lock, since another import may have changed them or the passages.
        Passages of changed entities state nothing yet.
        """
        async with self._record.writing(self._scope, bare=False) as writer:
            now = {
                one.id: one for one in await self._read(writer, [one.facts.id for one in stored])
            }
            unchanged = [one for one in stored if one.facts.is_current(now.get(one.facts.id))]
            evidence = await asyncio.to_thread(_evidence, unchanged)
            await writer.add(evidence)
            await replace_user_statements(writer, evidence.relations)
        for one in unchanged:
            if one.facts.passages:
                report.documents += 1
                report.unchanged += one.unchanged
                report.chunks += len(one.facts.passages)
        stated = {one.facts.id for one in unchanged}
        return [one.facts for one in stored if one.facts.id not in stated]


def _facts(
    words: Sequence[UserStatement], targets: dict[UUID, Profile]
) -> defaultdict[UUID, list[Fact]]:
    """Return the facts of each entity, by type and name."""
    facts = defaultdict[UUID, list[Fact]](list)
    for word in words:
        if (target := targets.get(word.target_id)) is not None:
            fact = word.relation_type, _key(target), target.name, word.description
            facts[word.source_id].append(Fact(*fact, target.id, word.weight))
    for facts_of in facts.values():
        facts_of.sort(key=lambda one: (one.relation_type, normalise_name(one.name), one.target))
    return facts


def _aliases(subject: Subject, names: Sequence[tuple[str, str]]) -> list[str]:
    subject_name = normalise_name(subject.name)
    return [name for norm, name in names if norm != subject_name]


def _evidence(stored: Sequence[StoredFacts]) -> GraphEvidence:
    """Return the relations that passages state, and the entities that they mention."""
    mentions, relations = list[MentionRow](), list[RelationRow]()
    for one, document, _ in stored:
        if document is None:
            continue
        for passage in one.passages:
            chunk = chunk_id(document, passage.line.id)
            named = {fact.entity_id: fact.name for fact in passage.facts}
            if passage.facts or passage.line.entities:
                named[one.id] = one.subject.name
            mentions += [
                MentionRow(entity, chunk, MentionKind.IMPORT, name)
                for entity, name in named.items()
            ]
            relations += [
                RelationRow(
                    one.id, fact.entity_id, fact.relation_type, chunk, fact.weight, fact.description
                )
                for fact in passage.facts
            ]
    return GraphEvidence(mentions, relations)


def _key(one: Profile) -> str:
    return _key_of(one.external_id, one.name)


def _key_of(external_id: str, name: str) -> str:
    """Return the key of an entity: the external id, else the name."""
    return f"id {external_id}" if external_id else f"name {normalise_name(name)}"
