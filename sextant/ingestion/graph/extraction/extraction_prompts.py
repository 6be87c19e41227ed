"""Build the prompts that ask a chat model for entities and relations, and read its answers tolerantly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import count, takewhile
from typing import Annotated, Any, ClassVar, cast

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, create_model
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema

from sextant.domain.answers import Usage
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.cost import estimate_call, most_found
from sextant.models.chat.replies import Number, index_replies, numbered_objects
from sextant.models.chat.structured import AtMost, Declared, ModelReply, instruction
from sextant.prompts import EXTRACT, GLEAN, Messages, as_data, number_texts
from sextant.stores.graph.evidence import one_line
from sextant.stores.graph.extraction import PendingChunk
from sextant.text.characters import estimate_tokens, language_of, normalise

LONGEST_NAME = 200  # characters; a longer "name" is a sentence
_LONGEST_TYPE = 80  # characters
LONGEST_DESCRIPTION = 500  # characters
_MOST = 60  # entities, and relations, of one passage
TOGETHER = 24  # passages in one call


def _text(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


_Text = Annotated[str, BeforeValidator(_text)]
# A longer text is no name, so it is not cut.
_Name = Annotated[_Text, Declared(maxLength=LONGEST_NAME)]
_Type = Annotated[_Text, AtMost(_LONGEST_TYPE)]
_Description = Annotated[_Text, AtMost(LONGEST_DESCRIPTION)]


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


def relation_type(name: str) -> str:
    """Return a relation's type in upper case: IS_PART_OF for "is part of"."""
    words = re.split(r"[\s_-]+", normalise(name).strip())
    return "_".join(filter(None, words)).upper()[:_LONGEST_TYPE] or "RELATED"


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


# Tokens of small neighbours that are shown as one, since each numbered passage adds to the answer.
_JOINED_TOKENS = 200

Shown = Sequence[PendingChunk]
"""A numbered passage of a prompt: one passage, or small neighbours."""


def join_small(passages: Sequence[PendingChunk]) -> list[Shown]:
    """Group small neighbours, which a prompt shows as one passage."""
    shown, size = list[list[PendingChunk]](), 0
    for passage in passages:
        size += (tokens := estimate_tokens(passage.text))
        if shown and size <= _JOINED_TOKENS:
            shown[-1].append(passage)
        else:
            shown.append([passage])
            size = tokens
    return [*shown]


def spread_found(
    found: Mapping[int, ModelExtraction], shown: Sequence[Shown]
) -> dict[int, ModelExtraction]:
    """Return the extractions by the index of the passage; passages shown as one share theirs."""
    indexes, spread = count(), dict[int, ModelExtraction]()
    for at, passages in enumerate(shown):
        mine = [index for _, index in zip(passages, indexes, strict=False)]
        if (one := found.get(at)) is not None:
            spread |= dict.fromkeys(mine, one)
    return spread


def estimate_extraction_call(shown: Sequence[Shown], prompt: Messages, settings: Settings) -> Usage:
    """Estimate the tokens of a call with this prompt."""
    sent = "\n".join(
        [*(text for _, text in prompt), instruction(ModelExtractions, with_schema=False)]
    )
    return estimate_call(sent, [text_of(one) for one in shown], settings)


def text_of(shown: Shown) -> str:
    """Return the text of a numbered passage, without titles."""
    return "\n".join(passage.text for passage in shown)


def extraction_prompt(shown: Sequence[Shown], types: Sequence[str]) -> Messages:
    """Return the messages that ask for the entities and relations of passages."""
    tokens = sum(estimate_tokens(text_of(one)) for one in shown)
    values = _values(shown, types) | {"most": str(most_found(tokens))}
    for example in ("person", "organization"):
        # The prompt's example uses these types, if the setting has them.
        values[example] = next((one for one in types if one.casefold() == example), "…")
    return EXTRACT.messages(_language(shown), **values)


def gleaning_prompt(
    shown: Sequence[Shown], types: Sequence[str], found: Iterable[ModelExtraction]
) -> Messages:
    """Return the messages that ask for what the extractions lack."""
    names = "\n".join(f"[{number}] {_items_of(one)}" for number, one in enumerate(found, 1))
    values = _values(shown, types) | {"found": names}
    return GLEAN.messages(_language(shown), **values)


def _items_of(found: ModelExtraction) -> str:
    entities = [[one.name, one.type] for one in found.entities]
    relations = [[one.source, one.type, one.target] for one in found.relations]
    return as_data(json.dumps([*entities, *relations], ensure_ascii=False))


def _language(shown: Sequence[Shown]) -> str:
    return language_of("\n".join(map(text_of, shown)))


def _values(shown: Sequence[Shown], types: Sequence[str]) -> dict[str, str]:
    """Return the values of a prompt: the passages, each with the titles that have changed."""
    document = shown[0][0].document_title
    texts = list[str]()
    before: tuple[str, ...] = (document,)
    for one in shown:
        lines = list[str]()
        for passage in one:
            path = passage.section_path
            lines += [*_new_title(path, before), passage.text]
            before = path
        texts.append("\n".join(lines))
    return {
        "types": ", ".join(types),
        "title": as_data(document),
        "passages": number_texts(texts),
    }


def _new_title(path: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return the titles of a path that differ from the path before, if any."""
    if path == before or not path:
        return []
    pairs = zip(path[:-1], before, strict=False)
    known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return [" > ".join(path[known:])]
