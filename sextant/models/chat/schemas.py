"""What a chat model is told of the object that it shall answer with: a schema made for it.

Pydantic's own schema is one for developers: docstrings, titles and defaults in it come back from small models
as content, and what has a default is left out. The model gets types and bounds, nothing else, and every field
is required. What it writes is read tolerantly all the same: bounds cut off, and never refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

# The keywords that bound what may be written, of those that endpoints know.
_BOUNDS = ("enum", "minimum", "maximum", "maxLength", "minItems", "maxItems")


class ModelReply(BaseModel):
    """An object that a chat model is asked for; its fields are bounded (`AtMost`, `Declared`, enums).

    A field that the model need not be told of is a `SkipJsonSchema`.
    """


@dataclass(frozen=True, slots=True)
class AtMost:
    """A list or text of at most `most` entries or characters; what is longer is cut off."""

    most: int

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._cut, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        told = handler(schema)
        return told | {"maxLength" if told.get("type") == "string" else "maxItems": self.most}

    def _cut(self, value: Any) -> Any:  # noqa: ANN401 - whatever can be sliced
        return value[: self.most]


class Declared:
    """Bounds that the model is told of and that reading leaves to whoever uses the value."""

    def __init__(self, **bounds: object) -> None:
        self._bounds = bounds

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(schema) | self._bounds


@cache
def json_schema(reply: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of `reply` for a chat model, made once: each making takes 2 ms."""
    whole = reply.model_json_schema()
    return _describe_field(whole, whole.get("$defs", {}))


def _describe_field(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a schema's node the model is told, references put in their places."""
    if reference := node.get("$ref"):
        return _describe_field(definitions[str(reference).rpartition("/")[2]], definitions)
    told: dict[str, Any] = {}
    if options := [one for one in node.get("anyOf", ()) if one.get("type") != "null"]:
        # None stands for what was not said; the model is to say it.
        inner = [_describe_field(one, definitions) for one in options]
        told = inner[0] if len(inner) == 1 else {"anyOf": inner}
    told |= {key: node[key] for key in ("type", *_BOUNDS) if key in node}
    if "const" in node:
        told["enum"] = [node["const"]]
    if "items" in node:
        told["items"] = _describe_field(node["items"], definitions)
    if node.get("type") == "object":
        fields = {
            key: _describe_field(one, definitions)
            for key, one in node.get("properties", {}).items()
        }
        told |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    return told


def enumerated(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return all words that a schema lets a model choose from."""
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += [schema["items"]] if "items" in schema else []
    chosen = frozenset(map(str, schema.get("enum", ())))
    return chosen.union(*map(enumerated, inner))
