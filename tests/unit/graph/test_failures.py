"""What callers learn of a run that failed, and what they do not."""

from __future__ import annotations

import logging

import pytest
from langgraph.errors import NodeTimeoutError
from pydantic import ValidationError

from sextant.domain.answers import Failed
from sextant.domain.errors import DatabaseUnavailable, OptionInvalid, SextantError, Wording
from sextant.graph.streaming import as_failed
from sextant.nodes.context import Context


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (DatabaseUnavailable("Gone.", next_step="Start it."), True),
        (OptionInvalid("Too many.", next_step="Ask for less.", field="top_k"), False),
    ],
)
def test_an_error_of_ours_is_told_in_its_own_words(error: SextantError, retryable: bool) -> None:
    detail = {"next_step": error.next_step, "field": error.field}
    assert as_failed(error) == Failed(error.code, error.message, retryable, detail)


def test_an_error_is_told_with_its_next_step_in_the_language_of_the_question() -> None:
    gone = DatabaseUnavailable(
        "Gone.", next_step="Start it.", translations={"zh": Wording("不在。", "请启动它。")}
    )
    detail = {"next_step": "请启动它。", "field": None}
    assert as_failed(gone, "zh") == Failed(
        "database_unavailable", "不在。", retryable=True, detail=detail
    )
    assert as_failed(OptionInvalid("Too many."), "zh").message == "Too many."


def test_a_step_that_took_too_long_is_named() -> None:
    late = NodeTimeoutError("retrieve", 30.0, kind="run", run_timeout=30.0)
    failed = as_failed(late)
    assert (failed.code, failed.retryable) == ("timed_out", True)
    assert "retrieve took longer than 30 s" in failed.message


def test_a_choice_that_cannot_be_used_is_named_and_its_value_is_not() -> None:
    with pytest.raises(ValidationError) as wrong:
        Context.model_validate({"top_k": "the secret"})
    failed = as_failed(wrong.value)
    assert (failed.code, failed.retryable) == ("option_invalid", False)
    assert "top_k" in failed.message
    assert "secret" not in failed.message


def test_what_nobody_expected_gives_nothing_away_but_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        failed = as_failed(KeyError("the secret"))
    assert (failed.code, failed.retryable, failed.detail) == ("internal_error", False, None)
    assert "secret" not in failed.message
    assert "the secret" in caplog.text
