"""Requests and errors of the OpenAI-compatible API: their JSON, names of models, and chat messages as questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sextant.domain.answers import Effort
from sextant.domain.errors import NotFound, OptionInvalid, QuestionInvalid
from sextant.domain.retrieval import AUTO, Mode
from sextant.domain.scope import DEFAULT_GRAPH
from sextant.nodes.question.source_lists import without_list
from sextant.server.openapi import DESCRIPTIONS, Responses, code_of
from sextant.server.problems import openai_error
from sextant.server.schemas.wire import Filters
from sextant.text.characters import clean_text

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

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)


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

    model: str = Field(max_length=300)
    """`sextant`, `sextant-mix`, `sextant-mix:rust`."""
    messages: Annotated[tuple[ChatMessage, ...], BeforeValidator(_newest)] = Field(min_length=1)
    """The oldest first; of more than 1,000 the newest are read."""
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    tool_choice: Literal["auto", "none"] | None = None
    function_call: Literal["auto", "none"] | None = None
    response_format: ResponseFormat | None = None
    logprobs: Literal[False] | None = None
    graph_id: str | None = Field(None, min_length=1, max_length=200)
    """The knowledge base; ours, not OpenAI's."""
    top_k: int | None = Field(None, ge=1, le=50)
    """Passages to use; ours."""
    filters: Filters = None
    """Bounds on the search; ours."""
    list_sources: bool = True
    """List the sources below the answer's text; ours."""


_NAME = "sextant"
_EFFORTS: tuple[Effort, ...] = get_args(Effort)
_MODEL = re.compile(
    rf"{_NAME}(?:-(?P<mode>{'|'.join(Mode)}))?(?:-(?P<effort>{'|'.join(_EFFORTS)}))?"
)


class ModelNotFound(NotFound):
    """No model has this name; the code is that of OpenAI."""


def parse_model_name(model: str, graph_id: str | None) -> tuple[str, Effort, str]:
    """Return the mode, the effort and the knowledge base of a model's name.

    Args:
        model: `sextant`, then `-` and a mode if not `auto`, then `-` and an effort if not `medium`, then `:` and a
            knowledge base if not the default or the only one.
        graph_id: the knowledge base of the request, which takes precedence.

    Raises:
        ModelNotFound: the name has another form.
    """
    name, _, graph = model.partition(":")
    found = _MODEL.fullmatch(name)
    if found is None:
        raise ModelNotFound(
            f"There is no model {model!r:.100}.",
            next_step=f"Models: {', '.join(names())}; a knowledge base follows after a colon.",
            field="model",
        )
    effort: Effort = cast("Effort", found["effort"] or "medium")
    return found["mode"] or AUTO, effort, graph_id or graph or DEFAULT_GRAPH


def names() -> list[str]:
    """Return the models for the default knowledge base."""
    kinds = (*Mode, *(effort for effort in _EFFORTS if effort != "medium"))
    return [_NAME, *(f"{_NAME}-{kind}" for kind in kinds)]


def models_response(graphs: Iterable[str]) -> list[dict[str, Any]]:
    """Return the list of models: those of the default knowledge base, and one for each other one."""
    others = [f"{_NAME}:{graph}" for graph in graphs if graph != DEFAULT_GRAPH]
    return [model_response(name) for name in (*names(), *others)]


def model_response(name: str) -> dict[str, Any]:
    """Return the description of a model."""
    return {"id": name, "object": "model", "created": 0, "owned_by": _NAME}


# Images as data URIs (RFC 2397). Other URLs are not fetched, so no request makes this server call others.
_DATA_URI = re.compile(r"data:image/[a-z0-9.+-]{1,40};base64,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat: the last message is the question, the others are its history."""

    question: str
    history: list[dict[str, str]]
    images: list[dict[str, Any]]


def read_conversation(messages: Sequence[ChatMessage], most_turns: int) -> Conversation:
    """Return the question and the history of a chat.

    Instructions (`system`, `developer`) stay at the head of the history. Lists of sources below our own answers are
    removed; tool calls of other models and their results are left out.

    Args:
        messages: the oldest first.
        most_turns: turns that the workflow takes.

    Raises:
        QuestionInvalid: the last message is not the user's.
        OptionInvalid: an image is not a data URI.
    """
    *before, last = messages
    if last.role != "user":
        raise QuestionInvalid(
            "The last message is not the user's.",
            next_step="End `messages` with the question.",
            field="messages",
        )
    texts = [(message.role, _text(message)) for message in before]
    rules = "\n".join(text for role, text in texts if role in {"system", "developer"})
    turns = [_turn(role, text) for role, text in texts if role in {"user", "assistant"} and text]
    head = [_turn("system", rules)] if rules else []
    turns_left = max(most_turns - len(head), 0)
    recent = turns[-turns_left:] if turns_left else []
    urls = [part.image_url.url for part in last.content if part.image_url]
    for url in urls:
        if not _DATA_URI.match(url):
            raise OptionInvalid(
                "An image must be in the request itself.",
                next_step="Send it as `data:image/png;base64,…`; addresses are not fetched.",
                field="messages",
            )
    return Conversation(
        _text(last), head + recent, [{"type": "image", "img_path": url} for url in urls]
    )


def _turn(role: str, text: str) -> dict[str, str]:
    # 8,000 characters: more than the longest answer (`limits.answer_tokens`).
    said = without_list(text) if role == "assistant" else text
    return {"role": role, "content": said[:8000]}


def _text(message: ChatMessage) -> str:
    return clean_text("\n".join(part.text or "" for part in message.content))
