"""The lines of an import or export as pydantic models; a chunk's line as evidence of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_serializer,
)
from pydantic.alias_generators import to_camel

from sextant.domain.documents import LONGEST_FILENAME, HeadingSource, Modality, storable
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.stores.graph.evidence import (
    HEAVIEST,
    LONGEST_NAME,
    LONGEST_TYPE,
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
    one_line,
)
from sextant.text.characters import clean_text


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A problem of a line.

    Attributes:
        line: its number, from 1.
        coded: the problem as data.
        kept: the line was imported; otherwise it, or the part named, was left out.
        reason: the problem as an English sentence.
    """

    line: int
    coded: CodedWarning
    kept: bool = False
    reason: str = field(init=False, default="")

    def __post_init__(self) -> None:
        """Set the reason."""
        object.__setattr__(self, "reason", str(self.coded))


class LineInvalid(ValueError):
    """A line cannot be imported; `coded` says why."""

    def __init__(self, code: WarningCode, **params: Any) -> None:  # noqa: ANN401 - JSON
        self.coded = CodedWarning(code, params)
        super().__init__(str(self.coded))


def _check_text(text: str) -> str:
    line = one_line(text)
    printable = line.isprintable() or any(sign.isprintable() for sign in line if sign != " ")
    if not line or not printable:
        raise ValueError("must not be empty")
    return line


_CREATED = "createdAt"  # key of a document's metadata


def _check_filled(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _number(value: object) -> object:
    if isinstance(value, bool):  # a number in Python, but not in JSON
        raise ValueError("must be a number")  # noqa: TRY004 - what pydantic reports
    return value


LONGEST_TITLE = 1000  # characters

Text = Annotated[str, AfterValidator(clean_text)]
Title = Annotated[str, Field(max_length=LONGEST_TITLE), AfterValidator(clean_text)]
Id = Annotated[
    str, Field(max_length=1000), AfterValidator(clean_text), AfterValidator(_check_filled)
]
Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_check_text)]
Type = Annotated[str, Field(max_length=LONGEST_TYPE), AfterValidator(_check_text)]
# An end of a relation: an id, a name or an alias.
End = Annotated[
    str, Field(max_length=LONGEST_NAME), AfterValidator(clean_text), AfterValidator(_check_filled)
]

LONG_PASSAGE = 8_000  # tokens that embedding models read of a passage
WholeNumber = Annotated[int, Field(ge=0, le=2**31 - 1), BeforeValidator(_number)]
_A_DAY = timedelta(days=1)


def _check_zone(time: datetime) -> datetime:
    """Return the time with a zone, by default UTC; reject one that is before year 1 or after 9999 in some zone."""
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    try:
        for day in (-_A_DAY, _A_DAY):
            (zoned + day).astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie within the years 1 to 9999 in every time zone") from None
    return zoned


Moment = Annotated[datetime, AfterValidator(_check_zone)]
Metadata = Annotated[dict[str, Any], AfterValidator(storable)]


class ImportLine(BaseModel):
    """A line of any type; unknown keys are collected, and reported."""

    model_config = ConfigDict(
        extra="allow", frozen=True, alias_generator=to_camel, populate_by_name=True
    )

    def wire(self) -> dict[str, Any]:
        """Return the line as JSON: camelCase, known keys with a value only."""
        values = self.model_dump(mode="json", by_alias=True, exclude=set(self.model_extra or ()))
        return {key: value for key, value in values.items() if value not in (None, "", [], {})}


class SectionLine(ImportLine):
    """A section of a document: `level` (from 1) in the tree, offsets in the text."""

    title: Title = ""
    level: Annotated[int, Field(ge=1, le=64), BeforeValidator(_number)]
    start: WholeNumber
    end: WholeNumber
    heading_source: HeadingSource = HeadingSource.GIVEN
    page: WholeNumber | None = None


class DocumentLine(ImportLine):
    """A document; without `text` its text is that of its chunks.

    `sections` are in reading order, parents before children, without the document itself.
    """

    type: Literal["document"] = "document"
    id: Id
    title: Title = ""
    text: Text | None = None
    metadata: Metadata = {}
    created_at: Moment | None = None
    filename: Annotated[Text, Field(max_length=LONGEST_FILENAME)] = ""
    page_count: WholeNumber | None = None
    sections: list[SectionLine] = []

    @field_serializer("sections")
    def _tree(self, sections: list[SectionLine]) -> list[dict[str, Any]]:
        return [section.wire() for section in sections]

    def stored_metadata(self) -> dict[str, Any]:
        """Return the metadata to store with the document, with the time of creation; the inverse of `stored`."""
        if self.created_at is None:
            return self.metadata
        return {**self.metadata, _CREATED: self.created_at.isoformat()}

    @classmethod
    def stored(cls, metadata: Mapping[str, Any], **values: object) -> DocumentLine:
        """Return the line of a document with these stored metadata; `values` are its other fields."""
        stored_metadata = dict(metadata)
        return cls.model_validate(
            {
                "created_at": stored_metadata.pop(_CREATED, None),
                "metadata": stored_metadata,
                **values,
            }
        )


