"""A published document enters the knowledge graph: its titles, its terms, and links by name.

Everything said is evidence of the document's own chunks, except that its titles are new names, which
passages of other documents may have used all along; those are linked too. A document's evidence
follows from its content alone, and a link from one passage and one name, so the graph does not
depend on the order in which documents came. Removing a document's evidence is the record's task
(`sextant.stores.graph.graph_writer.forget_document`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from sextant.domain.documents import ParsedDocument
from sextant.domain.graph import FACTS_OF
from sextant.domain.scope import Scope
from sextant.domain.versioned_cache import VersionedCache
from sextant.ingestion.graph.extraction.chunk_evidence import (
    Bearer,
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
from sextant.stores.graph.evidence import AliasRow, GraphEvidence, MentionRow
from sextant.stores.graph.extraction import chunks_containing, has_chunks, live, read_names
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.text.characters import normalise_name

# Tries of names that are kept; one of 100,000 names takes about 100 MB.
_SCOPES = 4
_TEXTS_AT_ONCE = 256
_NAMES_AT_ONCE = 500


@dataclass(slots=True)
class _GraphNames:
    """The names of one graph as of one version of it."""

    trie: Names
    spellings: dict[Bearer, set[Bearer]] = field(default_factory=dict)

    @classmethod
    def of(cls, entities: Iterable[Bearer]) -> _GraphNames:
        known = cls(name_trie(()))
        for bearer in entities:
            known.add(bearer)
        return known

    def add(self, bearer: Bearer) -> bool:
        """Add a name; False when it is known in this spelling."""
        same = self.spellings.setdefault(_normal(bearer), set())
        if bearer in same:
            return False
        same.add(bearer)
        self.trie.add(bearer.name, [bearer])
        return True


class GraphIndexer:
    """Enters documents into the graphs of a database, without any model but the one that `ingestion.ner_model` names."""

    def __init__(self, database: Database) -> None:
        self._record = GraphRecord(database)
        self._tagger = build_tagger(database.settings)
        # By the scope's number: one that is deleted and made again has another, and begins anew with its versions.
        self._names: VersionedCache[int, int, _GraphNames] = VersionedCache(_SCOPES)

    async def index_document(
        self,
        scope: Scope,
        document_id: UUID,
        version: int,
        parsed: ParsedDocument,
        terms: Mapping[UUID, Sequence[Term]] | None = None,
    ) -> None:
        """Add what a published version says to the graph; doing it again changes nothing.

        Nothing happens when the version was replaced or deleted meanwhile.

        Args:
            scope: whose graph.
            document_id: of the document.
            version: which was published.
            parsed: as its parser has left it.
            terms: of its chunks, where they are known.

        Raises:
            DatabaseUnavailable: nothing was added.
            ModelUnavailable: the named-entity model cannot be had; nothing was added.
        """
        evidence = await asyncio.to_thread(
            _document_evidence, scope, document_id, parsed, terms or {}, self._tagger
        )
        # One that was deleted meanwhile stays so.
        async with self._record.writing(scope, bare=False) as writer:
            if document_id not in await live(writer, {document_id: version}):
                return
            known = await self._take_names(writer)
            fresh = [bearer for bearer in map(_bearer, evidence.aliases) if known.add(bearer)]
            linked = await asyncio.to_thread(_links, known.trie, texts(parsed.chunks))
            await writer.add(replace(evidence, mentions=[*evidence.mentions, *linked]))
            await _link_others(writer, known, fresh, [document_id])
        self._names.put(writer.scope_id, writer.version, known)

    async def _take_names(self, writer: GraphWriter) -> _GraphNames:
        """Return the names as the writer sees them, removed from the cache, since a failure would leave them wrong."""
        known = self._names.at(writer.scope_id, writer.version)
        self._names.drop(writer.scope_id)
        if known is not None:
            return known
        rows = await read_names(writer)
        return await asyncio.to_thread(_GraphNames.of, (Bearer(*row) for row in rows))


def _document_evidence(
    scope: Scope,
    document_id: UUID,
    parsed: ParsedDocument,
    terms: Mapping[UUID, Sequence[Term]],
    tagger: EntityTagger | None,
) -> GraphEvidence:
    """Return what a document says by itself: its titles and its terms.

    What tells a graph's facts has none: what these are about has names, which passages are linked by, and the
    words of relations (症状, use) would be entities that everything is related to.
    """
    aliases, titled = title_evidence(scope, document_id, parsed)
    if FACTS_OF in parsed.metadata:
        return GraphEvidence(titled, (), aliases)
    evidence = term_evidence(scope, parsed.chunks, terms, tagger)
    return GraphEvidence([*titled, *evidence.mentions], evidence.relations, aliases)


async def _link_others(
    writer: GraphWriter, known: _GraphNames, fresh: Sequence[Bearer], indexed: Collection[UUID]
) -> None:
    """Link the passages of other documents that contain names which are new here."""
    if not fresh:
        return
    found = await chunks_containing(writer, [core(b.name) for b in fresh], outside=list(indexed))
    # With the other spellings of a name its first place is the same as if all had been there before.
    trie = name_trie(spelling for b in fresh for spelling in known.spellings[_normal(b)])
    for start in range(0, len(found), _TEXTS_AT_ONCE):
        part = found[start : start + _TEXTS_AT_ONCE]
        await writer.add(GraphEvidence(await asyncio.to_thread(_links, trie, part)))


async def link_names(writer: GraphWriter, fresh: Sequence[Bearer]) -> None:
    """Link the passages that contain names which the user has just given to entities.

    So it does not matter whether the names or the passages came first.
    """
    if not await has_chunks(writer):
        return
    await writer.derive()  # a mention by a name that is not stored would be dropped
    wanted = {_normal(bearer) for bearer in fresh}
    known = _GraphNames(name_trie(()))
    for bearer in (Bearer(*row) for row in await read_names(writer)):
        if (normal := _normal(bearer)) in wanted:
            known.spellings.setdefault(normal, set()).add(bearer)
    there = [bearer for bearer in fresh if _normal(bearer) in known.spellings]
    for start in range(0, len(there), _NAMES_AT_ONCE):
        await _link_others(writer, known, there[start : start + _NAMES_AT_ONCE], ())


def _links(trie: Names, chunks: Sequence[tuple[UUID, str]]) -> list[MentionRow]:
    return list(links(trie, chunks))


def _bearer(alias: AliasRow) -> Bearer:
    return Bearer(alias.entity_id, alias.name)


def _normal(bearer: Bearer) -> Bearer:
    return Bearer(bearer.entity_id, normalise_name(bearer.name))
