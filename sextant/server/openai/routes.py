"""`/v1/models` and `/v1/chat/completions`, and answers as completions, whole and streamed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from fastapi import Request, Response

from sextant.domain.answers import Answer, Cited, Done, Event, Failed, Reset, Token
from sextant.domain.errors import error_of
from sextant.facade.questions import Options
from sextant.nodes.citing.cited_text import UNVERIFIED
from sextant.nodes.citing.verdicts import SUPPORTED
from sextant.nodes.question.source_lists import sources_list
from sextant.server.answers import AnswerRequest, respond_with_answer, stream_answer
from sextant.server.lifespan import serving_of
from sextant.server.openai.schemas import (
    ChatRequest,
    errors,
    model_response,
    models_response,
    parse_model_name,
    read_conversation,
)
from sextant.server.problems import openai_error
from sextant.server.routing import Reader, ReaderRag
from sextant.server.routing import router as new_router
from sextant.server.schemas.answers import on_wire

router = new_router("openai", prefix="/v1")

_STREAM = {
    "description": "The answer as OpenAI describes it, with `stream` its chunks; `citations`, `sources` and `sextant` are ours."
}
_ERRORS = errors(404, 409, 502)


@router.get("/models")
async def list_models(rag: ReaderRag) -> dict[str, Any]:
    """List the models: one for each mode and effort, and one for each further knowledge base."""
    graphs = (graph.graph_id for graph in await rag.graphs())
    return {"object": "list", "data": models_response(graphs)}


@router.get(
    "/models/{model:path}",
    responses=errors(404),
)
async def get_model(
    model: str,
    principal: Reader,  # noqa: ARG001 - a guard
) -> dict[str, Any]:
    """Describe one model."""
    parse_model_name(model, None)
    return model_response(model)


@router.post("/chat/completions", response_class=Response, responses={200: _STREAM, **_ERRORS})
async def chat_completions(
    request: Request, principal: Reader, rag: ReaderRag, chat: ChatRequest
) -> Response:
    """Answer the last message of a chat, with citations in the text and as fields beside it."""
    most_turns = serving_of(request).settings.limits.history_turns
    mode, effort, graph_id = parse_model_name(chat.model, chat.graph_id)
    conversation = read_conversation(chat.messages, most_turns)
    options = Options(
        graph_id=await rag.find_graph(graph_id),
        mode=mode,
        top_k=chat.top_k,
        history=conversation.history,
        filters=chat.filters.as_json() if chat.filters else None,
        multimodal_content=conversation.images,
        effort=effort,
    )
    question = AnswerRequest(conversation.question, options)
    usage = chat.stream_options is not None and bool(chat.stream_options.include_usage)
    completion = CompletionWriter(chat.model, chat.list_sources, usage)
    if chat.stream:
        _, response = stream_answer(request, principal, question, completion.encoder())
        return response

    def respond(answer: Answer) -> Response:
        body = orjson.dumps(completion.whole(answer))
        return Response(body, media_type="application/json")

    return await respond_with_answer(request, principal, question, respond)


# Fields of an answer that OpenAI's API does not have.
_ABOUT = (
    "mode", "effort", "attempts", "trust", "grounded", "declined", "not_found", "warnings", "coded_warnings", "timings",
)  # fmt: skip
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
        "sextant": {name: getattr(answer, name) for name in _ABOUT},
    }
