"""What chunks and users say about entities, in rows that go straight into COPY."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from sextant.domain.graph import MentionKind
from sextant.stores.graph.ids import NIL, name_digest
from sextant.text.characters import clean_text, normalise_name

LONGEST_TYPE = 200  # characters of an entity's or a relation's type
LONGEST_NAME = 100_000  # characters; a mistake rather than a name
HEAVIEST = 1e12  # a weight beyond this is a mistake, and makes sums useless

Row = TypeVar("Row")


class MentionRow(NamedTuple):
    """A chunk mentions an entity; without `chunk_id` the user asserts it (kind IMPORT).

    `name` is the entity's name as the source spells it; for ALIAS the alias that was found, which
    must be one of the entity's aliases. `start` and `end` are offsets into the chunk's text.
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
    """A chunk states a relation of two entities; without `chunk_id` the user asserts it."""

    source_id: UUID
    target_id: UUID
    relation_type: str
    chunk_id: UUID | None
    weight: float = 1.0
    description: str = ""


class AliasRow(NamedTuple):
    """A name that means an entity in text; gone with `document_id`, or the user's when that is None.

    `source`: title, section, import or manual.
    """

    entity_id: UUID
    name: str
    source: str
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class GraphEvidence:
    """A batch of evidence, of any size; equal keys within it count once.

    A mention's key is (entity, chunk, kind, and for ALIAS the alias), a relation's (source, target,
    type, chunk), an alias's (entity, normalised name, document).
    """

    mentions: Sequence[MentionRow] = ()
    relations: Sequence[RelationRow] = ()
    aliases: Sequence[AliasRow] = ()


@dataclass(frozen=True, slots=True)
class RowProblem:
    """Why a row was left out: `table` is mentions, relations or aliases, `index` its place there."""

    table: str
    index: int
    reason: str


def without(evidence: GraphEvidence, problems: Iterable[RowProblem]) -> GraphEvidence:
    """Return the rows of `evidence` that none of these problems is about."""
    out = {(problem.table, problem.index) for problem in problems}

    def left(table: str, rows: Sequence[Row]) -> list[Row]:
        return [row for index, row in enumerate(rows) if (table, index) not in out]

    return GraphEvidence(
        left("mentions", evidence.mentions),
        left("relations", evidence.relations),
        left("aliases", evidence.aliases),
    )


@dataclass(slots=True)
class Added:
    """What became of evidence: rows that were new or changed, and the rows that were left out."""

    mentions: int = 0
    relations: int = 0
    aliases: int = 0
    problems: list[RowProblem] = field(default_factory=list)


def one_line(text: str) -> str:
    """Return a name as it is stored: storable characters, every run of white space one space."""
    return " ".join(clean_text(text).split())


@dataclass(slots=True)
class Accepted:
    """Evidence as rows for COPY, in the order of the temporary tables' columns; texts are cleaned.

    `place` numbers rows, so that of two with the same key the later counts.
    """

    place: int
    mentions: list[tuple[Any, ...]] = field(default_factory=list)
    relations: list[tuple[Any, ...]] = field(default_factory=list)
    aliases: list[tuple[Any, ...]] = field(default_factory=list)
    problems: list[RowProblem] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def add(self, evidence: GraphEvidence) -> None:
        """Take what can be stored; what is wrong with the rest goes to `problems`."""
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
            key = (self.place + index, entity, chunk or NIL, kind.value, surface)
            self.mentions.append((*key, *texts, external_id and clean_text(external_id), *span))
        self.place += len(rows)

    def _add_relations(self, rows: Sequence[RelationRow], tidy: Callable[[str], str]) -> None:
        place, kept = self.place, self.relations.append
        for index, row in enumerate(rows):
            source, target, kind, chunk, weight, description = row
            kind = tidy(kind)
            same = source.int == target.int  # comparing the objects takes three times as long
            if same or not 0 < weight <= HEAVIEST or not 0 < len(kind) <= LONGEST_TYPE:
                self.problems.append(RowProblem("relations", index, _relation_fault(row, kind)))
                continue
            said = description and clean_text(description)
            kept((place + index, source, target, kind, chunk or NIL, float(weight), said))
        self.place += len(rows)

    def _add_aliases(self, rows: Sequence[AliasRow]) -> None:
        for index, (entity, spelling, source, document_id) in enumerate(rows):
            name = one_line(spelling)
            if fault := name_fault(name):
                self.problems.append(RowProblem("aliases", index, fault))
                continue
            self.names.add(name)
            norm = normalise_name(name)
            self.aliases.append((entity, name_digest(norm), norm, name, source, document_id or NIL))
        self.place += len(rows)


def _mention_fault(row: MentionRow, name: str, entity_type: str) -> str:
    """Return why a row cannot be stored, as a sentence for the user; empty when it can."""
    if row.chunk_id is None and row.kind is not MentionKind.IMPORT:
        return f"A mention of kind {row.kind} needs a chunk."
    return name_fault(name) or type_fault(entity_type)


def _relation_fault(row: RelationRow, relation_type: str) -> str:
    if row.source_id == row.target_id:
        return "The relation joins an entity to itself."
    if not 0 < row.weight <= HEAVIEST:  # nor is NaN
        return f"The weight is {row.weight}; it must be above 0 and at most {HEAVIEST:g}."
    return type_fault(relation_type)


def name_fault(name: str) -> str:
    """Return why a name, as `one_line` leaves it, cannot be stored; empty when it can."""
    if not name:
        return "The name is empty."
    too_long = len(name) > LONGEST_NAME
    return f"The name is longer than {LONGEST_NAME} characters." if too_long else ""


def type_fault(name: str) -> str:
    """Return the same of a type."""
    if not name:
        return "The type is empty."
    return f"The type is longer than {LONGEST_TYPE} characters." if len(name) > LONGEST_TYPE else ""
