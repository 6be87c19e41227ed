"""How long one model call, and a server's run, may take follows the answer that it is for."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.domain.settings import LimitSettings, RunSettings, Settings


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, 60),
        ({"limits": LimitSettings(answer_seconds=300)}, 300),
        ({"limits": LimitSettings(answer_seconds=5)}, 60),
        ({"limits": LimitSettings(answer_seconds=300), "model_timeout": 20}, 20),
    ],
)
def test_a_call_may_last_as_long_as_its_answer_unless_it_is_set(
    given: dict[str, Any], seconds: float
) -> None:
    assert Settings(_env_file=None, **given).model_timeout == seconds


def test_the_environment_sets_it_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_LIMITS__ANSWER_SECONDS", "300")
    assert Settings(_env_file=None).model_timeout == 300
    monkeypatch.setenv("SEXTANT_MODEL_TIMEOUT", "15")
    assert Settings(_env_file=None).model_timeout == 15


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, 120),
        ({"limits": LimitSettings(answer_seconds=300)}, 360),
        ({"limits": LimitSettings(answer_seconds=300), "runs": RunSettings(seconds=90)}, 90),
    ],
)
def test_a_servers_run_ends_after_its_answer_unless_it_is_set(
    given: dict[str, Any], seconds: float
) -> None:
    assert Settings(_env_file=None, **given).runs.seconds == seconds
