"""Errors as problem documents (RFC 9457) with the codes of `sextant.domain.errors`; in OpenAI's form under `/v1/`."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic.alias_generators import to_camel, to_snake
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from sextant.domain.answers import Failed
from sextant.domain.configuration import describe_error
from sextant.domain.errors import UNFORESEEN, SettingsInvalid, SextantError, Wording, error_of
from sextant.domain.questions import field_at
from sextant.server.connections import ClientLeft
from sextant.server.schemas.wire import Problem

_log = logging.getLogger(__name__)

# The status that nginx logs for a client that left; it is never sent.
CLIENT_LEFT = 499

MEDIA_TYPE = "application/problem+json"
OPENAI_PATHS = "/v1/"
_OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_FIRST_NAME = re.compile(r"[A-Za-z_]\w*(?=[.\[]|$)", re.ASCII)
# Headers that a status requires: when to try again (RFC 9110 §10.2.3), how to log in (RFC 6750 §3).
_HEADERS = {
    401: {"WWW-Authenticate": 'Bearer realm="sextant"'},
    429: {"Retry-After": "5"},
    503: {"Retry-After": "5"},
}


def problem_of(error: SextantError, request_id: str | None = None) -> Problem:
    """Return the problem document of an error."""
    field, detail = _as_sent(error)
    return Problem(
        title=error.code.replace("_", " ").capitalize(),
        status=error.status,
        detail=detail,
        code=error.code,
        next_step=error.next_step or None,
        field=field,
        request_id=request_id,
        retryable=error.retryable,
    )


def problem_fields(event: Failed) -> dict[str, str | None]:
    """Return the fields of a problem document for the failure at the end of a stream."""
    problem = problem_of(error_of(event.code, event.message, **(event.detail or {})))
    return {"message": problem.detail, "nextStep": problem.next_step, "field": problem.field}


def _as_sent(error: SextantError) -> tuple[str | None, str]:
    """Return the wrong field and the message with the names of the request: `graphId`, `multimodalContent[0].data`.

    Names of settings stay as they are, and so do names within a field that takes any object.
    """
    field = error.field or ""
    name = _FIRST_NAME.match(field)
    if name is None or isinstance(error, SettingsInvalid):
        return error.field, error.message
    sent = to_camel(name[0])
    detail = re.sub(rf"\b{name[0]}\b", sent, error.message) if sent != name[0] else error.message
    return sent + field[name.end() :], detail


def answer_with(problem: Problem, path: str, headers: dict[str, str] | None = None) -> Response:
    """Return a problem as the response to a request of this path."""
    headers = _HEADERS.get(problem.status, {}) | (headers or {})
    if path.startswith(OPENAI_PATHS):
        field, detail = _as_sent_to_openai(problem)
        message = str(Wording(detail, problem.next_step or ""))
        body = openai_error(problem.code, message, problem.status, field)
        return Response(orjson.dumps(body), problem.status, headers, "application/json")
    body_text = problem.model_dump_json(by_alias=True, exclude_none=True)
    return Response(body_text, problem.status, headers, MEDIA_TYPE)


def openai_error(code: str, message: str, status: int, field: str | None = None) -> dict[str, Any]:
    """Return an error as OpenAI's API writes it."""
    kind = _OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": field, "code": code}}


def _as_sent_to_openai(problem: Problem) -> tuple[str | None, str]:
    """Return the wrong field and the message with the names of OpenAI's requests: `graph_id`; images are in `messages`."""
    field, detail = problem.field, problem.detail
    if not field:
        return field, detail
    if field.startswith("multimodalContent"):
        sent = "messages"
    else:
        sent = to_snake(field) if field.isidentifier() else field
    return sent, detail.replace(field, sent)


