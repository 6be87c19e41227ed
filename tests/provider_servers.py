"""Endpoints that speak other wires than OpenAI's, with scripted answers, over TCP on the loopback interface.

    async with ScriptedAnthropic(["One owner [1]."]) as server:
        models = RoleSettings(answer=ModelSettings(name="anthropic:claude", base_url=server.base_url, api_key="k"))
        ...

The formats are those of Anthropic's Messages API, of Ollama's `/api/chat` and of Gemini's `generateContent`, as their documentation has them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, cast

import orjson

from sextant.testing.http import HttpRequest, HttpResponse, LoopbackEndpoint
from sextant.testing.openai_server import (
    ApiRequest,
    Script,
    pieces_as_scripted,
    to_handler,
    wait_as_scripted,
)
from sextant.testing.replies import Reply, tokens_of


class ScriptedProvider(LoopbackEndpoint):
    """One chat route from a script, as `ScriptedOpenAI` has it; `requests` are those so far.

    Args:
        chat: script of answers.
        api_key: the only accepted key; None: accept requests with any key or none.
    """

    route: ClassVar[str]
    media_type: ClassVar[str]
    streams_by_default: ClassVar[bool] = False

    def __init__(self, chat: Script = (), *, api_key: str | None = None) -> None:
        self.requests: list[ApiRequest] = []
        self._chat = to_handler(chat)
        self._api_key = api_key
        super().__init__()

    async def _handle(self, http: HttpRequest) -> HttpResponse:
        if (body := self.body_of(http)) is None:
            return _json(self.error_body(Reply(f"Unknown path {http.path}.", 404)), 404)
        if self._api_key and self.key_of(http.headers) != self._api_key:
            return _json(self.error_body(Reply("The key is wrong.", 401)), 401)
        request = ApiRequest(http.path, http.headers, body)
        self.requests.append(request)
        reply = self._chat(request)
        if reply.status != 200:
            await wait_as_scripted(reply)
            return _json(self.error_body(reply), reply.status, reply.headers)
        if request.body.get("stream", self.streams_by_default):
            headers = {"content-type": self.media_type, **reply.headers}
            return HttpResponse(200, self.stream(reply, request), headers)
        await wait_as_scripted(reply)
        return _json(self.answer_body(reply, request), 200, reply.headers)

    def body_of(self, http: HttpRequest) -> dict[str, Any] | None:
        """Return what a request says; None where its path is none of the provider's."""
        there = http.path.partition("?")[0] == self.route
        return cast("dict[str, Any]", http.json()) if there else None

    def key_of(self, headers: Mapping[str, str]) -> str:
        """Return the key that a request came with."""
        return headers.get("authorization", "").removeprefix("Bearer ")

    @abstractmethod
    def error_body(self, reply: Reply) -> dict[str, Any]:
        """Return the body of an error."""

    @abstractmethod
    def answer_body(self, reply: Reply, request: ApiRequest) -> dict[str, Any]:
        """Return the body of an answer in one piece."""

    @abstractmethod
    def stream(self, reply: Reply, request: ApiRequest) -> AsyncIterator[bytes]:
        """Yield a streamed answer."""


