"""Extract the graph's evidence from passages without a chat model: terms, types, definitions, rows of tables, links.

A passage mentions an entity once, where it first occurs, with its type and description. Two entities with a typed
relation get no co-occurrence besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from sextant.domain.documents import TABLES, Chunk, ParsedDocument
from sextant.domain.graph import ABBREVIATES, CO_OCCURS, IS_A, UNTYPED, MentionKind
from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.entity_types import (
    CONCEPT,
    find_defined,
    type_of_column,
    type_of_name,
)
from sextant.ingestion.graph.extraction.extract_terms import (
    NAMED,
    Term,
    co_occurrences,
    extract_terms,
)
from sextant.ingestion.graph.extraction.taggers import EntityTagger, Tag
from sextant.ingestion.graph.extraction.titles import titles_of
from sextant.ingestion.graph.resolution.name_keys import definitions
from sextant.stores.graph.evidence import AliasRow, MentionRow, RelationRow, entity_id
from sextant.tables.cells.stored import cells_of
from sextant.text.analysis import NAMES
from sextant.text.characters import lowercase, normalise_name, remember_short
from sextant.text.name_linker import NameTrie, bare_title, is_linkable
from sextant.text.units import DATE, is_unit
from sextant.text.values import normalise_values

_LONGEST_NAME, _LONGEST_HEADING, _LONGEST_VALUE = 60, 40, 120  # characters; what is longer is prose
_MOST_COLUMNS = 16  # of a row
_RULE = re.compile(r"\|(?:\s*:?-{3,}:?\s*\|)+")
# Headings of columns that number the rows, so that the next column has the subject.
_NUMBERING = frozenset(
    [
        *("", "#", "№", "n°", "no", "nr", "number", "id", "index", "item", "s/n", "rank"),
        *("序", "序号", "序號", "编号", "編號", "项次", "排名", "名次"),
    ]
)


class TableCell(NamedTuple):
    """A cell's text and its start in the table's text."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class RowFacts:
    """The facts of a row about `subject`, whose column is `heading`: related names, and other cells as a description."""

    subject: TableCell
    heading: str
    related: tuple[tuple[str, TableCell], ...]
    description: str


def table_facts(text: str, context: str = "") -> Iterator[RowFacts]:
    """Yield the facts of a table; its heading row is in `text` or, for later rows, in `context`."""
    lines = list(_lines(text))
    headings, rows = _headings(lines), lines[2:]
    if not headings:
        headings, rows = _headings(list(_lines(context))), lines
    named = [heading for heading in headings if heading]
    if len(headings) < 2 or len(set(named)) != len(named):
        return
    numbering = headings[0].rstrip(".").casefold() in _NUMBERING
    for line in rows:
        cells = _cells(line)
        if len(cells) != len(headings):
            continue
        column = int(numbering and cells[0].text[:1].isdigit())
        if _is_name(cells[column].text):
            yield _row(headings, cells, column)


def _row(headings: list[str], cells: list[TableCell], column: int) -> RowFacts:
    subject = cells[column]
    before = [None, *(cell.text for cell in cells)]
    filled = [
        (heading, cell)
        for heading, cell, left in zip(headings, cells, before, strict=False)
        if heading and cell.text and len(cell.text) <= _LONGEST_VALUE and cell.text != subject.text
        if cell.text != left or not _is_name(cell.text)
    ][:_MOST_COLUMNS]
    related = tuple(pair for pair in filled if _is_thing(pair[1].text))
    pairs = [f"{heading}: {cell.text}" for heading, cell in filled if not _is_thing(cell.text)]
    return RowFacts(subject, headings[column], related, "; ".join(pairs))


def _headings(lines: list[TableCell]) -> list[str]:
    """Return the headings of a table that begins with a heading row and a rule; [] for others."""
    if len(lines) < 2 or not _RULE.fullmatch(lines[1].text.strip()):
        return []
    headings = [cell.text for cell in _cells(lines[0])]
    return headings if all(len(one) <= _LONGEST_HEADING for one in headings) else []


def _lines(text: str) -> Iterator[TableCell]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield TableCell(line.rstrip("\r\n"), start)
        start += len(line)


def _cells(line: TableCell) -> list[TableCell]:
    if not line.text.startswith("|"):
        return []
    cells, at = list[TableCell](), 1
    for cell in cells_of(line.text):
        at = line.text.index(cell, at)
        cells.append(TableCell(cell, line.start + at))
        at += len(cell)
    return cells


def _is_name(text: str) -> bool:
    """Return whether a cell is a name: short, without a number first, no sentence, no date or amount."""
    return (
        len(text) <= _LONGEST_NAME
        and is_linkable(text)
        and not text[0].isdigit()
        and not re.search(r"[。；;!?！？]|\. ", text)
        and len(text.split()) <= 6
        and not _is_value(text)
    )


