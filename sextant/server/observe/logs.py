"""The server's log: JSON lines for machines, readable ones on a terminal; uvicorn's own among them.

Every line has the id of the request that it belongs to. No line has a document's text; questions are
in it only where `log_level` is INFO or DEBUG, for whoever tunes retrieval.

Also here: of every request one line in the log and one observation, when its last byte is out.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import time
from contextvars import ContextVar
from typing import Any

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import EventDict, WrappedLogger

from sextant.domain.settings import Settings
from sextant.server.connections import HttpMiddleware
from sextant.server.observe.metrics import Metrics
from sextant.server.observe.tracing import request_span
from sextant.server.problems import CLIENT_LEFT

_log = logging.getLogger("sextant.requests")

# What is asked every few seconds by machines: told only where everything is.
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})


class RequestMeasurements(HttpMiddleware):
    """Measures the requests that pass.

    Args:
        app: what answers them.
        metrics: what counts them.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = _Request(scope)

        async def answering(message: Message) -> None:
            request.note(message)
            await send(message)
            request.sent(message)

        with self._metrics.under_way.track_inprogress(), request_span(scope) as span:
            try:
                await self.app(scope, receive, answering)
            except Exception:
                request.status = request.status or 500  # the application's own edge answers with it
                raise
            finally:
                span.end(request.route, request.status or CLIENT_LEFT)
                self._log_request(request)

    def _log_request(self, request: _Request) -> None:
        status, seconds = request.status or CLIENT_LEFT, request.seconds
        self._metrics.requests.labels(request.method, request.route, status).observe(seconds)
        level = logging.DEBUG if request.route in _QUIET else logging.INFO
        if _log.isEnabledFor(level):
            _log.log(level, "request", extra=request.log_fields(status, seconds))


class _Request:
    """What is known of a request when it is over."""

    def __init__(self, scope: Scope) -> None:
        self.began = time.perf_counter()
        self.status: int | None = None
        self._scope = scope
        self._first: float | None = None
        self._last = 0.0
        self._whole = False

    @property
    def seconds(self) -> float:
        """Return how long it took: to the answer's last byte, or until it broke off.

        What comes behind that byte is not waited for by who asked: the rest of a body that was refused.
        """
        return (self._last if self._whole else time.perf_counter()) - self.began

    @property
    def method(self) -> str:
        """Return the method; any that is none of HTTP's is `other`, since it is a label."""
        method: str = self._scope["method"]
        return method if method in _METHODS else "other"

    @property
    def route(self) -> str:
        """Return the template of the path, never the path itself: ids would make a series each."""
        route = self._scope.get("route")
        return getattr(route, "path_format", None) or getattr(route, "path", None) or "unmatched"

    def note(self, message: Message) -> None:
        """Take note of what is sent."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._first = time.perf_counter() - self.began

    def sent(self, message: Message) -> None:
        """Take note of what has been sent."""
        self._whole = message["type"] == "http.response.body" and not message.get("more_body")
        if message.get("body") or not self._last:
            self._last = time.perf_counter()

    def log_fields(self, status: int, seconds: float) -> dict[str, Any]:
        """Return the fields of the request's line in the log."""
        principal = self._scope.get("state", {}).get("principal")
        fields: dict[str, Any] = {
            "method": self.method,
            "route": self.route,
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        if self._first is not None:
            fields["first_ms"] = round(self._first * 1000, 1)
        if principal is not None:
            fields["user"] = user_hash(principal.user_id)
        return fields


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def user_hash(user_id: str) -> str:
    """Return the same short text for the same user, so that lines can be joined without naming anybody."""
    return hashlib.sha256(user_id.encode()).hexdigest()[:12]


# Of these one hears always: each request, why a login was refused, and that the server has started.
_ALWAYS = ("sextant.requests", "sextant.server.auth", "uvicorn")
_EXTRA = ("method", "route", "status", "ms", "first_ms", "user")

# Of the request that is served in this context.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


def log_config(settings: Settings) -> dict[str, Any]:
    """Return the configuration of Python's logging, which uvicorn sets up in each of its processes.

    It needs nothing but this dict, so it also reaches processes that are started afresh.
    """
    level = settings.log_level
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"own": {"()": formatter}},
        "handlers": {
            "own": {
                "class": "logging.StreamHandler",
                "formatter": "own",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"level": level, "handlers": ["own"]},
        "loggers": {
            **{name: {"level": _at_least_info(level)} for name in _ALWAYS},
            "uvicorn.access": {"level": "WARNING"},  # a line for each request is ours
            "procrastinate": {"level": "WARNING"},  # its lines name users and knowledge bases
        },
    }


def formatter(*, as_json: bool | None = None) -> structlog.stdlib.ProcessorFormatter:
    """Return what makes lines of records; JSON unless standard error is a terminal.

    Args:
        as_json: whether to write JSON in any case, or in none.
    """
    if as_json is None:
        as_json = not sys.stderr.isatty()
    # Chinese stays readable; what standard error cannot write it escapes by itself.
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    shown = [structlog.processors.format_exc_info, renderer]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(allow=_EXTRA),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _with_request_id,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *(shown if as_json else [structlog.dev.ConsoleRenderer()]),
        ],
    )


def _with_request_id(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    id_ = request_id.get()
    return event if id_ is None else {**event, "request_id": id_}


def _at_least_info(level: str) -> str:
    return level if level in {"DEBUG", "INFO"} else "INFO"
