"""Answers as OpenAI's chat completions, whole and streamed, and chat messages as questions."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

import orjson

from sextant.domain.answers import Answer, Cited, Done, Effort, Event, Failed, Reset, Token
from sextant.domain.errors import NotFound, OptionInvalid, QuestionInvalid, error_of
from sextant.domain.retrieval import AUTO, Mode
from sextant.domain.scope import DEFAULT_GRAPH
from sextant.nodes.citing.cited_text import UNVERIFIED
from sextant.nodes.citing.verdicts import SUPPORTED
from sextant.nodes.question.source_lists import sources_list, without_list
from sextant.server.openai.schemas import About, ChatMessage
from sextant.server.problems import openai_error
from sextant.server.schemas.answers import on_wire
from sextant.text.characters import clean_text

_END = b"data: [DONE]\n\n"
_CHUNK = "chat.completion.chunk"


@dataclass(frozen=True, slots=True)
class CompletionWriter:
    """Writes one answer as a completion.

    Attributes:
        model: the model of the request.
        list_sources: whether the text ends with the list of sources.
        include_usage: whether the stream ends with the token usage.
    """

    model: str
    list_sources: bool = True
    include_usage: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, answer: Answer) -> dict[str, Any]:
        """Return the answer in one piece."""
        message = {
            "role": "assistant",
            "content": answer.answer + self._sources_below(answer),
            "refusal": None,
        }
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": _finish(answer),
            "logprobs": None,
        }
        about = {"usage": _usage(answer), **_ours(answer)}
        return self._envelope("chat.completion") | {"choices": [choice]} | about

    def encoder(self) -> _Chunks:
        """Return the encoder of the stream."""
        return _Chunks(self)

    def chunk(
        self, delta: Mapping[str, Any], finish: str | None = None, **more: object
    ) -> dict[str, Any]:
        """Return one chunk of the stream."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return self._envelope(_CHUNK) | {"choices": [choice]} | more

    def end(self, answer: Answer) -> bytes:
        """Return the end of the stream: the list of sources, the citations, the usage."""
        below = self._sources_below(answer)
        chunks = [self.chunk({"content": below})] if below else []
        chunks.append(self.chunk({}, _finish(answer), **_ours(answer)))
        if self.include_usage:
            counted = {"choices": [], "usage": _usage(answer)}
            chunks.append(self._envelope(_CHUNK) | counted)
        return b"".join(map(_data, chunks)) + _END

    def _sources_below(self, answer: Answer) -> str:
        return sources_list(answer.sources, answer.answer) if self.list_sources else ""

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


class _Chunks:
    """Encodes events as chunks (`sextant.server.runs.Encode`).

    A client cannot withdraw text. So text is sent once a citation supports it and no earlier text is in doubt; the rest
    is sent when the answer is final.
    """

    def __init__(self, completion: CompletionWriter) -> None:
        self._completion = completion
        self._begun = False
        self._sent = self._pending = ""
        self._doubtful = False

    def __call__(self, event: Event, _: str = "") -> bytes:
        """Return an event as bytes; empty if it is not sent."""
        match event:
            case Token(text=text):
                self._pending += text
                self._doubtful |= any(note in self._pending for note in UNVERIFIED.values())
                return self._begin()
            case Cited(citation=citation) if citation.support >= SUPPORTED and not self._doubtful:
                return self._send(self._pending)
            case Reset():
                self._pending, self._doubtful = "", bool(self._sent)
            case Done(answer=answer):
                whole = answer.answer
                rest = whole[len(self._sent) :] if whole.startswith(self._sent) else ""
                return self._begin() + self._send(rest) + self._completion.end(answer)
            case Failed(code=code, message=message):
                error = _data(openai_error(code, message, error_of(code, message).status))
                return self._send(self._pending) + error
            case _:
                pass
        return b""

    def _send(self, text: str) -> bytes:
        self._pending = ""
        self._sent += text
        return _data(self._completion.chunk({"content": text})) if text else b""

    def _begin(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        return _data(self._completion.chunk({"role": "assistant", "content": ""}))


def _data(chunk: object) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def _finish(answer: Answer) -> str:
    return "length" if answer.usage.truncated else "stop"


def _usage(answer: Answer) -> dict[str, int]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def _ours(answer: Answer) -> dict[str, Any]:
    return {
        "citations": on_wire(answer.citations),
        "sources": on_wire(answer.sources),
        "sextant": {name: getattr(answer, name) for name in About.model_fields},
    }


_NAME = "sextant"
_OWNER = "sextant"
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
    return {"id": name, "object": "model", "created": 0, "owned_by": _OWNER}


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
    return {"role": role, "content": without_list(text)[:8000]}


def _text(message: ChatMessage) -> str:
    return clean_text("\n".join(part.text or "" for part in message.content))
