"""What callers learn of a run that failed."""

from __future__ import annotations

import logging

from langgraph.errors import NodeTimeoutError
from pydantic import ValidationError

from sextant.domain.answers import Failed
from sextant.domain.errors import UNFORESEEN, SextantError, TimedOut, Wording
from sextant.domain.questions import field_at

_log = logging.getLogger(__name__)


def as_failed(error: Exception, language: str = "en") -> Failed:
    """Return the event for `error`: its own words, in `language` where it has them; else only that something broke."""
    if isinstance(error, SextantError):
        message, next_step = error.wording(language)
        detail = {"next_step": next_step, "field": error.field}
        return Failed(error.code, message, error.retryable, detail)
    if isinstance(error, NodeTimeoutError):
        return as_failed(
            TimedOut(
                f"The step {error.node} took longer than {error.timeout:g} s.",
                next_step="Ask again; `sextant doctor` shows what is slow or down.",
                translations={
                    "zh": Wording(
                        f"步骤 {error.node} 超过了 {error.timeout:g} 秒。",
                        "请再问一次；`sextant doctor` 会显示哪里慢或不可用。",
                    )
                },
            ),
            language,
        )
    if isinstance(error, ValidationError):
        fields = ", ".join(field_at(wrong["loc"]) for wrong in error.errors())
        return Failed(
            "option_invalid", f"The run's context cannot be used: {fields}.", retryable=False
        )
    _log.error("a run failed", exc_info=error)
    return Failed(SextantError.code, UNFORESEEN, retryable=False)