def _is_thing(text: str) -> bool:
    """Return whether a cell is a name and no unit."""
    return _is_name(text) and not is_unit(text)


@remember_short(65_536)
def _is_value(text: str) -> bool:
    """Return whether a cell is a date or an amount of money."""
    found = normalise_values(text)
    if len(found) != 1 or found[0].end < len(text.rstrip()):
        return False
    return not text[: found[0].start].strip() and found[0].value.dimension in {DATE, "money"}


class EntityAlias(NamedTuple):
    """A name as spelled in a title, and its entity."""

    entity_id: UUID
    name: str


Names = NameTrie[EntityAlias]


def title_evidence(
    scope: Scope, document_id: UUID, parsed: ParsedDocument
) -> tuple[list[AliasRow], list[MentionRow]]:
    """Return the titles of a document as names, and as mentions in the chunks below them."""
    aliases: list[AliasRow] = []
    mentions: list[MentionRow] = []
    for title in titles_of(parsed):
        entity = entity_id(scope, title.name)
        source = "document" if title.path is None else "section"
        # The title of a section is seldom a name ("Stations and software"), but may be a concept (用药原则).
        entity_type = type_of_name(title.name)
        if title.path is not None and entity_type != CONCEPT:
            entity_type = UNTYPED
        aliases += [AliasRow(entity, name, source, document_id) for name in title.names]
        mentions += [
            MentionRow(entity, chunk.id, MentionKind.TITLE, title.name, entity_type)
            for chunk in parsed.chunks
            if title.path is None or chunk.section_path[: len(title.path)] == title.path
        ]
    return aliases, mentions


def name_trie(entities: Iterable[EntityAlias]) -> Names:
    """Return a trie of names that `links` searches texts for."""
    trie: Names = NameTrie({})
    for alias in entities:
        trie.add(alias.name, [alias])
    return trie


def links(trie: Names, chunks: Iterable[tuple[UUID, str]]) -> Iterator[MentionRow]:
    """Yield a mention for each name in a chunk, at its first occurrence.

    Spellings that differ in case are one name, and the mention has its normal form.
    """
    for chunk_id, text in chunks:
        seen: set[EntityAlias] = set()
        for match in trie.occurrences(text):
            found = lowercase(text[match.start : match.end])
            for entity, name in match.bearers:
                key = EntityAlias(entity, normalise_name(name))
                if key not in seen and lowercase(core(name)) == found:
                    seen.add(key)
                    yield _mention(key, chunk_id, match.start, match.end)


def _mention(alias: EntityAlias, chunk_id: UUID, start: int, end: int) -> MentionRow:
    return MentionRow(
        alias.entity_id, chunk_id, MentionKind.ALIAS, alias.name, start=start, end=end
    )


@remember_short(65_536)
def core(name: str) -> str:
    """Return the name from its first word to its last, without signs around them."""
    words = NAMES.tokens(name)
    return name[words[0].start : words[-1].end] if words else ""


def texts(chunks: Sequence[Chunk]) -> list[tuple[UUID, str]]:
    """Return ids and texts of chunks, as `links` takes them."""
    return [(chunk.id, chunk.text) for chunk in chunks]


class TermEvidence(NamedTuple):
    """The evidence of passages by themselves."""

    mentions: list[MentionRow]
    relations: list[RelationRow]


def term_evidence(
    scope: Scope,
    chunks: Sequence[Chunk],
    known: Mapping[UUID, Sequence[Term]],
    tagger: EntityTagger | None = None,
) -> TermEvidence:
    """Return the entities that chunks mention, and their relations.

    Types that names, columns and definitions show take precedence over those of a model.

    Args:
        scope: the knowledge base.
        chunks: chunks of a document.
        known: the terms of chunks that were extracted before.
        tagger: a model that finds names and their types, if any.
    """
    statements = [_state(scope, chunk, known.get(chunk.id)) for chunk in chunks]
    if tagger is not None:
        _add_tags(statements, tagger.tag([chunk.text for chunk in chunks]))
    return TermEvidence(
        [row for statement in statements for row in statement.mentions.values()],
        [row for statement in statements for row in statement.relations],
    )


def _state(scope: Scope, chunk: Chunk, known: Sequence[Term] | None) -> _Statements:
    """Return the evidence of a chunk: terms, definitions, abbreviations and tables."""
    terms = extract_terms(chunk.text) if known is None else known
    statements = _Statements(scope, chunk)
    ids = [
        statements.mention(
            term.name,
            term.spans[0].start,
            is_repeated=len(term.spans) > 1 and term.spans[0].weight >= NAMED,
        )
        for term in terms
    ]
    _add_definitions(statements, terms)
    _add_abbreviations(statements)
    _add_table(statements)
    for one, other, times in co_occurrences(chunk.text, terms):
        statements.co_occur(ids[one], ids[other], times)
    return statements


