"""The lines of an import or export: what each may say, and why one is refused."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    field_serializer,
)
from pydantic.alias_generators import to_camel

from sextant.domain.configuration import describe_error
from sextant.domain.documents import LONGEST_FILENAME, HeadingSource, Modality, storable
from sextant.domain.questions import field_at
from sextant.stores.graph.evidence import HEAVIEST, LONGEST_NAME, LONGEST_TYPE, one_line
from sextant.text.characters import clean_text, estimate_tokens, normalise_name


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What is wrong with line number `line` (from 1).

    `kept`: the line was taken all the same; otherwise it, or the part named, was left out.
    """

    line: int
    reason: str
    kept: bool = False


class Remark(NamedTuple):
    """What is to be told of a line that was taken; `kept` as in `LineProblem`."""

    reason: str
    kept: bool = True


class LineInvalid(ValueError):
    """A line cannot be used; the message is the reason, as a sentence for its author."""


def _check_text(text: str) -> str:
    line = one_line(text)
    printable = line.isprintable() or any(sign.isprintable() for sign in line if sign != " ")
    if not line or not printable:
        raise ValueError("must not be empty")
    return line


# Where a document's metadata keeps when its author says that it was made.
_CREATED = "createdAt"


def _check_filled(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _number(value: object) -> object:
    """Return JSON's true and false are no numbers, which Python takes them for."""
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - what pydantic reports
    return value


LONGEST_TITLE = 1000  # characters: a title is shown with each of its passages

Text = Annotated[str, AfterValidator(clean_text)]
Title = Annotated[str, Field(max_length=LONGEST_TITLE), AfterValidator(clean_text)]
Id = Annotated[
    str, Field(max_length=1000), AfterValidator(clean_text), AfterValidator(_check_filled)
]
Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_check_text)]
Type = Annotated[str, Field(max_length=LONGEST_TYPE), AfterValidator(_check_text)]
# An id, or a name or an alias, which may be longer.
End = Annotated[
    str, Field(max_length=LONGEST_NAME), AfterValidator(clean_text), AfterValidator(_check_filled)
]

# Tokens that an embedding model reads of a passage at most: what those of OpenAI take, and the packaged one.
LONG_PASSAGE = 8_000
# Deeper trees of sections than people write.
MOST_LEVELS = 64
Place = Annotated[int, Field(ge=0, le=2**31 - 1), BeforeValidator(_number)]
_A_DAY = timedelta(days=1)


def _check_zone(time: datetime) -> datetime:
    """Return a time without zone is UTC, as in filters. One that some zone has no year for could not be read again."""
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    try:
        for day in (-_A_DAY, _A_DAY):
            (zoned + day).astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie within the years 1 to 9999 in every time zone") from None
    return zoned


Moment = Annotated[datetime, AfterValidator(_check_zone)]
Metadata = Annotated[dict[str, Any], AfterValidator(storable)]


class _ImportLine(BaseModel):
    model_config = ConfigDict(
        extra="allow", frozen=True, alias_generator=to_camel, populate_by_name=True
    )

    def wire(self) -> dict[str, Any]:
        """Return the line as it is written: camelCase, known keys only, without what says nothing."""
        values = self.model_dump(mode="json", by_alias=True, exclude=set(self.model_extra or ()))
        return {key: value for key, value in values.items() if value not in (None, "", [], {})}


class SectionLine(_ImportLine):
    """A section of a document: its place in the tree by `level` (from 1), in the text by offsets."""

    title: Title = ""
    level: Annotated[int, Field(ge=1, le=MOST_LEVELS), BeforeValidator(_number)]
    start: Place
    end: Place
    heading_source: HeadingSource = HeadingSource.GIVEN
    page: Place | None = None


class DocumentLine(_ImportLine):
    """A document; without `text` its text is that of its chunks.

    `sections` are in reading order, parents before children; the document itself is none of them.
    """

    type: Literal["document"] = "document"
    id: Id
    title: Title = ""
    text: Text | None = None
    metadata: Metadata = {}
    created_at: Moment | None = None
    filename: Annotated[Text, Field(max_length=LONGEST_FILENAME)] = ""
    page_count: Place | None = None
    sections: list[SectionLine] = []

    @field_serializer("sections")
    def _tree(self, sections: list[SectionLine]) -> list[dict[str, Any]]:
        return [section.wire() for section in sections]

    def stored_metadata(self) -> dict[str, Any]:
        """Return the metadata as it is kept with the document, from which `stored` makes the line again."""
        if self.created_at is None:
            return self.metadata
        return {**self.metadata, _CREATED: self.created_at.isoformat()}

    @classmethod
    def stored(cls, metadata: Mapping[str, Any], **values: object) -> DocumentLine:
        """Return the line of a stored document; `values` are its other fields."""
        stored_metadata = dict(metadata)
        return cls.model_validate(
            {
                "created_at": stored_metadata.pop(_CREATED, None),
                "metadata": stored_metadata,
                **values,
            }
        )


