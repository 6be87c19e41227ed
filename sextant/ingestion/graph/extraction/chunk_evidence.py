"""What single passages say of the graph, without a chat model: terms, their types, definitions, rows of tables.

A passage mentions an entity once: where it first stands, with the type that is known of it and what the passage
says it is. Two entities that it relates by a type are not related by sharing sentences besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sextant.domain.documents import Chunk, Modality
from sextant.domain.graph import CO_OCCURS, IS_A, PART_OF, UNTYPED, MentionKind
from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.defining import find_defined, find_parts
from sextant.ingestion.graph.extraction.entity_types import (
    type_beside,
    type_of_column,
    type_of_name,
)
from sextant.ingestion.graph.extraction.extract_terms import Term, co_occurrences, extract_terms
from sextant.ingestion.graph.extraction.table_facts import TableCell, table_facts
from sextant.ingestion.graph.extraction.tagging import EntityTagger, Tag
from sextant.ingestion.graph.extraction.titles import bare_title
from sextant.ingestion.graph.resolution.definitions import definitions
from sextant.stores.graph.evidence import MentionRow, RelationRow
from sextant.stores.graph.ids import entity_id
from sextant.stores.graph.resolution.comparing import ABBREVIATES


def term_evidence(
    scope: Scope,
    chunks: Sequence[Chunk],
    known: Mapping[UUID, Sequence[Term]],
    tagger: EntityTagger | None = None,
) -> tuple[list[MentionRow], list[RelationRow]]:
    """Return the entities that chunks mention, and how these are related.

    What names, columns and definitions of the document show comes before the types that a model gives.

    Args:
        scope: whose graph.
        chunks: of a document.
        known: the terms of chunks, where they were extracted before.
        tagger: a model that finds names and their types; None: none is asked.
    """
    statements = [_state(scope, chunk, known.get(chunk.id)) for chunk in chunks]
    if tagger is not None:
        _add_tags(statements, tagger.tag([chunk.text for chunk in chunks]))
    mentions = [row for said in statements for row in said.mentions.values()]
    return mentions, [row for said in statements for row in said.relations]


def _state(scope: Scope, chunk: Chunk, known: Sequence[Term] | None) -> _Statements:
    """Return what a chunk says by its terms, definitions, abbreviations and tables."""
    terms = extract_terms(chunk.text) if known is None else known
    said = _Statements(scope, chunk)
    ids = [
        said.mention(term.name, term.spans[0].start, _type_of_term(chunk.text, term))
        for term in terms
    ]
    _add_definitions(said, terms)
    _add_abbreviations(said)
    _add_table(said)
    for one, other, times in co_occurrences(chunk.text, terms):
        said.relate_sharing(ids[one], ids[other], times)
    return said


def _type_of_term(text: str, term: Term) -> str:
    """Return the type that stands beside a term anywhere in the text; what its name shows comes first."""
    if type_of_name(term.name) != UNTYPED:
        return UNTYPED
    beside = (type_beside(text, span.start, span.end) for span in term.spans)
    return next((kind for kind in beside if kind != UNTYPED), UNTYPED)


def _add_tags(statements: Sequence[_Statements], tagged: Sequence[Sequence[Tag]]) -> None:
    """Add what a model calls the names of chunks, where the document itself does not show it."""
    shown = {
        entity
        for said in statements
        for entity, row in said.mentions.items()
        if row.entity_type != UNTYPED
    }
    for said, tags in zip(statements, tagged, strict=True):
        for tag in tags:
            is_shown = entity_id(said.scope, tag.text) in shown
            said.mention(
                tag.text,
                tag.start,
                UNTYPED if is_shown or type_of_name(tag.text) != UNTYPED else tag.entity_type,
            )


@dataclass(slots=True)
class _Statements:
    """What one chunk says: an entity's first mention, first known type and all its descriptions count."""

    scope: Scope
    chunk: Chunk
    mentions: dict[UUID, MentionRow] = field(default_factory=dict[UUID, MentionRow])
    relations: list[RelationRow] = field(default_factory=list[RelationRow])
    _related: set[frozenset[UUID]] = field(default_factory=set[frozenset[UUID]])

    def mention(
        self, name: str, start: int, entity_type: str = UNTYPED, description: str = ""
    ) -> UUID:
        """Note an entity; what a name says by itself counts where nobody says more."""
        entity = entity_id(self.scope, name)
        row = self.mentions.get(entity)
        if row is None:
            kind, end = MentionKind.TERM, start + len(name)
            row = MentionRow(
                entity, self.chunk.id, kind, name, type_of_name(name), start=start, end=end
            )
        if row.entity_type in {UNTYPED, type_of_name(row.name)} and entity_type != UNTYPED:
            row = row._replace(entity_type=entity_type)
        told = "; ".join(filter(None, (row.description, description)))
        self.mentions[entity] = row._replace(description=told)
        return entity

    def relate(self, source: UUID, target: UUID, relation_type: str) -> None:
        """Note a typed relation, unless both ends are one."""
        if source != target:
            self._related.add(frozenset((source, target)))
            self.relations.append(RelationRow(source, target, relation_type, self.chunk.id))

    def relate_sharing(self, one: UUID, other: UUID, sentences: int) -> None:
        """Note that two share sentences, from the smaller to the larger id, unless a typed relation says more."""
        if frozenset((one, other)) not in self._related:
            source, target = sorted((one, other))
            self.relations.append(
                RelationRow(source, target, CO_OCCURS, self.chunk.id, float(sentences))
            )


def _add_definitions(said: _Statements, terms: Sequence[Term]) -> None:
    """Add what the chunk says that its terms, and what it is headed by, are and are part of."""
    ends = {span.end: term.name for term in terms for span in term.spans}
    names = [*(term.name for term in terms), *map(bare_title, said.chunk.section_path)]
    for found in find_defined(said.chunk.text, names):
        entity = said.mention(found.name, found.start, found.entity_type, found.description)
        # A class that the passage has no term for ("film") would be a hub that parts nothing from anything.
        name = ends.get(found.kind.end)
        if name is not None:
            said.relate(entity, said.mention(name, found.kind.end - len(name)), IS_A)
    for one in find_parts(said.chunk.text, names):
        part, whole = (
            said.mention(one.part, one.part_start),
            said.mention(one.whole, one.whole_start),
        )
        said.relate(part, whole, PART_OF)


def _add_abbreviations(said: _Statements) -> None:
    """Add the abbreviations that the chunk defines, from which `sextant.ingestion.graph.resolution.resolve` learns."""
    for found in definitions(said.chunk.text):
        short = entity_id(said.scope, found.short)
        if short != entity_id(said.scope, found.full):
            said.mention(found.short, found.short_start)
            said.relate(short, said.mention(found.full, found.full_start), ABBREVIATES)


def _add_table(said: _Statements) -> None:
    """Add what the rows of a table state; values that name nothing describe what their row is about."""
    if said.chunk.modality is not Modality.TABLE:
        return

    def mention(cell: TableCell, heading: str, description: str = "") -> UUID:
        name = type_of_name(cell.text)
        kind = type_of_column(heading) if name == UNTYPED else name
        return said.mention(cell.text, cell.start, kind, description)

    for row in table_facts(said.chunk.text, said.chunk.context):
        subject = mention(row.subject, row.heading, row.description)
        for heading, cell in row.related:
            said.relate(subject, mention(cell, heading), heading)
