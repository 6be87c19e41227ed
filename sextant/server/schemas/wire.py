"""The base of all JSON bodies, and fields that many of them share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError

from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import DEFAULT_GRAPH, LONGEST_NAME
from sextant.domain.warnings import CodedWarning, word_warnings


class Wire(BaseModel):
    """Base of all requests and responses: camelCase in JSON, snake_case here.

    Unknown fields of a request are refused with the nearest name, so that a misspelt filter never widens a search.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: object) -> object:
        known = {*cls.model_fields, *map(to_camel, cls.model_fields)}
        unknown = (
            [name for name in given if name not in known] if isinstance(given, Mapping) else []
        )
        if unknown:
            wrong = [
                InitErrorDetails(type=_unknown(str(name), cls), loc=(str(name),), input=None)
                for name in unknown
            ]
            raise ValidationError.from_exception_data(cls.__name__, wrong)
        return given

    @classmethod
    def from_domain(cls, *objects: object, **extra: object) -> Self:
        """Return the body for objects, by their attributes with the names of the fields or their aliases, and by `extra`."""
        values = {
            name: getattr(value, attribute)
            for value in objects
            for name, field in cls.model_fields.items()
            for attribute in (str(field.validation_alias), name)
            if hasattr(value, attribute)
        }
        return cls.model_validate(values | extra, from_attributes=True)


def _unknown(name: str, model: type[Wire]) -> PydanticCustomError:
    """Return the error for an unknown field: it suggests the nearest name, or lists all fields."""
    fields = {field.casefold(): field for field in map(to_camel, model.model_fields)}
    written = name.replace("_", "").casefold()
    near = difflib.get_close_matches(written, fields, n=1)
    if near:
        meant = fields[near[0]]
        way_out, chinese = f"Did you mean `{meant}`?", f"您是不是想写 `{meant}`？"
    else:
        way_out = f"Fields: {', '.join(fields.values())}."
        chinese = f"可用的字段：{'、'.join(fields.values())}。"
    return PydanticCustomError(
        "extra_forbidden",
        "There is no such field. {way_out}",
        {"way_out": way_out, "zh": f"没有这个字段。{chinese}"},
    )


def show_warnings(warnings: Iterable[CodedWarning], language: str) -> dict[str, Any]:
    """Return warnings as two fields of a body: sentences, and data."""
    given = tuple(warnings)
    return {"warnings": word_warnings(given, language), "coded_warnings": given}


class Problem(BaseModel):
    """An error as a problem document (RFC 9457); `code` is stable, `detail` is for a person."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    next_step: str | None = None
    field: str | None = None
    request_id: str | None = None
    retryable: bool = False

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True
    )


# `ChunkFilters.read` names the filter in its errors.
Filters = Annotated[ChunkFilters | None, BeforeValidator(ChunkFilters.read)]

GraphName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_NAME,
        description="The knowledge base.",
        examples=["rust"],
    ),
]


class OfGraph(Wire):
    """Query parameters of a route about one knowledge base."""

    graph_id: GraphName = DEFAULT_GRAPH


class OfAnyGraph(Wire):
    """Query parameters of a route about a document, whose id implies the knowledge base."""

    graph_id: GraphName | None = Field(
        None, description="Where the document must be; by default wherever it is."
    )


Cursor = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="`nextCursor` of the page before, with everything else as it was.",
    ),
]
