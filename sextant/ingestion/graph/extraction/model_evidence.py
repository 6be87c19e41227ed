"""Read a chat model's extraction tolerantly, and convert it to evidence of the graph.

The model sees several passages at once. Its entities and relations become evidence of the passages that contain the
names. A name that no passage contains was made up, or comes from the prompt's example.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, cast
from uuid import UUID

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, create_model
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema

from sextant.domain.graph import UNTYPED, MentionKind
from sextant.domain.scope import Scope
from sextant.models.chat.replies import Number, index_replies, numbered_objects
from sextant.models.chat.structured import AtMost, Declared, ModelReply
from sextant.stores.graph.evidence import (
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
    one_line,
)
from sextant.text.characters import normalise, normalise_name
from sextant.text.sentences import sentence_spans

LONGEST_NAME = 200  # characters; a longer "name" is a sentence
_LONGEST_TYPE = 80  # characters
_LONGEST_DESCRIPTION = 500  # characters
_MOST = 60  # entities, and relations, of one passage
TOGETHER = 24  # passages in one call


def _text(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


_Text = Annotated[str, BeforeValidator(_text)]
# A longer text is no name, so it is not cut.
_Name = Annotated[_Text, Declared(maxLength=LONGEST_NAME)]
_Type = Annotated[_Text, AtMost(_LONGEST_TYPE)]
_Description = Annotated[_Text, AtMost(_LONGEST_DESCRIPTION)]


class FoundEntity(ModelReply):
    """An entity as a model writes it.

    The model is not asked for a description, which would cost more than all the rest; the sentence with the name
    describes the entity.
    """

    name: _Name
    type: _Type = ""
    description: SkipJsonSchema[_Description] = ""


class FoundRelation(ModelReply):
    """A relation between two names; the model is asked for [source, type, target]."""

    source: _Name
    target: _Name
    type: _Type = ""
    description: _Description = ""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _core: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        name = {"type": "string", "maxLength": LONGEST_NAME}
        return {"type": "array", "items": name, "minItems": 3, "maxItems": 3}


def _entities(value: object) -> object:
    return [item for item in map(_entity, _items(value)) if _has(item, "name")]


def _relations(value: object) -> object:
    return [item for item in map(_triple, _items(value)) if _has(item, "source", "target")]


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _has(item: object, *keys: str) -> bool:
    if isinstance(item, Mapping):
        return all(_text(item.get(key)) for key in keys)
    return isinstance(item, ModelReply)


def _entity(item: object) -> object:
    """Return an entity written as a name, or as a list, [name, type, description]."""
    if isinstance(item, list) and 0 < len(item) <= len(_ENTITY_KEYS):
        return dict(zip(_ENTITY_KEYS, item, strict=False))
    return {"name": item} if isinstance(item, str) else item


_ENTITY_KEYS = ("name", "type", "description")


def _triple(item: object) -> object:
    """Return a relation written as a list, [source, type, target]."""
    if isinstance(item, list) and len(item) == 3:
        return dict(zip(("source", "type", "target"), item, strict=True))
    return item


class ModelExtraction(ModelReply):
    """The extraction of a passage; items without a name are skipped."""

    passage: Number = None
    entities: Annotated[list[FoundEntity], BeforeValidator(_entities), AtMost(_MOST)] = Field(
        default_factory=list[FoundEntity]
    )
    relations: Annotated[list[FoundRelation], BeforeValidator(_relations), AtMost(_MOST)] = Field(
        default_factory=list[FoundRelation]
    )

    def __add__(self, other: ModelExtraction) -> ModelExtraction:
        return ModelExtraction(
            passage=self.passage,
            entities=[*self.entities, *other.entities],
            relations=[*self.relations, *other.relations],
        )


class ModelExtractions(ModelReply):
    """The extractions of several passages; of the passage in which the answer was cut off, the complete items."""

    keeps_cut_entry: ClassVar[bool] = True

    passages: Annotated[list[ModelExtraction], BeforeValidator(numbered_objects), AtMost(TOGETHER)]


@cache
def extraction_of(types: tuple[str, ...], most: int = _MOST) -> type[ModelExtraction]:
    """Return the schema of a passage's extraction with these types of entities.

    It asks for at most `most` entities and relations; further ones are read, too.
    """
    if not types:
        return ModelExtraction
    one_of = Annotated[_Text, Declared(enum=list(types))]
    entity = create_model("FoundEntity", __base__=FoundEntity, type=(one_of, ""))
    declared = Declared(maxItems=most)
    entities = Annotated[list[entity], BeforeValidator(_entities), AtMost(_MOST), declared]
    relations = Annotated[list[FoundRelation], BeforeValidator(_relations), AtMost(_MOST), declared]
    made = create_model(
        "Extraction", __base__=ModelExtraction, entities=(entities, []), relations=(relations, [])
    )
    return cast("type[ModelExtraction]", made)


@cache
def extractions_of(
    types: tuple[str, ...], count: int = TOGETHER, most: int = _MOST
) -> type[ModelExtractions]:
    """Return the schema of the extractions of `count` passages, all of which are required."""
    one = create_model("PassageExtraction", __base__=extraction_of(types, most))
    each = Declared(minItems=count, maxItems=count)
    several = Annotated[list[one], BeforeValidator(numbered_objects), AtMost(TOGETHER), each]
    made = create_model("Extractions", __base__=ModelExtractions, passages=(several, ...))
    return cast("type[ModelExtractions]", made)


def entity_types(setting: str) -> tuple[str, ...]:
    """Return the types of the setting, a list with commas."""
    return tuple(filter(None, map(one_line, re.split("[,，、]", setting))))


class ReadPassage(NamedTuple):
    """A passage in a prompt; `heading` has the titles above its text."""

    id: UUID
    text: str
    heading: str = ""


def assign_extractions(
    found: ModelExtractions, count: int, *, is_cut: bool = False
) -> dict[int, ModelExtraction]:
    """Return the extractions by the index of the passage; passages that the answer leaves out are absent.

    Args:
        found: the answer; a single extraction without a number belongs to all passages.
        count: the number of passages in the prompt.
        is_cut: the answer was cut off, so its last extraction is incomplete. It counts all the same if it is the
            only one, since asking again would not help.
    """
    replies = found.passages
    if len(replies) == 1 and replies[0].passage is None:
        return dict.fromkeys(range(count), replies[0])
    by_number = index_replies(replies, count)
    if is_cut and len(by_number) > 1:
        by_number = {at: one for at, one in by_number.items() if one is not replies[-1]}
    return {at - 1: one for at, one in by_number.items() if 0 < at <= count}


def model_evidence(
    scope: Scope,
    passages: Sequence[ReadPassage],
    found: Mapping[int, ModelExtraction],
    types: Sequence[str],
) -> GraphEvidence:
    """Return the evidence of passages of one call.

    - An entity is mentioned by every passage that contains its name, and by the passage of its extraction if this
      contains all its words, also in its titles.
    - A relation is stated by the passage of its extraction if this contains an end, else by the first passage with
      both ends. If several passages were shown as one, it is the one with both ends, else the later one.
    - The weight of a statement is 1, since the weights of models differ from call to call.

    Args:
        scope: the knowledge base.
        passages: of the call.
        found: the extractions by the index of the passage.
        types: the types of the setting.
    """
    named = _Names(passages, found)
    evidence = [_passage_evidence(scope, index, named, types) for index in found]
    return GraphEvidence(
        [row for mentions, _ in evidence for row in mentions],
        [row for _, relations in evidence for row in relations],
    )


class _Names:
    """The entities of a call by normalised name, and their occurrences in its passages."""

    def __init__(
        self, passages: Sequence[ReadPassage], found: Mapping[int, ModelExtraction]
    ) -> None:
        self.passages = passages
        self.found = found
        self._spans: dict[tuple[str, int], tuple[int, int] | None] = {}
        self.entities = _distinct(entity for one in found.values() for entity in one.entities)
        ends = [name for one in found.values() for pair in one.relations for name in _ends_of(pair)]
        self.entities |= {
            norm: entity
            for norm, entity in _distinct(FoundEntity(name=name) for name in ends).items()
            if norm not in self.entities
            and any(find_name(entity.name, passages[index].text) != (0, 0) for index in found)
        }

    def span(self, norm: str, index: int) -> tuple[int, int] | None:
        """Return the span of an entity's name in a passage, if any."""
        if (norm, index) not in self._spans:
            span = find_name(self.entities[norm].name, self.passages[index].text)
            self._spans[norm, index] = span if span != (0, 0) else None
        return self._spans[norm, index]

    def mentions_in(self, index: int) -> Iterator[tuple[FoundEntity, tuple[int, int]]]:
        """Yield the entities of a passage with the span of the name; (0, 0): in its titles, or words in another order."""
        own_names = {normalise_name(entity.name) for entity in self.found[index].entities}
        whole = f"{self.passages[index].heading}\n{self.passages[index].text}"
        for norm, entity in self.entities.items():
            if span := self.span(norm, index):
                text = self.passages[index].text
                description = entity.description or _sentence_with([span], text)
                yield _describe(entity, description if norm in own_names else ""), span
            elif norm in own_names and _has_words(entity.name, whole):
                yield entity, (0, 0)

    def relations_in(self, index: int) -> Iterator[FoundRelation]:
        """Yield the relations that a passage states."""
        for at, one in self.found.items():
            for relation in one.relations:
                ends = [normalise_name(name) for name in _ends_of(relation)]
                is_known = ends[0] != ends[1] and all(end in self.entities for end in ends)
                is_numbered = one.passage is not None
                if is_known and self._find_passage(ends, at, is_numbered=is_numbered) == index:
                    yield relation

    def _find_passage(self, ends: Sequence[str], at: int, *, is_numbered: bool) -> int | None:
        """Return the index of the passage that states a relation, if any."""
        mine = {index for index, one in self.found.items() if one is self.found[at]}
        having = [{index for index in self.found if self.span(end, index)} for end in ends]
        both = sorted(set.intersection(*having))
        if (own := mine.intersection(both)) or not (is_numbered or len(self.passages) == 1):
            return min(own or both, default=None)
        # A pronoun for the other end refers to an earlier passage, so the later one states the relation.
        first = [min(have & mine) for have in having if have & mine]
        return max(first or both[:1], default=None)


