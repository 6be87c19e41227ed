"""What chunks and users say about entities, in rows that go straight into COPY."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from domain.graph import MentionKind
from domain.text import clean_text

LONGEST_TYPE = 200  # characters of an entity's or a relation's type
LONGEST_NAME = 100_000  # characters; a mistake rather than a name
HEAVIEST = 1e12  # a weight beyond this is a mistake, and makes sums useless


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
class Problem:
    """Why a row was left out: `table` is mentions, relations or aliases, `index` its place there."""

    table: str
    index: int
    reason: str


@dataclass(slots=True)
class Added:
    """What became of evidence: rows that were new or changed, and the rows that were left out."""

    mentions: int = 0
    relations: int = 0
    aliases: int = 0
    problems: list[Problem] = field(default_factory=list)


def usable(evidence: GraphEvidence, problems: list[Problem]) -> GraphEvidence:
    """The rows that can be stored, their texts cleaned; what is wrong with the others is appended."""
    kept = GraphEvidence([], [], [])
    for table in ("mentions", "relations", "aliases"):
        rows: list[tuple[object, ...]] = getattr(kept, table)
        for index, row in enumerate(getattr(evidence, table)):
            reason = _fault(row)
            if reason:
                problems.append(Problem(table, index, reason))
            else:
                rows.append(_tidy(row))
    return kept


def one_line(text: str) -> str:
    """A name as it is stored: storable characters, every run of white space one space."""
    return " ".join(clean_text(text).split())


Row = MentionRow | RelationRow | AliasRow


def _fault(row: Row) -> str:
    """Why a row cannot be stored, as a sentence for the user; empty when it can."""
    if isinstance(row, RelationRow):
        return _relation_fault(row)
    if not one_line(row.name):
        return "The name is empty."
    if len(row.name) > LONGEST_NAME:
        return f"The name is longer than {LONGEST_NAME} characters."
    if isinstance(row, MentionRow):
        if row.chunk_id is None and row.kind is not MentionKind.IMPORT:
            return f"A mention of kind {row.kind} needs a chunk."
        return _type_fault(row.entity_type)
    return ""


def _relation_fault(row: RelationRow) -> str:
    if row.source_id == row.target_id:
        return "The relation joins an entity to itself."
    if not math.isfinite(row.weight) or not 0 < row.weight <= HEAVIEST:
        return f"The weight is {row.weight}; it must be above 0 and at most {HEAVIEST:g}."
    return _type_fault(row.relation_type)


def _type_fault(name: str) -> str:
    if not one_line(name):
        return "The type is empty."
    return f"The type is longer than {LONGEST_TYPE} characters." if len(name) > LONGEST_TYPE else ""


def _tidy(row: Row) -> Row:
    if isinstance(row, RelationRow):
        return row._replace(
            relation_type=one_line(row.relation_type), description=clean_text(row.description)
        )
    if isinstance(row, AliasRow):
        return row._replace(name=one_line(row.name))
    return row._replace(
        name=one_line(row.name),
        entity_type=one_line(row.entity_type),
        description=clean_text(row.description),
        external_id=row.external_id and clean_text(row.external_id),
    )
