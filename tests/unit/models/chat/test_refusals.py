"""A model is given up when it is silent, or refuses whatever it is asked."""

from __future__ import annotations

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelOutputInvalid, ModelUnavailable
from sextant.models.chat.call_limits import Refusals


def refused() -> ModelUnavailable:
    error = ModelUnavailable("failed with status 500")
    error.usage = Usage(1)
    return error


def test_silence_is_waited_for_once() -> None:
    assert Refusals().gone(ModelUnavailable("did not answer in time"))


def test_the_third_refusal_in_a_row_is_not_about_one_prompt() -> None:
    refusals = Refusals()
    assert [refusals.gone(refused()) for _ in range(3)] == [False, False, True]


def test_any_answer_begins_the_row_anew() -> None:
    refusals = Refusals()
    for answer in (refusals.answered, lambda: refusals.gone(ModelOutputInvalid("no JSON"))):
        assert not any(refusals.gone(refused()) for _ in range(2))
        answer()
    assert not refusals.gone(refused())