def _passage_evidence(
    scope: Scope, index: int, named: _Names, types: Sequence[str]
) -> tuple[list[MentionRow], list[RelationRow]]:
    passage = named.passages[index]
    mentions = {
        normalise_name(entity.name): _mention(scope, passage.id, entity, span, types)
        for entity, span in named.mentions_in(index)
    }
    stated: dict[tuple[UUID, UUID, str], RelationRow] = {}
    for relation in named.relations_in(index):
        ends = [normalise_name(name) for name in _ends_of(relation)]
        for end in ends:  # also an end that a pronoun stands for
            entity = named.entities[end]
            mentions.setdefault(
                end, _mention(scope, passage.id, _describe(entity, ""), (0, 0), types)
            )
        source, target = (entity_id(scope, end) for end in ends)
        kind = relation_type(relation.type)
        description = relation.description or _sentence_with(
            [named.span(end, index) for end in ends], passage.text
        )
        row = RelationRow(source, target, kind, passage.id, 1.0, description)
        stated.setdefault((source, target, kind), row)
    return list(mentions.values()), list(stated.values())


def _describe(entity: FoundEntity, description: str) -> FoundEntity:
    """Return an entity with the description by one passage."""
    return FoundEntity(name=entity.name, type=entity.type, description=description)


def _sentence_with(spans: Sequence[tuple[int, int] | None], text: str) -> str:
    """Return the sentence of a passage that contains all spans; "" if there is none."""
    found_spans = [span for span in spans if span is not None]
    if len(found_spans) < len(spans):
        return ""
    for start, end in sentence_spans(text):
        if all(start <= span[0] and span[1] <= end for span in found_spans):
            return one_line(text[start:end])[:_LONGEST_DESCRIPTION]
    return ""


