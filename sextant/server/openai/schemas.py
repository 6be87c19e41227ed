"""JSON of the OpenAI-compatible API: requests and errors; answers have the shape that OpenAI describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sextant.domain.answers import Effort, Trust
from sextant.domain.warnings import CodedWarning
from sextant.server.openapi import DESCRIPTIONS, Responses, code_of
from sextant.server.problems import openai_error
from sextant.server.schemas.wire import Filters

_TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": _TEXT_OR_NULL,
                "code": _TEXT_OR_NULL,
            },
        }
    },
}


def errors(*statuses: int) -> Responses:
    """Return `responses=` for the errors of a route under `/v1/` that not every route has."""
    return {status: describe_failure(status) for status in statuses}


def describe_failure(status: int) -> dict[str, Any]:
    """Return the description of an error for the OpenAPI document."""
    example = openai_error(code_of(status), DESCRIPTIONS[status], status)
    return {
        "description": DESCRIPTIONS[status],
        "content": {"application/json": {"schema": SCHEMA, "example": example}},
    }


# Messages that are read of a chat, many more than `limits.history_turns`.
_MOST_MESSAGES = 1000
_INSTRUCTIONS = frozenset({"system", "developer"})


def _newest(messages: Any) -> Any:  # noqa: ANN401 - whatever was sent
    """Return the newest messages of a long chat, and up to as many instructions before them."""
    if not isinstance(messages, list) or len(messages) <= _MOST_MESSAGES:
        return messages
    sent = cast("list[object]", messages)
    before = [
        one
        for one in sent[:-_MOST_MESSAGES]
        if isinstance(one, Mapping) and one.get("role") in _INSTRUCTIONS
    ]
    return before[:_MOST_MESSAGES] + sent[-_MOST_MESSAGES:]


class _Theirs(BaseModel):
    """Base of OpenAI's requests; unknown fields are ignored, since its clients send ever more of them."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ImageUrl(_Theirs):
    """An image as a data URI."""

    url: str


class MessagePart(_Theirs):
    """A part of a message: `text`, or `image_url`."""

    type: Literal["text", "image_url"]
    text: str | None = None
    image_url: ImageUrl | None = None


def _parts(content: Any) -> Any:  # noqa: ANN401 - whatever was sent
    """Return content that is a text as one part, so that errors do not list two forms."""
    if content is None:
        return ()
    return ({"type": "text", "text": content},) if isinstance(content, str) else content


class ChatMessage(_Theirs):
    """One message of the chat."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[
        tuple[MessagePart, ...],
        BeforeValidator(_parts, json_schema_input_type=str | tuple[MessagePart, ...] | None),
    ] = ()


class StreamOptions(_Theirs):
    """Options of a stream."""

    include_usage: bool | None = False


class ResponseFormat(_Theirs):
    """The format of the answer: text only."""

    type: Literal["text"]


class ChatRequest(_Theirs):
    """A chat whose last message is a question.

    Sampling parameters and optional tools are ignored; a required tool call is refused.
    """

    model: str = Field(max_length=300, description="`sextant`, `sextant-mix`, `sextant-mix:rust`.")
    messages: Annotated[tuple[ChatMessage, ...], BeforeValidator(_newest)] = Field(
        min_length=1, description="The oldest first; of more than 1,000 the newest are read."
    )
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    tool_choice: Literal["auto", "none"] | None = None
    function_call: Literal["auto", "none"] | None = None
    response_format: ResponseFormat | None = None
    logprobs: Literal[False] | None = None
    graph_id: str | None = Field(
        None, min_length=1, max_length=200, description="The knowledge base; ours, not OpenAI's."
    )
    top_k: int | None = Field(None, ge=1, le=50, description="Passages to use; ours.")
    filters: Filters = Field(None, description="Bounds on the search; ours.")
    list_sources: bool = Field(
        default=True, description="List the sources below the answer's text; ours."
    )


class About(BaseModel):
    """Fields of an answer that OpenAI's API does not have."""

    mode: str
    effort: Effort
    attempts: int
    trust: Trust
    grounded: bool
    declined: bool
    not_found: tuple[str, ...]
    warnings: tuple[str, ...]
    coded_warnings: tuple[CodedWarning, ...]
    timings: dict[str, float]
