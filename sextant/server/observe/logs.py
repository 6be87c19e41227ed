"""The server's log, uvicorn's lines included: JSON for machines, readable lines on a terminal.

Every line has the id of its request. No line has text of a document; questions are logged only at the levels INFO and
DEBUG. Each request gets one line and one observation in the metrics when its last byte is sent.
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
from sextant.server.connections import Middleware
from sextant.server.observe.metrics import Metrics
from sextant.server.observe.tracing import end_request_span, request_span
from sextant.server.problems import CLIENT_LEFT

_log = logging.getLogger("sextant.requests")

# Routes that machines request every few seconds; logged at DEBUG only.
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})


class RequestMeasurements(Middleware):
    """Measures and logs requests.

    Args:
        app: the application.
        metrics: the metrics of this process.
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
                request.status = request.status or 500  # the status of the error handler
                raise
            finally:
                status, seconds = request.status or CLIENT_LEFT, request.seconds
                end_request_span(span, request.route, status)
                self._metrics.requests.labels(request.method, request.route, status).observe(
                    seconds
                )
                level = logging.DEBUG if request.route in _QUIET else logging.INFO
                if _log.isEnabledFor(level):
                    _log.log(level, "request", extra=request.log_fields(status, seconds))


class _Request:
    """The status and times of a request."""

    def __init__(self, scope: Scope) -> None:
        self.began = time.perf_counter()
        self.status: int | None = None
        self._scope = scope
        self._first: float | None = None
        self._last = 0.0
        self._whole = False

    @property
    def seconds(self) -> float:
        """Return the time to the last byte of the response, or until it broke off.

        Reading the rest of a refused body comes after the last byte and does not count.
        """
        return (self._last if self._whole else time.perf_counter()) - self.began

    @property
    def method(self) -> str:
        """Return the method as a label; an unknown one is `other`."""
        method: str = self._scope["method"]
        return method if method in _METHODS else "other"

    @property
    def route(self) -> str:
        """Return the template of the path as a label; the path itself would make a series for each id."""
        route = self._scope.get("route")
        return getattr(route, "path_format", None) or getattr(route, "path", None) or "unmatched"

    def note(self, message: Message) -> None:
        """Note a message before it is sent."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._first = time.perf_counter() - self.began

    def sent(self, message: Message) -> None:
        """Note a message after it was sent."""
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
    """Return a short hash of the user, so that lines can be joined without the user's name."""
    return hashlib.sha256(user_id.encode()).hexdigest()[:12]


# Loggers at INFO at least: each request, refused logins, the start of the server.
_ALWAYS = ("sextant.requests", "sextant.server.auth", "uvicorn")
_EXTRA = ("method", "route", "status", "ms", "first_ms", "user")

# The id of the request of this context.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


def log_config(settings: Settings) -> dict[str, Any]:
    """Return the logging configuration, which uvicorn applies in each of its processes."""
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
            **{name: {"level": "DEBUG" if level == "DEBUG" else "INFO"} for name in _ALWAYS},
            "uvicorn.access": {"level": "WARNING"},  # a line for each request is ours
            "procrastinate": {"level": "WARNING"},  # its lines name users and knowledge bases
        },
    }


def formatter(*, as_json: bool | None = None) -> structlog.stdlib.ProcessorFormatter:
    """Return the formatter of log records.

    Args:
        as_json: whether to write JSON; by default unless standard error is a terminal.
    """
    if as_json is None:
        as_json = not sys.stderr.isatty()
    # Chinese stays readable; standard error escapes characters that it cannot encode.
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
