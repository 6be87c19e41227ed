"""Evidence for entities and relations, as rows for COPY."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from sextant.domain.graph import MentionKind
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.ids import name_digest
from sextant.text.characters import clean_text, normalise_name

LONGEST_TYPE = 200  # characters of the type of an entity or relation
LONGEST_NAME = 100_000  # characters; anything longer is a mistake
HEAVIEST = 1e12  # a greater weight is a mistake, and makes sums useless


class MentionRow(NamedTuple):
    """A mention of an entity in a chunk; without `chunk_id`, an assertion by the user (kind IMPORT).

    `name` is the entity's name as the source spells it; for kind ALIAS it is the alias that was
    found, which must be one of the entity's. `start` and `end` are offsets into the chunk's text.
    """

    entity_id: UUID
    chunk_id: UUID | None
    kind: MentionKind
    name: str
    entity_type: str = "TERM"
    description: str = ""
    external_id: str | None = None
    start: int = 0
    end: int = 0


class RelationRow(NamedTuple):
    """A relation stated by a chunk; without `chunk_id`, an assertion by the user."""

    source_id: UUID
    target_id: UUID
    relation_type: str
    chunk_id: UUID | None
    weight: float = 1.0
    description: str = ""


class AliasRow(NamedTuple):
    """A name of an entity in texts; deleted with `document_id`, or the user's if that is None.

    `source`: document or section (a title), import or manual.
    """

    entity_id: UUID
    name: str
    source: str
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class GraphEvidence:
    """A batch of evidence of any size; rows with equal keys count once.

    The key of a mention is (entity, chunk, kind, and for ALIAS the alias), of a relation (source,
    target, type, chunk), of an alias (entity, normalised name, document).
    """

    mentions: Sequence[MentionRow] = ()
    relations: Sequence[RelationRow] = ()
    aliases: Sequence[AliasRow] = ()


@dataclass(frozen=True, slots=True)
class RowProblem:
    """The reason why a row was rejected; `table` is mentions, relations or aliases."""

    table: str
    index: int
    reason: str


@dataclass(slots=True)
class Added:
    """The outcome of adding evidence: numbers of new or changed rows, and the rejected rows."""

    mentions: int = 0
    relations: int = 0
    aliases: int = 0
    problems: list[RowProblem] = field(default_factory=list)


def one_line(text: str) -> str:
    """Return a name as it is stored: storable characters only, white space collapsed."""
    return " ".join(clean_text(text).split())


@dataclass(slots=True)
class Accepted:
    """Evidence as rows for COPY, in the column order of the temporary tables; texts are cleaned.

    `ordinal` numbers the rows: of two with the same key the later one counts.
    """

    ordinal: int
    mentions: list[tuple[Any, ...]] = field(default_factory=list)
    relations: list[tuple[Any, ...]] = field(default_factory=list)
    aliases: list[tuple[Any, ...]] = field(default_factory=list)
    problems: list[RowProblem] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def add(self, evidence: GraphEvidence) -> None:
        """Add the rows that can be stored; add the others to `problems`."""
        tidy = cache(one_line)
        self._add_mentions(evidence.mentions, tidy)
        self._add_relations(evidence.relations, tidy)
        self._add_aliases(evidence.aliases)

    def _add_mentions(self, rows: Sequence[MentionRow], tidy: Callable[[str], str]) -> None:
        for index, row in enumerate(rows):
            entity, chunk, kind, name, entity_type, description, external_id, *span = row
            name, entity_type = tidy(name), tidy(entity_type)
            surface = name_digest(normalise_name(name)) if kind is MentionKind.ALIAS else 0
            if fault := _mention_fault(row, name, entity_type):
                self.problems.append(RowProblem("mentions", index, fault))
                continue
            self.names.add(name)
            texts = (name, entity_type, clean_text(description))
            key = (self.ordinal + index, entity, chunk or NIL, kind.value, surface)
            self.mentions.append((*key, *texts, external_id and clean_text(external_id), *span))
        self.ordinal += len(rows)

    def _add_relations(self, rows: Sequence[RelationRow], tidy: Callable[[str], str]) -> None:
        first, append = self.ordinal, self.relations.append
        for index, row in enumerate(rows):
            source, target, kind, chunk, weight, description = row
            kind = tidy(kind)
            same = source.int == target.int  # faster than comparing the objects
            if same or not 0 < weight <= HEAVIEST or not 0 < len(kind) <= LONGEST_TYPE:
                self.problems.append(RowProblem("relations", index, _relation_fault(row, kind)))
                continue
            text = description and clean_text(description)
            append((first + index, source, target, kind, chunk or NIL, float(weight), text))
        self.ordinal += len(rows)

    def _add_aliases(self, rows: Sequence[AliasRow]) -> None:
        for index, (entity, spelling, source, document_id) in enumerate(rows):
            name = one_line(spelling)
            if fault := name_fault(name):
                self.problems.append(RowProblem("aliases", index, fault))
                continue
            self.names.add(name)
            norm = normalise_name(name)
            self.aliases.append((entity, name_digest(norm), norm, name, source, document_id or NIL))
        self.ordinal += len(rows)


def _mention_fault(row: MentionRow, name: str, entity_type: str) -> str:
    """Return why a row cannot be stored, as a sentence for the user; empty if it can."""
    if row.chunk_id is None and row.kind is not MentionKind.IMPORT:
        return f"A mention of kind {row.kind} needs a chunk."
    return name_fault(name) or type_fault(entity_type)


def _relation_fault(row: RelationRow, relation_type: str) -> str:
    if row.source_id == row.target_id:
        return "The relation joins an entity to itself."
    if not 0 < row.weight <= HEAVIEST:  # also true of NaN
        return f"The weight is {row.weight}; it must be greater than 0 and at most {HEAVIEST:g}."
    return type_fault(relation_type)


def name_fault(name: str) -> str:
    """Return why a name from `one_line` cannot be stored; empty if it can."""
    if not name:
        return "The name is empty."
    too_long = len(name) > LONGEST_NAME
    return f"The name is longer than {LONGEST_NAME} characters." if too_long else ""


def type_fault(name: str) -> str:
    """Return why a type from `one_line` cannot be stored; empty if it can."""
    if not name:
        return "The type is empty."
    return f"The type is longer than {LONGEST_TYPE} characters." if len(name) > LONGEST_TYPE else ""