class ScriptedAnthropic(ScriptedProvider):
    """Anthropic's `POST /v1/messages`."""

    route = "/v1/messages"
    media_type = "text/event-stream"
    _errors: ClassVar[Mapping[int, str]] = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    _ends: ClassVar[Mapping[str, str]] = {
        "stop": "end_turn",
        "length": "max_tokens",
        "content_filter": "refusal",
    }

    def key_of(self, headers: Mapping[str, str]) -> str:
        """See `ScriptedProvider`."""
        return headers.get("x-api-key") or super().key_of(headers)

    def error_body(self, reply: Reply) -> dict[str, Any]:
        """See `ScriptedProvider`."""
        kind = reply.error_code or self._errors.get(reply.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": reply.text}}

    def answer_body(self, reply: Reply, request: ApiRequest) -> dict[str, Any]:
        """See `ScriptedProvider`."""
        thought = {"type": "thinking", "thinking": reply.thought, "signature": "c2ln"}
        content = [thought] if reply.thought else []
        return self._message(reply, request) | {
            "content": [*content, {"type": "text", "text": reply.text}],
            "stop_reason": self._ends.get(reply.finish_reason, reply.finish_reason),
        }

    async def stream(self, reply: Reply, request: ApiRequest) -> AsyncIterator[bytes]:
        """See `ScriptedProvider`."""
        message = self._message(reply, request)
        yield _event("message_start", message=message | {"content": [], "stop_reason": None})
        if reply.thought:
            async for event in self._block(0, "thinking", [reply.thought]):
                yield event
        index = int(bool(reply.thought))
        yield _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        async for piece in pieces_as_scripted(reply):
            delta = {"type": "text_delta", "text": piece}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
        reason = self._ends.get(reply.finish_reason, reply.finish_reason)
        ended = {"stop_reason": reason, "stop_sequence": None}
        yield _event("message_delta", delta=ended, usage=message["usage"])
        yield _event("message_stop")

    async def _block(self, index: int, kind: str, pieces: list[str]) -> AsyncIterator[bytes]:
        begun = {"type": kind, kind: "", "signature": ""}
        yield _event("content_block_start", index=index, content_block=begun)
        for piece in pieces:
            delta = {"type": f"{kind}_delta", kind: piece}
            yield _event("content_block_delta", index=index, delta=delta)
        signed = {"type": "signature_delta", "signature": "c2ln"}
        yield _event("content_block_delta", index=index, delta=signed)
        yield _event("content_block_stop", index=index)

    def _message(self, reply: Reply, request: ApiRequest) -> dict[str, Any]:
        tokens = len(tokens_of(f"{request.body.get('system', '')}{request.prompt}"))
        return {
            "id": "msg_scripted",
            "type": "message",
            "role": "assistant",
            "model": request.body.get("model"),
            "stop_sequence": None,
            "usage": {"input_tokens": tokens, "output_tokens": len(reply.pieces)},
        }


class ScriptedOllama(ScriptedProvider):
    """Ollama's `POST /api/chat`, which streams lines of JSON unless it is told not to."""

    route = "/api/chat"
    media_type = "application/x-ndjson"
    streams_by_default = True

    def error_body(self, reply: Reply) -> dict[str, Any]:
        """See `ScriptedProvider`."""
        return {"error": reply.text}

    def answer_body(self, reply: Reply, request: ApiRequest) -> dict[str, Any]:
        """See `ScriptedProvider`."""
        return self._line(request, reply.text, reply.thought) | self._end(reply, request)

    async def stream(self, reply: Reply, request: ApiRequest) -> AsyncIterator[bytes]:
        """See `ScriptedProvider`."""
        if reply.thought:
            yield orjson.dumps(self._line(request, "", reply.thought)) + b"\n"
        async for piece in pieces_as_scripted(reply):
            yield orjson.dumps(self._line(request, piece)) + b"\n"
        yield orjson.dumps(self._line(request, "") | self._end(reply, request)) + b"\n"

    def _line(self, request: ApiRequest, text: str, thought: str = "") -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        return {
            "model": request.body.get("model"),
            "created_at": "2026-11-28T00:00:00Z",
            "message": message | ({"thinking": thought} if thought else {}),
            "done": False,
        }

    def _end(self, reply: Reply, request: ApiRequest) -> dict[str, Any]:
        counts = {
            "prompt_eval_count": len(tokens_of(request.prompt)),
            "eval_count": len(reply.pieces),
        }
        return {"done": True, "done_reason": reply.finish_reason} | counts


class ScriptedGoogle(ScriptedProvider):
    """Gemini's `POST /v1beta/models/…:generateContent` and `:streamGenerateContent`; a request tells model, messages and whether it streams."""

    route = "/v1beta/models/"
    media_type = "text/event-stream"
    _errors: ClassVar[Mapping[int, str]] = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
    }
    _ends: ClassVar[Mapping[str, str]] = {
        "stop": "STOP",
        "length": "MAX_TOKENS",
        "content_filter": "SAFETY",
    }

    def body_of(self, http: HttpRequest) -> dict[str, Any] | None:
        """See `ScriptedProvider`."""
        name, _, method = http.path.partition("?")[0].removeprefix(self.route).partition(":")
        if not http.path.startswith(self.route) or not method:
            return None
        body = cast("dict[str, Any]", http.json())
        instruction = body.get("systemInstruction")
        turns = [*([instruction] if instruction else []), *body["contents"]]
        messages = [
            {"role": turn.get("role", "system"), "content": turn["parts"]} for turn in turns
        ]
        return body | {"model": name, "stream": "stream" in method, "messages": messages}

    def key_of(self, headers: Mapping[str, str]) -> str:
        """See `ScriptedProvider`."""
        return headers.get("x-goog-api-key", "")

    def error_body(self, reply: Reply) -> dict[str, Any]:
        """See `ScriptedProvider`."""
        status = self._errors.get(reply.status, "INTERNAL")
        return {"error": {"code": reply.status, "message": reply.text, "status": status}}

    def answer_body(self, reply: Reply, request: ApiRequest) -> dict[str, Any]:
        """See `ScriptedProvider`."""
        return self._part(reply, request, [reply.text], ends=True)

    async def stream(self, reply: Reply, request: ApiRequest) -> AsyncIterator[bytes]:
        """See `ScriptedProvider`."""
        async for piece in pieces_as_scripted(replace(reply, thought="")):
            yield b"data: " + orjson.dumps(self._part(reply, request, [piece])) + b"\r\n\r\n"
        yield b"data: " + orjson.dumps(self._part(reply, request, [], ends=True)) + b"\r\n\r\n"

    def _part(
        self, reply: Reply, request: ApiRequest, texts: list[str], *, ends: bool = False
    ) -> dict[str, Any]:
        thoughts = [{"text": reply.thought, "thought": True}] if reply.thought and ends else []
        content = {
            "role": "model",
            "parts": [*thoughts, *({"text": text} for text in texts if text)],
        }
        reason = {"finishReason": self._ends.get(reply.finish_reason, "OTHER")} if ends else {}
        usage = {
            "promptTokenCount": len(tokens_of(request.prompt)),
            "candidatesTokenCount": len(reply.pieces),
            "totalTokenCount": len(tokens_of(request.prompt)) + len(reply.pieces),
        }
        return {
            "candidates": [{"content": content, "index": 0} | reason],
            "usageMetadata": usage,
            "modelVersion": request.body["model"],
        }


def _event(kind: str, **fields: object) -> bytes:
    body = orjson.dumps({"type": kind, **fields})
    return b"event: " + kind.encode() + b"\ndata: " + body + b"\n\n"


def _json(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    return HttpResponse(status, orjson.dumps(body), headers or {})