def created_at(metadata: Mapping[str, Any]) -> datetime | None:
    """Return the time of creation that the author of a stored document gives; None if there is none."""
    text = metadata.get(_CREATED)
    with suppress(ValueError):
        return _check_zone(datetime.fromisoformat(text)) if isinstance(text, str) else None
    return None


class MentionedEntity(ImportLine):
    """An entity that a chunk mentions, with a type or a description."""

    name: Name
    entity_type: Type = "TERM"
    description: Text = ""


# Tags of the two forms of a chunk's entity, a name or an object; the tag decides whose errors are reported.
NAMED, DESCRIBED = "named", "described"


def _tag_entity(entity: object) -> str:
    return DESCRIBED if isinstance(entity, Mapping | MentionedEntity) else NAMED


def _check_triple(triple: object) -> object:
    if not isinstance(triple, Sequence) or isinstance(triple, str | bytes) or len(triple) != 3:
        raise ValueError("must be a list of three texts, [subject, relation, object]")
    return triple


Triple = Annotated[tuple[Name, Type, Name], BeforeValidator(_check_triple)]
MentionedAs = Annotated[
    Annotated[Name, Tag(NAMED)] | Annotated[MentionedEntity, Tag(DESCRIBED)],
    Discriminator(_tag_entity),
]


class ChunkLine(ImportLine):
    """A passage; without `document_id` it is a document.

    `triples` are (subject, relation, object), by name. `start` is the offset in the document's text. With `start`,
    `section` is the index of its section, from 0 (none: the document), and `context` the text searched with it.
    """

    type: Literal["chunk"] = "chunk"
    id: Id
    document_id: Id | None = None
    title: Title = ""
    text: Annotated[Text, AfterValidator(_check_filled)]
    entities: list[MentionedAs] = []
    triples: list[Triple] = []
    start: WholeNumber | None = None
    section: WholeNumber | None = None
    page: WholeNumber | None = None
    modality: Modality | None = None
    context: Text = ""


class EntityLine(ImportLine):
    """An entity that the user asserts; without `id` its name identifies it."""

    type: Literal["entity"] = "entity"
    id: Id | None = None
    name: Name
    entity_type: Type = "TERM"
    description: Text = ""
    aliases: list[Name] = []


class RelationLine(ImportLine):
    """A relation of two entities, each given by id, name or alias.

    Each of `chunk_ids` states it with `weight`; without chunks the user asserts it.
    """

    type: Literal["relation"] = "relation"
    source: End
    target: End
    relation_type: Type
    description: Text = ""
    weight: Annotated[
        float, Field(gt=0, le=HEAVIEST, allow_inf_nan=False), BeforeValidator(_number)
    ] = 1.0
    chunk_ids: list[Id] = []


class DecisionLine(ImportLine):
    """The user's decision whether two entities, given as in a relation, are one.

    The target's name is the name of both.
    """

    type: Literal["decision"] = "decision"
    source: End
    target: End
    same: bool = True
    reason: Text = ""


Line = DocumentLine | ChunkLine | EntityLine | RelationLine | DecisionLine


def line_evidence(scope: Scope, chunk: UUID, line: ChunkLine) -> GraphEvidence:
    """Return the evidence of a chunk: it mentions its entities and both ends of its triples.

    Entities come last, so that their types and descriptions count.
    """
    listed = [
        one if isinstance(one, MentionedEntity) else MentionedEntity(name=one)
        for one in line.entities
    ]
    ends = [MentionedEntity(name=end) for triple in line.triples for end in (triple[0], triple[2])]
    mentions = [
        MentionRow(
            entity_id(scope, one.name),
            chunk,
            MentionKind.IMPORT,
            one.name,
            one.entity_type,
            one.description,
        )
        for one in (*ends, *listed)
    ]
    relations = [
        RelationRow(entity_id(scope, source), entity_id(scope, target), kind, chunk)
        for source, kind, target in line.triples
    ]
    return GraphEvidence(mentions, relations)