def _ends_of(relation: FoundRelation) -> tuple[str, str]:
    return relation.source, relation.target


def relation_type(name: str) -> str:
    """Return a relation's type in upper case: IS_PART_OF for "is part of"."""
    words = re.split(r"[\s_-]+", normalise(name).strip())
    return "_".join(filter(None, words)).upper()[:_LONGEST_TYPE] or "RELATED"


def _distinct(entities: Iterable[FoundEntity]) -> dict[str, FoundEntity]:
    """Return entities by normalised name, of several the one with a type and the longest description."""
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


def _mention(
    scope: Scope,
    chunk_id: UUID,
    entity: FoundEntity,
    span: tuple[int, int],
    types: Sequence[str],
) -> MentionRow:
    start, end = span
    return MentionRow(
        entity_id(scope, entity.name),
        chunk_id,
        MentionKind.MODEL,
        entity.name,
        _type(entity.type, types),
        entity.description,
        start=start,
        end=end,
    )


def _type(name: str, types: Sequence[str]) -> str:
    """Return the type as the setting spells it; TERM for others."""
    known = {normalise(one): one for one in types}
    return known.get(normalise(name), UNTYPED)


def find_name(name: str, text: str) -> tuple[int, int]:
    """Return the first span of a name in a text, in any case and with any white space; (0, 0) if there is none.

    A Latin word matches as a whole, or in the plural.
    """
    words = [re.escape(word) for word in name.split()]
    if not words:
        return 0, 0
    before = _NO_LETTER_BEFORE if _LATIN.match(name.strip()) else ""
    after = _NO_LETTER_AFTER if _LATIN.match(name.strip()[-1]) else ""
    spaced = r"\s+".join(words)
    match = re.search(f"{before}({spaced}){after}", text, re.IGNORECASE)
    return match.span(1) if match else (0, 0)


_LATIN = re.compile(r"[a-z0-9]", re.IGNORECASE)
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = r"(?<![a-zA-Z0-9])", r"(?:e?s)?(?![a-zA-Z0-9])"


def _has_words(name: str, text: str) -> bool:
    """Return whether a text contains all words of a name in any order, both normalised."""
    plain = normalise(text)
    return all(find_name(word, plain) != (0, 0) for word in normalise(name).split())
