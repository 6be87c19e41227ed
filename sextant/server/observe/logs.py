"""The server's log: JSON lines for machines, readable ones on a terminal; uvicorn's own among them.

Every line has the id of the request that it belongs to. No line has a document's text; questions are
in it only where `log_level` is INFO or DEBUG, for whoever tunes retrieval (seed 000).
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

from sextant.domain.settings import Settings

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
    own = request_id.get()
    return event if own is None else {**event, "request_id": own}


def _at_least_info(level: str) -> str:
    return level if level in {"DEBUG", "INFO"} else "INFO"