def created_at(metadata: Mapping[str, Any]) -> datetime | None:
    """Return when a stored document was made, by its author's word (`DocumentLine.stored_metadata`)."""
    given = metadata.get(_CREATED)
    with suppress(ValueError):
        return _check_zone(datetime.fromisoformat(given)) if isinstance(given, str) else None
    return None


class MentionedEntity(_ImportLine):
    """An entity that a chunk names, where more than its name is known."""

    name: Name
    entity_type: Type = "TERM"
    description: Text = ""


# What a chunk's entity may be given as: its name, or an object. The value's type decides which faults are named.
_NAMED, _DESCRIBED = "named", "described"


def _describe_given(entity: object) -> str:
    return _DESCRIBED if isinstance(entity, Mapping | MentionedEntity) else _NAMED


def _three(triple: object) -> object:
    if not isinstance(triple, Sequence) or isinstance(triple, str | bytes) or len(triple) != 3:
        raise ValueError("must be a list of three texts, [subject, relation, object]")
    return triple


Triple = Annotated[tuple[Name, Type, Name], BeforeValidator(_three)]
MentionedAs = Annotated[
    Annotated[Name, Tag(_NAMED)] | Annotated[MentionedEntity, Tag(_DESCRIBED)],
    Discriminator(_describe_given),
]


class ChunkLine(_ImportLine):
    """A passage; one without `document_id` is a document of its own.

    `triples` are (subject, relation, object), by name. With `start`, its offset in the document's text,
    everything else about it counts as said too: `section` is the number of its section, from 0, and
    without one it lies in none; `context` is what is searched with it.
    """

    type: Literal["chunk"] = "chunk"
    id: Id
    document_id: Id | None = None
    title: Title = ""
    text: Annotated[Text, AfterValidator(_check_filled)]
    entities: list[MentionedAs] = []
    triples: list[Triple] = []
    start: Place | None = None
    section: Place | None = None
    page: Place | None = None
    modality: Modality | None = None
    context: Text = ""


class EntityLine(_ImportLine):
    """An entity by the user's own word; without `id` it is known by its name alone."""

    type: Literal["entity"] = "entity"
    id: Id | None = None
    name: Name
    entity_type: Type = "TERM"
    description: Text = ""
    aliases: list[Name] = []