def answer_to(error: SextantError, request: Request) -> Response:
    """Return the response for an error."""
    headers: dict[str, str] = getattr(error, "headers", None) or {}
    seconds: int | None = getattr(error, "retry_after", None)
    if seconds is not None:
        headers = {"Retry-After": str(seconds)} | headers
    return answer_with(problem_of(error, request_id_of(request)), request.scope["path"], headers)


def install(app: FastAPI) -> None:
    """Answer every error of `app` with a problem document."""
    app.add_exception_handler(SextantError, _ours)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, answer_to_http)
    app.add_exception_handler(ClientLeft, _client_left)
    app.add_exception_handler(ClientDisconnect, _client_left)  # while a form was read
    app.add_exception_handler(Exception, _unforeseen)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, SextantError)  # noqa: S101 - registered for this type only
    return answer_to(error, request)


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    problem = _of_validation(error.errors(), request_id_of(request), accepted_language(request))
    return answer_with(problem, request.scope["path"])


async def answer_to_http(request: Request, error: Exception) -> Response:
    """Return the response for an error of the framework, such as an unknown path."""
    assert isinstance(error, HTTPException)  # noqa: S101
    title = HTTPStatus(error.status_code).phrase
    is_unknown = error.status_code == HTTPStatus.NOT_FOUND
    problem = Problem(
        title=title,
        status=error.status_code,
        detail=f"{str(error.detail).rstrip('.')}.",
        code=title.lower().replace(" ", "_").replace("-", "_"),
        next_step=_ROUTES[accepted_language(request)] if is_unknown else None,
        request_id=request_id_of(request),
    )
    return answer_with(problem, request.scope["path"], dict(error.headers or {}))


def accepted_language(request: Request) -> str:
    """Return the language of warnings and errors: the first that the client accepts, zh or en."""
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


async def _client_left(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_LEFT)


async def _unforeseen(request: Request, error: Exception) -> Response:
    _log.error("a request failed", exc_info=error)
    problem = Problem(
        title="Internal Server Error",
        status=500,
        detail=UNFORESEEN,
        code=SextantError.code,
        request_id=request_id_of(request),
    )
    return answer_with(problem, request.scope["path"])


def request_id_of(request: Request) -> str | None:
    """Return the request's id in the log."""
    found: str | None = getattr(request.state, "request_id", None)
    return found


_NOT_JSON = {
    "en": Wording(
        "The body is not JSON: {fault} at character {place}.",
        "Write it as RFC 8259 has it: no NaN, no comments, names in double quotes.",
    ),
    "zh": Wording(
        "请求体不是 JSON：第 {place} 个字符处出错（{fault}）。",
        "请按 RFC 8259 书写：没有 NaN，没有注释，名称用双引号。",
    ),
}
_ROUTES = {"en": "/docs lists every route.", "zh": "/docs 列出了每个接口。"}
_LISTED = {"en": "/docs lists every field with its bounds.", "zh": "/docs 列出了每个字段及其限制。"}


def _of_validation(
    errors: Sequence[Mapping[str, Any]], request_id: str | None, language: str
) -> Problem:
    # The value itself is never repeated: it may be a secret, or not valid JSON (NaN, lone surrogates).
    first = errors[0]
    invalid = partial(
        Problem, title="Request invalid", status=422, code="request_invalid", request_id=request_id
    )
    if first["type"] == "json_invalid":
        message, next_step = _NOT_JSON[language]
        detail = message.format(fault=first["ctx"]["error"], place=first["loc"][-1])
        return invalid(detail=detail, next_step=next_step)
    field = field_at(first["loc"][1:]) or str(first["loc"][0])
    more = {"en": f" ({len(errors) - 1} more)", "zh": f"（另有 {len(errors) - 1} 处）"}
    others = more[language] if len(errors) > 1 else ""
    reason = describe_error(first, language).rstrip(".。") + others
    stop = "" if reason.endswith(("?", "？")) else {"en": ".", "zh": "。"}[language]
    return invalid(
        detail=f"{field}: {reason}{stop}",
        next_step=_LISTED[language],
        field=field,
    )