def _add_tags(statements: Sequence[_Statements], tagged: Sequence[Sequence[Tag]]) -> None:
    """Add the names that a model finds, with its types where the document shows none."""
    shown = {
        entity
        for statement in statements
        for entity, row in statement.mentions.items()
        if row.entity_type != UNTYPED
    }
    for statement, tags in zip(statements, tagged, strict=True):
        for tag in tags:
            is_shown = entity_id(statement.scope, tag.text) in shown
            statement.mention(
                tag.text,
                tag.start,
                UNTYPED if is_shown or type_of_name(tag.text) != UNTYPED else tag.entity_type,
            )


@dataclass(slots=True)
class _Statements:
    """The evidence of one chunk; the first mention, the first known type and all descriptions of an entity count."""

    scope: Scope
    chunk: Chunk
    mentions: dict[UUID, MentionRow] = field(default_factory=dict[UUID, MentionRow])
    relations: list[RelationRow] = field(default_factory=list[RelationRow])
    _related: set[frozenset[UUID]] = field(default_factory=set[frozenset[UUID]])

    def mention(
        self,
        name: str,
        start: int,
        entity_type: str = UNTYPED,
        description: str = "",
        *,
        is_repeated: bool = False,
    ) -> UUID:
        """Add an entity; the type that its name shows counts if no other is given.

        A name that has a type or is repeated in the chunk is an entity by itself; a term, and a cell of a table, only
        if a second chunk mentions it.
        """
        entity = entity_id(self.scope, name)
        row = self.mentions.get(entity)
        if row is None:
            kind, end = MentionKind.TERM, start + len(name)
            row = MentionRow(
                entity, self.chunk.id, kind, name, type_of_name(name), start=start, end=end
            )
        if row.entity_type in {UNTYPED, type_of_name(row.name)} and entity_type != UNTYPED:
            row = row._replace(entity_type=entity_type)
        is_name = is_repeated or row.entity_type != UNTYPED
        if is_name and self.chunk.modality not in TABLES:
            row = row._replace(kind=MentionKind.NAME)
        joined = "; ".join(filter(None, (row.description, description)))
        self.mentions[entity] = row._replace(description=joined)
        return entity

    def relate(self, source: UUID, target: UUID, relation_type: str) -> None:
        """Add a typed relation, unless both ends are one entity."""
        if source != target:
            self._related.add(frozenset((source, target)))
            self.relations.append(RelationRow(source, target, relation_type, self.chunk.id))

    def co_occur(self, one: UUID, other: UUID, sentences: int) -> None:
        """Add a co-occurrence, from the smaller to the larger id, unless the entities have a typed relation."""
        if frozenset((one, other)) not in self._related:
            source, target = sorted((one, other))
            self.relations.append(
                RelationRow(source, target, CO_OCCURS, self.chunk.id, float(sentences))
            )


def _add_definitions(statements: _Statements, terms: Sequence[Term]) -> None:
    """Add the definitions of the chunk's terms and of the titles above it."""
    ends = {span.end: term.name for term in terms for span in term.spans}
    names = [*(term.name for term in terms), *map(bare_title, statements.chunk.section_path)]
    for found in find_defined(statements.chunk.text, names):
        entity = statements.mention(found.name, found.start, found.entity_type, found.description)
        # A class that is no term of the passage ("film") would be a hub.
        name = ends.get(found.kind.end)
        if name is not None:
            statements.relate(entity, statements.mention(name, found.kind.end - len(name)), IS_A)


def _add_abbreviations(statements: _Statements) -> None:
    """Add the abbreviations that the chunk defines; `sextant.ingestion.graph.resolution` merges by them."""
    for found in definitions(statements.chunk.text):
        short = entity_id(statements.scope, found.short)
        if short != entity_id(statements.scope, found.full):
            statements.mention(found.short, found.short_start)
            statements.relate(short, statements.mention(found.full, found.full_start), ABBREVIATES)


def _add_table(statements: _Statements) -> None:
    """Add the facts of a table's rows; cells that are no names describe the row's subject."""
    if statements.chunk.modality not in TABLES:
        return

    def mention(cell: TableCell, heading: str, description: str = "") -> UUID:
        name = type_of_name(cell.text)
        kind = type_of_column(heading) if name == UNTYPED else name
        return statements.mention(cell.text, cell.start, kind, description)

    for row in table_facts(statements.chunk.text, statements.chunk.context):
        subject = mention(row.subject, row.heading, row.description)
        for heading, cell in row.related:
            statements.relate(subject, mention(cell, heading), heading)
