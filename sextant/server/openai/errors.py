"""Errors in the shape that OpenAI's clients read, with our codes."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic.alias_generators import to_snake
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sextant.domain.errors import Wording
from sextant.server.openapi import SAID, Responses, code_of
from sextant.server.problems import MEDIA_TYPE

PREFIX = "/v1/"

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
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


def error_body(code: str, message: str, status: int, field: str | None = None) -> dict[str, Any]:
    """Return an error as OpenAI's API writes it."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": field, "code": code}}


def errors(*statuses: int) -> Responses:
    """Return the `responses=` of a route under `/v1/` for errors beyond those of any route."""
    return {status: describe_failure(status) for status in statuses}


def describe_failure(status: int) -> dict[str, Any]:
    """Return an error as the OpenAPI document tells of it."""
    example = error_body(code_of(status), SAID[status], status)
    return {
        "description": SAID[status],
        "content": {"application/json": {"schema": SCHEMA, "example": example}},
    }


class OpenAIErrors:
    """Turns problem documents under `/v1/` into it, wherever in the application they come from."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"].startswith(PREFIX):
            send = _Turned(send)
        await self._app(scope, receive, send)


class _Turned:
    """Passes a response on; a problem document, which comes in one piece, in the other shape."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.startswith(MEDIA_TYPE):
                self._start = message
                return
        if self._start is None:
            await self._send(message)
            return
        start, self._start = self._start, None
        await self._turn(start, message)

    async def _turn(self, start: Message, message: Message) -> None:
        problem = orjson.loads(message["body"])
        field, detail = _as_sent(problem.get("field"), problem["detail"])
        text = str(Wording(detail, problem.get("nextStep") or ""))
        body = orjson.dumps(error_body(problem["code"], text, problem["status"], field))
        headers = MutableHeaders(raw=start["headers"])
        headers["content-type"] = "application/json"
        headers["content-length"] = str(len(body))
        await self._send({**start, "headers": headers.raw})
        await self._send({**message, "body": body})


def _as_sent(field: str | None, detail: str) -> tuple[str | None, str]:
    """Return the field at fault as requests have it here, `graph_id`, and the sentence about it; images come in messages."""
    if not field:
        return field, detail
    if field.startswith("multimodalContent"):
        sent = "messages"
    else:
        sent = to_snake(field) if field.isidentifier() else field
    return sent, detail.replace(field, sent)
