"""Add a published document to the knowledge graph: its titles, its terms, and links by name.

The evidence belongs to the document's own chunks. Its titles are names, so passages of other documents that contain
them are linked, too. Evidence follows from one document, and a link from one passage and one name, so the graph does
not depend on the order of documents. `sextant.stores.graph.graph_writer.forget_document` removes a document's evidence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from sextant.domain.documents import ParsedDocument
from sextant.domain.graph import FACTS_OF
from sextant.domain.scope import Scope
from sextant.domain.versioned_cache import VersionedCache
from sextant.ingestion.graph.extraction.chunk_evidence import (
    EntityAlias,
    Names,
    core,
    links,
    name_trie,
    term_evidence,
    texts,
    title_evidence,
)
from sextant.ingestion.graph.extraction.extract_terms import Term
from sextant.ingestion.graph.extraction.taggers import EntityTagger, build_tagger
from sextant.ingestion.workers import GroupCommit
from sextant.stores.graph.evidence import GraphEvidence, MentionRow
from sextant.stores.graph.extraction import chunks_containing, has_chunks, live, read_names
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.text.characters import normalise_name

_SCOPES = 4  # cached tries of names; one of 100,000 names takes about 100 MB
_SMALL = 64  # chunks of a document that is written together with others
_TEXTS_AT_ONCE = 256
_NAMES_AT_ONCE = 500


@dataclass(slots=True)
class _GraphNames:
    """The names of one graph as of one version of it."""

    trie: Names
    spellings: dict[EntityAlias, set[EntityAlias]] = field(default_factory=dict)

    @classmethod
    def of(cls, entities: Iterable[EntityAlias]) -> _GraphNames:
        known = cls(name_trie(()))
        for alias in entities:
            known.add(alias)
        return known

    def add(self, alias: EntityAlias) -> bool:
        """Add a name; return False if this spelling is known."""
        same = self.spellings.setdefault(_normal(alias), set())
        if alias in same:
            return False
        same.add(alias)
        self.trie.add(alias.name, [alias])
        return True


class _NewDocument(NamedTuple):
    """A published version whose evidence is to be written."""

    document_id: UUID
    version: int
    evidence: GraphEvidence
    texts: Sequence[tuple[UUID, str]]


class GraphIndexer:
    """Add documents to the graphs of a database, with no model but that of `ingestion.ner_model`.

    Small documents that wait for the graph's writer are written in one transaction, since most change the same
    frequent entities.
    """

    def __init__(self, database: Database) -> None:
        self._record = GraphRecord(database)
        self._tagger = build_tagger(database.settings)
        # By the scope's number: a knowledge base that is deleted and created again has another number.
        self._names: VersionedCache[int, int, _GraphNames] = VersionedCache(_SCOPES)
        self._small = GroupCommit(self._write)

    async def index_document(
        self,
        scope: Scope,
        document_id: UUID,
        version: int,
        parsed: ParsedDocument,
        terms: Mapping[UUID, Sequence[Term]] | None = None,
        *,
        coming: int = 1,
    ) -> None:
        """Add the evidence of a published version to the graph; again it changes nothing.

        A version that was replaced or deleted meanwhile is skipped.

        Args:
            scope: the knowledge base.
            document_id: the document.
            version: the published version.
            parsed: the parsed document.
            terms: the terms of its chunks, if they were extracted before.
            coming: how many documents may soon be added, this one included.

        Raises:
            DatabaseUnavailable: nothing was added.
            ModelUnavailable: the named-entity model failed; nothing was added.
        """
        evidence = await asyncio.to_thread(
            _document_evidence, scope, document_id, parsed, terms or {}, self._tagger
        )
        document = _NewDocument(document_id, version, evidence, texts(parsed.chunks))
        if len(document.texts) <= _SMALL:
            await self._small.do(scope, document, coming)
        else:
            await self._write(scope, [document])

    async def _write(self, scope: Scope, documents: Sequence[_NewDocument]) -> list[None]:
        """Add the evidence of documents in one transaction."""
        # `bare=False`: a knowledge base that was deleted meanwhile is not created again.
        async with self._record.writing(scope, bare=False) as writer:
            ids = await live(writer, {one.document_id: one.version for one in documents})
            if present := [one for one in documents if one.document_id in ids]:
                known = await self._take_names(writer)
                await _add_documents(writer, known, present)
        if present:
            self._names.put(writer.scope_id, writer.version, known)
        return [None] * len(documents)

    async def _take_names(self, writer: GraphWriter) -> _GraphNames:
        """Return the names as the writer sees them; they leave the cache, since a failure would make them wrong."""
        known = self._names.at(writer.scope_id, writer.version)
        self._names.drop(writer.scope_id)
        if known is not None:
            return known
        rows = await read_names(writer)
        return await asyncio.to_thread(_GraphNames.of, (EntityAlias(*row) for row in rows))


async def _add_documents(
    writer: GraphWriter, known: _GraphNames, documents: Sequence[_NewDocument]
) -> None:
    """Add the evidence of documents, and the links between their names and all passages."""
    aliases = [row for one in documents for row in one.evidence.aliases]
    named = [EntityAlias(row.entity_id, row.name) for row in aliases]
    fresh = [alias for alias in named if known.add(alias)]
    passages = [passage for one in documents for passage in one.texts]
    mentions = [row for one in documents for row in one.evidence.mentions]
    mentions += await asyncio.to_thread(_links, known.trie, passages)
    relations = [row for one in documents for row in one.evidence.relations]
    await writer.add(GraphEvidence(mentions, relations, aliases))
    await _link_others(writer, known, fresh, [one.document_id for one in documents])


def _document_evidence(
    scope: Scope,
    document_id: UUID,
    parsed: ParsedDocument,
    terms: Mapping[UUID, Sequence[Term]],
    tagger: EntityTagger | None,
) -> GraphEvidence:
    """Return the evidence of a document: its titles and terms.

    A document of facts has no terms: its entities are known, and the words of relations (症状, use) would be hubs.
    """
    aliases, titled = title_evidence(scope, document_id, parsed)
    if FACTS_OF in parsed.metadata:
        return GraphEvidence(titled, (), aliases)
    evidence = term_evidence(scope, parsed.chunks, terms, tagger)
    return GraphEvidence([*titled, *evidence.mentions], evidence.relations, aliases)


async def _link_others(
    writer: GraphWriter, known: _GraphNames, fresh: Sequence[EntityAlias], indexed: Collection[UUID]
) -> None:
    """Link the passages of other documents that contain new names."""
    if not fresh:
        return
    found = await chunks_containing(writer, [core(b.name) for b in fresh], outside=list(indexed))
    # All spellings count, so that the first occurrence does not depend on their order.
    trie = name_trie(spelling for b in fresh for spelling in known.spellings[_normal(b)])
    for start in range(0, len(found), _TEXTS_AT_ONCE):
        part = found[start : start + _TEXTS_AT_ONCE]
        await writer.add(GraphEvidence(await asyncio.to_thread(_links, trie, part)))


async def link_names(writer: GraphWriter, fresh: Sequence[EntityAlias]) -> None:
    """Link the passages that contain names which the user has just given to entities."""
    if not await has_chunks(writer):
        return
    await writer.derive()  # since a mention by a name that is not stored is dropped
    wanted = {_normal(alias) for alias in fresh}
    known = _GraphNames(name_trie(()))
    for alias in (EntityAlias(*row) for row in await read_names(writer)):
        if (normal := _normal(alias)) in wanted:
            known.spellings.setdefault(normal, set()).add(alias)
    stored = [alias for alias in fresh if _normal(alias) in known.spellings]
    for start in range(0, len(stored), _NAMES_AT_ONCE):
        await _link_others(writer, known, stored[start : start + _NAMES_AT_ONCE], ())


def _links(trie: Names, chunks: Sequence[tuple[UUID, str]]) -> list[MentionRow]:
    return list(links(trie, chunks))


def _normal(alias: EntityAlias) -> EntityAlias:
    return EntityAlias(alias.entity_id, normalise_name(alias.name))