class RelationLine(_ImportLine):
    """A relation of two entities, each given by its id or, failing that, its name.

    Each of `chunk_ids` states it with `weight`; without any, the user does.
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


class DecisionLine(_ImportLine):
    """The user's word that two entities, given as in a relation, are `same`, or are not.

    Of two that are, the target is what both are called.
    """

    type: Literal["decision"] = "decision"
    source: End
    target: End
    same: bool = True
    reason: Text = ""


Line = DocumentLine | ChunkLine | EntityLine | RelationLine | DecisionLine
# Of these lists, what cannot be used is left out by itself: the rest of the line says as much without it.
_LISTS = ("entities", "triples", "aliases")
# difflib's likeness of a key to the one that was meant, at least; `parent` is 0.6 like `page`.
_MISSPELT = 0.7
_SAID_WITHOUT_METADATA = ("chunk", "entity", "relation", "decision")
_LINES: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


def read_line(raw: bytes | Mapping[str, Any]) -> tuple[Line, list[Remark]]:
    """Return one line, and remarks on what was passed over in it.

    A triple whose ends are one entity is left out, and so are triples, entities and aliases that cannot be
    used; a key that is not known is too, with the known key that it resembles.

    Raises:
        LineInvalid: the line says nothing that can be used; why.
    """
    line, lost = _check_line(_object(raw))
    if isinstance(line, RelationLine | DecisionLine) and line.source == line.target:
        raise LineInvalid(f"The {line.type} joins {line.source!r:.80} to itself.")
    remarks = [*_unknown_keys(line)]
    if isinstance(line, DocumentLine):
        check_sections(line.sections, len(line.text) if line.text else None)
        for index, section in enumerate(line.sections):
            remarks += (f"sections[{index}]: {remark}" for remark in _unknown_keys(section))
        remarks += _overlaps(line.sections)
    if isinstance(line, ChunkLine):
        line, loops = _without_loops(line)
        remarks += [*loops, *_too_long(line.text)]
    return line, [*lost, *map(Remark, remarks)]


def _check_line(values: Mapping[str, Any]) -> tuple[Line, list[Remark]]:
    """Return the line without those items of its lists that cannot be used, and what is wrong with each."""
    try:
        return _LINES.validate_python(values), []
    except ValidationError as error:
        faults = error.errors(include_url=False)
    lost = dict[tuple[str, int], Remark]()
    for fault in faults:
        match fault["loc"]:
            case _, str(key), int(place), *_ if key in _LISTS:
                lost.setdefault((key, place), Remark(_reason(fault), kept=False))
            case _:
                raise LineInvalid(_reason(fault))
    left = {
        key: [one for index, one in enumerate(values[key]) if (key, index) not in lost]
        for key, _ in lost
    }
    return _LINES.validate_python({**values, **left}), list(lost.values())


def check_sections(sections: Sequence[SectionLine], length: int | None) -> None:
    """Check that sections end after their start and within a text of `length` (None: not known yet).

    Raises:
        LineInvalid: the first that does not, and the way out.
    """
    for index, section in enumerate(sections):
        if section.start > section.end:
            raise LineInvalid(
                f"sections[{index}].start: {section.start} lies behind its end, {section.end}. "
                "Give both as offsets into the document's text, the smaller one first."
            )
        if length is not None and section.end > length:
            raise LineInvalid(
                f"sections[{index}].end: {section.end} lies beyond the document's text, which has "
                f"{length} characters. Count characters, not bytes, and end at {length} at most."
            )


def _overlaps(sections: Sequence[SectionLine]) -> Iterator[str]:
    """Yield a remark on each section that begins inside the one before it on its level.

    No fault: passages that overlap, each with a title, are stored as such sections, and exported so.
    """
    before = dict[int, tuple[int, SectionLine]]()  # by level, inside what is above
    for index, section in enumerate(sections):
        before = {level: one for level, one in before.items() if level <= section.level}
        other, before_it = before.get(section.level, (0, None))
        before[section.level] = index, section
        if (
            before_it is not None
            and section.start < before_it.end
            and before_it.start < section.end
        ):
            yield (
                f"sections[{index}].start: {section.start} lies inside sections[{other}], which ends at "
                f"{before_it.end} and has the same level. Both are kept; if it is a part of that one, give "
                f"it level {section.level + 1}."
            )


def _object(raw: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(raw, Mapping):
        return raw
    if not isinstance(raw, bytes | bytearray | str):
        raise LineInvalid("Not a line: give a dict, or JSON as bytes or text.")
    try:
        found = _parse_json(raw)
    except json.JSONDecodeError as error:
        raise LineInvalid(f"Not JSON: {error.msg}, at character {error.pos + 1}.") from None
    except UnicodeDecodeError as error:
        raise LineInvalid(f"Not JSON: no text in UTF-8, at byte {error.start + 1}.") from None
    except RecursionError:
        raise LineInvalid(
            "Not JSON that can be read: lists or objects in each other too deep."
        ) from None
    except ValueError:  # the one that is left: Python's limit against slow conversions
        most = f"{sys.get_int_max_str_digits():,}"
        raise LineInvalid(
            f"Not JSON that can be read: a number of more than {most} digits."
        ) from None
    if not isinstance(found, dict):
        raise LineInvalid("Not a JSON object.")
    return found


def _parse_json(raw: bytes) -> object:
    """Return what Python's own reader finds, in a seventh of its time for most lines."""
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:  # NaN, a byte order mark, another encoding: it may know better
        return json.loads(raw.rstrip(b"\r\n"))
    # Metadata may hold integers beyond 64 bits, which became floats.
    is_known = isinstance(found, dict) and found.get("type") in _SAID_WITHOUT_METADATA
    return found if is_known else json.loads(raw)


def _reason(fault: Mapping[str, Any]) -> str:
    """Return a fault as a sentence, with the key it is in."""
    if fault["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return "type: must be document, chunk, entity, relation or decision."
    # The first place is the kind of line that was tried; an entity's is followed by what it was given as.
    field_name = field_at([step for step in fault["loc"][1:] if step not in (_NAMED, _DESCRIBED)])
    return f"{field_name}: {describe_error(fault)}." if field_name else f"{describe_error(fault)}."


def _unknown_keys(line: _ImportLine) -> Iterator[str]:
    if not line.model_extra:
        return
    known = [field.alias or name for name, field in type(line).model_fields.items()]
    for key in line.model_extra:
        near = difflib.get_close_matches(key, known, n=1, cutoff=_MISSPELT)
        hint = f"Did you mean {near[0]!r}?" if near else f"Keys: {', '.join(known)}."
        yield f"The key {key!r:.80} is not known and was passed over. {hint}"


def _too_long(text: str) -> Iterator[str]:
    """Yield a remark on a passage whose vector cannot stand for all of it."""
    # Most have fewer characters than that, and so fewer tokens.
    if len(text) > LONG_PASSAGE and estimate_tokens(text) > LONG_PASSAGE:
        yield (
            f"text: {len(text):,} characters are much for one passage: by meaning it is found by about its "
            f"first {LONG_PASSAGE:,} tokens only. Cut it into several chunks."
        )


def _without_loops(line: ChunkLine) -> tuple[ChunkLine, list[str]]:
    loops = [
        triple for triple in line.triples if normalise_name(triple[0]) == normalise_name(triple[2])
    ]
    if not loops:
        return line, []
    triples = [triple for triple in line.triples if triple not in loops]
    remarks = [f"The triple {list(loop)!r:.120} joins an entity to itself." for loop in loops]
    return line.model_copy(update={"triples": triples}), remarks
