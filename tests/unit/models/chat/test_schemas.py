"""What chat models are told of the objects that they are asked for: every one in the code."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import pytest
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from sextant import prompts
from sextant.ingestion.description_prompts import ChunkReplies, SectionReplies
from sextant.ingestion.graph.extraction.extraction_prompts import (
    ModelExtractions,
    extraction_of,
    extractions_of,
)
from sextant.models.chat.replies import Number, Sentence, Words
from sextant.models.chat.structured import (
    AtMost,
    Declared,
    ModelReply,
    collect_enums,
    instruction,
    json_schema,
    read_structured,
)
from sextant.nodes.analyze import Analysis
from sextant.nodes.answers.report_answers import Points
from sextant.nodes.answers.revision import Repairs
from sextant.nodes.grade import Grades
from sextant.nodes.table_query import TableRequest
from sextant.retrievers.ranking.reranking import marks_of

PRODUCT = ("nodes", "ingestion", "retrievers", "models", "evals")
KEYWORDS = {
    "type", "enum", "minimum", "maximum", "maxLength", "minItems", "maxItems",
    "items", "properties", "required", "additionalProperties",
}  # fmt: skip


def all_modules() -> Iterator[str]:
    for package in PRODUCT:
        found = pkgutil.walk_packages(
            import_module(f"sextant.{package}").__path__, f"sextant.{package}."
        )
        yield from (module.name for module in found)


def replies(base: type[ModelReply] = ModelReply) -> Iterator[type[ModelReply]]:
    for one in base.__subclasses__():
        if one.__module__.split(".")[1] in PRODUCT:
            yield one
        yield from replies(one)


def every_reply() -> list[type[ModelReply]]:
    for module in all_modules():
        import_module(module)
    made = [extractions_of(("PERSON", "DRUG")), marks_of(8)]
    return [*dict.fromkeys([*replies(), *made])]


def nodes_of(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for inner in [*schema.get("properties", {}).values(), schema.get("items")]:
        if inner is not None:
            yield from nodes_of(inner)


@pytest.mark.parametrize("reply", every_reply(), ids=lambda reply: reply.__name__)
def test_a_model_is_told_types_and_bounds_and_nothing_else(reply: type[ModelReply]) -> None:
    for node in nodes_of(json_schema(reply)):
        assert node.keys() <= KEYWORDS
        match node["type"]:
            case "object":
                assert node["required"] == list(node["properties"])
                assert node["additionalProperties"] is False
            case "array":
                assert 0 < node["maxItems"] <= 100
            case "string":
                assert node.get("enum") or 0 < node["maxLength"] <= 2000
            case "integer" | "number":
                assert node["minimum"] <= node["maximum"]
            case kind:
                assert kind == "boolean"


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (prompts.ANALYZE, Analysis),
        (prompts.GRADE, Grades),
        (prompts.REPAIR, Repairs),
        (prompts.POINTS, Points),
        (prompts.EXTRACT, ModelExtractions),
        (prompts.GLEAN, ModelExtractions),
        (prompts.DESCRIBE, ChunkReplies),
        (prompts.DESCRIBE_SECTIONS, SectionReplies),
        (prompts.RERANK, marks_of(3)),
        (prompts.TABLE_QUERY, TableRequest),
    ],
    ids=lambda value: getattr(value, "name", getattr(value, "__name__", "")),
)
def test_the_schema_has_the_keys_that_the_prompt_asks_for(
    prompt: prompts.Prompt, reply: type[ModelReply]
) -> None:
    keys = {key for node in nodes_of(json_schema(reply)) for key in node.get("properties", {})}
    for wording in prompt.wordings.values():
        text = wording.system.template + wording.user.template
        assert all(f'"{key}"' in text for key in keys)


class Inner(ModelReply):
    """Developers read this."""

    name: Annotated[Sentence, AtMost(4)] = Field("", title="Title", description="A name.")
    number: Number = None


class Outer(ModelReply):
    items: Annotated[list[Inner], AtMost(2)]
    words: Annotated[Words, AtMost(3)] = Field(default_factory=list[str])
    mark: Annotated[float, Declared(minimum=0, maximum=10)] = 5
    other: SkipJsonSchema[Sentence] = ""


def test_a_schema_is_made_of_the_fields_and_their_bounds() -> None:
    item = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 4},
            "number": {"type": "integer", "minimum": 0, "maximum": 999},
        },
        "required": ["name", "number"],
        "additionalProperties": False,
    }
    assert json_schema(Outer) == {
        "type": "object",
        "properties": {
            "items": {"type": "array", "maxItems": 2, "items": item},
            "words": {
                "type": "array",
                "maxItems": 3,
                "items": {"type": "string", "maxLength": 300},
            },
            "mark": {"type": "number", "minimum": 0, "maximum": 10},
        },
        "required": ["items", "words", "mark"],
        "additionalProperties": False,
    }


def test_what_is_beyond_a_bound_is_cut_off_and_refuses_nothing() -> None:
    said = {"items": [{"name": "abcdef", "number": "[2]"}] * 5, "words": "a, b, c, d", "mark": 95}
    read = read_structured(json.dumps(said), Outer)
    assert [(one.name, one.number) for one in read.items] == [("abcd", 2)] * 2
    assert read.words == ["a", "b", "c"]
    assert read.mark == 95


def test_a_model_that_is_told_of_types_may_still_write_others() -> None:
    schema = extraction_of(("PERSON", "DRUG"))
    assert collect_enums(json_schema(schema)) == {"PERSON", "DRUG"}
    assert collect_enums(json_schema(extractions_of(("PERSON", "DRUG")))) == {"PERSON", "DRUG"}
    said = '{"entities": [{"name": "肝素", "type": "MEDICINE"}], "relations": []}'
    assert read_structured(said, schema).entities[0].type == "MEDICINE"


def test_the_instruction_is_in_the_prompts_language_and_states_the_schema_only_where_asked() -> (
    None
):
    assert "JSON schema" in instruction(Outer)
    assert "只回复一个 JSON 对象" in instruction(Outer, "zh")
    assert '"items"' not in instruction(Outer, "zh", with_schema=False)
