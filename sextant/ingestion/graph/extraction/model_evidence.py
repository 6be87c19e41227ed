"""What a chat model writes down of a passage, read tolerantly, and as evidence of the graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, cast
from uuid import UUID

from pydantic import BeforeValidator, Field, create_model

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.models.chat.structured import AtMost, Declared, ModelReply
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow, one_line
from sextant.stores.graph.ids import entity_id
from sextant.text.characters import normalise, normalise_name

LONGEST_NAME = 200  # characters; a longer "name" is a sentence
_LONGEST_TYPE = 80  # characters
_LONGEST_DESCRIPTION = 1000  # characters
_MOST = 60  # entities, and relations, of one passage
_UNTYPED = "TERM"


def _text(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


_Text = Annotated[str, BeforeValidator(_text)]
# What is longer is no name, so it is not cut to one.
_Name = Annotated[_Text, Declared(maxLength=LONGEST_NAME)]
_Type = Annotated[_Text, AtMost(_LONGEST_TYPE)]
_Description = Annotated[_Text, AtMost(_LONGEST_DESCRIPTION)]


class FoundEntity(ModelReply):
    """An entity as a model gives it; a bare string is a name."""

    name: _Name
    type: _Type = ""
    description: _Description = ""


class FoundRelation(ModelReply):
    """A relation between two names."""

    source: _Name
    target: _Name
    type: _Type = ""
    description: _Description = ""


def _entities(value: object) -> object:
    named = [{"name": item} if isinstance(item, str) else item for item in _items(value)]
    return [item for item in named if _has(item, "name")]


def _relations(value: object) -> object:
    return [item for item in map(_triple, _items(value)) if _has(item, "source", "target")]


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _has(item: object, *keys: str) -> bool:
    if isinstance(item, Mapping):
        return all(_text(item.get(key)) for key in keys)
    return isinstance(item, ModelReply)


def _triple(item: object) -> object:
    """Return a relation written as a list, [source, type, target]."""
    if isinstance(item, list) and len(item) == 3:
        return dict(zip(("source", "type", "target"), item, strict=True))
    return item


class ModelExtraction(ModelReply):
    """What a model found in a passage; items without a name are passed over."""

    entities: Annotated[list[FoundEntity], BeforeValidator(_entities), AtMost(_MOST)] = Field(
        default_factory=list[FoundEntity]
    )
    relations: Annotated[list[FoundRelation], BeforeValidator(_relations), AtMost(_MOST)] = Field(
        default_factory=list[FoundRelation]
    )

    def __add__(self, other: ModelExtraction) -> ModelExtraction:
        return ModelExtraction(
            entities=[*self.entities, *other.entities],
            relations=[*self.relations, *other.relations],
        )


@cache
def extraction_of(types: tuple[str, ...]) -> type[ModelExtraction]:
    """Return the form of an extraction in which the model is told of these types of entities alone."""
    if not types:
        return ModelExtraction
    one_of = Annotated[_Text, Declared(enum=list(types))]
    entity = create_model("FoundEntity", __base__=FoundEntity, type=(one_of, ""))
    several = Annotated[list[entity], BeforeValidator(_entities), AtMost(_MOST)]
    made = create_model("Extraction", __base__=ModelExtraction, entities=(several, []))
    return cast("type[ModelExtraction]", made)


def entity_types(setting: str) -> tuple[str, ...]:
    """Return the types of the setting, which separates them by commas."""
    return tuple(filter(None, map(one_line, re.split("[,，、]", setting))))


def model_evidence(
    scope: Scope, chunk_id: UUID, text: str, found: ModelExtraction, types: Sequence[str]
) -> GraphEvidence:
    """Return the evidence of one passage: each entity once, relations only between what is there.

    An end of a relation that is not among the entities counts when the passage has its name. The
    weight of a statement is 1: what models give as strength differs from call to call.
    """
    entities = _distinct([*found.entities, *_ends(found, text)])
    mentions = [
        _mention(scope, chunk_id, text, entity, _type(entity.type, types))
        for entity in entities.values()
    ]
    stated: dict[tuple[UUID, UUID, str], RelationRow] = {}
    for relation in found.relations:
        ends = [normalise_name(name) for name in (relation.source, relation.target)]
        if ends[0] == ends[1] or not all(end in entities for end in ends):
            continue
        source, target = (entity_id(scope, end) for end in ends)
        kind = relation_type(relation.type)
        row = RelationRow(source, target, kind, chunk_id, 1.0, relation.description)
        stated.setdefault((source, target, kind), row)
    return GraphEvidence(mentions, list(stated.values()))


def relation_type(name: str) -> str:
    """Return a relation's type in one form: "is part of" and "IS_PART_OF" are the same."""
    words = re.split(r"[\s_-]+", normalise(name).strip())
    return "_".join(filter(None, words)).upper()[:_LONGEST_TYPE] or "RELATED"


def _distinct(entities: Iterable[FoundEntity]) -> dict[str, FoundEntity]:
    """By normalised name; of several one with a type, then the one with most to say."""
    found: dict[str, FoundEntity] = {}
    for entity in entities:
        norm = normalise_name(entity.name)
        if not norm or len(entity.name) > LONGEST_NAME or not any(map(str.isalnum, norm)):
            continue
        before = found.get(norm)
        if before is None or _informativeness(entity) > _informativeness(before):
            found[norm] = entity
    return found


def _informativeness(entity: FoundEntity) -> tuple[bool, int]:
    return bool(entity.type), len(entity.description)


def _ends(found: ModelExtraction, text: str) -> list[FoundEntity]:
    named = {normalise_name(entity.name) for entity in found.entities}
    ends = [name for one in found.relations for name in (one.source, one.target)]
    return [
        FoundEntity(name=name)
        for name in ends
        if normalise_name(name) not in named and find_name(name, text) != (0, 0)
    ]


def _mention(scope: Scope, chunk_id: UUID, text: str, entity: FoundEntity, kind: str) -> MentionRow:
    start, end = find_name(entity.name, text)
    return MentionRow(
        entity_id(scope, entity.name),
        chunk_id,
        MentionKind.MODEL,
        entity.name,
        kind,
        entity.description,
        start=start,
        end=end,
    )


def _type(name: str, types: Sequence[str]) -> str:
    """Return the type as it is configured; what is not configured says nothing."""
    known = {normalise(one): one for one in types}
    return known.get(normalise(name), _UNTYPED)


def find_name(name: str, text: str) -> tuple[int, int]:
    """Return where a text first has a name, in any case and with any white space; (0, 0): nowhere."""
    words = [re.escape(word) for word in name.split()]
    match = re.search(r"\s+".join(words), text, re.IGNORECASE) if words else None
    return match.span() if match else (0, 0)
