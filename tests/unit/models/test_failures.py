"""Which failures are worth another try, and after how long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.errors import ModelRejected, ModelUnavailable, Wording
from sextant.models import wordings
from sextant.models.endpoint import connect_seconds
from sextant.models.failures import Service, as_sextant_error, is_transient, retry_after
from sextant.models.retries import Retries

SERVICE = Service("chat model m", "THE_MODEL", "THE_KEY", "THE_URL", "THE_TIMEOUT")


def refused(status: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    named = {
        name.replace("_", "-").replace("llm-", "llm_"): value for name, value in headers.items()
    }
    return httpx.HTTPStatusError(
        f"status {status}", request=request, response=httpx.Response(status, headers=named)
    )


@pytest.mark.parametrize(
    "error",
    [
        refused(429),
        refused(500),
        refused(503),
        TimeoutError(),
        ConnectionResetError(),
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("cut"),
        ModelUnavailable("down"),
    ],
)
def test_what_may_pass_is_transient(error: Exception) -> None:
    assert is_transient(error)


@pytest.mark.parametrize(
    "error",
    [refused(400), refused(401), refused(404), refused(501), ValueError("no"), ModelRejected("no")],
)
def test_what_will_not_pass_is_not(error: Exception) -> None:
    assert not is_transient(error)


def test_an_answer_that_cannot_be_read_was_not_refused() -> None:
    assert type(as_sextant_error(refused(200), SERVICE)) is ModelUnavailable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"llm_provider_retry_after": "12"}, 12.0),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        ({"retry_after": "Sat, 21 Nov 2026 10:00:30 GMT"}, 30.0),
        ({"retry_after": "Sat, 21 Nov 2026 09:00:00 GMT"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    now = datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)
    assert retry_after(refused(429, **headers), now) == seconds


@given(attempt=st.integers(0, 50))
def test_waits_grow_but_stay_bounded(attempt: int) -> None:
    retries = Retries(limit=100, first_wait=0.5, longest_wait=20)
    wait = retries.wait(refused(500), attempt)
    assert wait is not None
    assert 0 <= wait <= min(20, 0.5 * 2**attempt)


def test_the_asked_wait_is_kept_exactly_unless_it_is_too_long() -> None:
    retries = Retries(limit=2, longest_wait=20)
    assert retries.wait(refused(429, retry_after="20"), 0) == 20.0
    assert retries.wait(refused(429, retry_after="21"), 0) is None


def test_after_the_last_try_there_is_no_wait() -> None:
    assert Retries(limit=2).wait(refused(500), 2) is None
    assert Retries(limit=0).wait(refused(500), 0) is None


@pytest.mark.parametrize(
    ("error", "kind", "step"),
    [
        (refused(401), ModelRejected, "THE_KEY"),
        (refused(403), ModelRejected, "THE_KEY"),
        (refused(404), ModelRejected, "THE_MODEL"),
        (refused(429, retry_after="4"), ModelUnavailable, "in 4 s"),
        (refused(503), ModelUnavailable, "log"),
        (TimeoutError(), ModelUnavailable, "THE_TIMEOUT"),
        (httpx.ReadTimeout(""), ModelUnavailable, "THE_TIMEOUT"),
        (httpx.ConnectError("no"), ModelUnavailable, "THE_URL"),
        (KeyError("choices"), ModelUnavailable, "THE_URL"),
    ],
)
def test_each_failure_names_the_setting_to_look_at(
    error: Exception, kind: type[Exception], step: str
) -> None:
    typed = as_sextant_error(error, SERVICE)
    assert type(typed) is kind
    assert "chat model m" in typed.message
    assert step in typed.next_step


@pytest.mark.parametrize(
    "error",
    [
        *(refused(status) for status in (400, 401, 403, 404, 413, 418, 429, 503)),
        refused(429, retry_after="4"),
        TimeoutError(),
        httpx.ConnectError("no"),
        httpx.RemoteProtocolError("cut"),
        KeyError("choices"),
    ],
)
def test_each_failure_is_told_in_chinese_with_its_next_step(error: Exception) -> None:
    service = replace(SERVICE, label_zh="聊天模型 m")
    typed = as_sextant_error(error, service)
    told, step = typed.wording("zh")
    assert told.startswith("聊天模型 m ")
    assert step.startswith("请")
    assert step not in told
    assert typed.in_language("zh") == told + step
    assert typed.in_language("en") == str(typed) == f"{typed.message} {typed.next_step}"
    settings = [one for one in ("THE_URL", "THE_KEY", "THE_MODEL") if one in typed.next_step]
    assert all(one in step for one in settings)


def test_only_where_no_connection_came_about_is_an_endpoint_out_of_reach() -> None:
    def wrapped(cause: Exception) -> Exception:
        error = httpx.TransportError("Connection error.")
        error.__cause__ = cause
        return error

    def out_of_reach(error: Exception) -> bool:
        typed = as_sextant_error(error, SERVICE)
        assert isinstance(typed, ModelUnavailable)
        return typed.unreachable

    assert out_of_reach(httpx.ConnectError("no"))
    assert out_of_reach(wrapped(httpx.ConnectTimeout("")))
    assert not out_of_reach(wrapped(httpx.ReadTimeout("")))
    assert not out_of_reach(httpx.RemoteProtocolError("broke off"))
    assert not out_of_reach(refused(503))


def test_a_long_or_broken_message_of_the_endpoint_is_cut_and_cleaned() -> None:
    typed = as_sextant_error(RuntimeError("x\x00y\n" + "z" * 5000), SERVICE)
    assert "\x00" not in typed.message
    assert len(typed.message) < 300


def _catalogue() -> Iterator[tuple[str, Mapping[str, Wording]]]:
    for name, said in vars(wordings).items():
        if name.isupper() and not name.startswith("_"):
            several = said if name == "REFUSED" else {name: said}
            yield from ((f"{name} {which}", one) for which, one in several.items())


@pytest.mark.parametrize("said", [pytest.param(said, id=name) for name, said in _catalogue()])
def test_each_wording_has_a_next_step_in_both_languages_that_names_the_same_settings(
    said: Mapping[str, Wording],
) -> None:
    assert set(said) == {"en", "zh"}
    assert all(message and step for message, step in said.values())
    named = {
        language: set(
            re.findall(r"SEXTANT_\w+|\{(?:key|model|url|timeout|seconds)[^}]*\}", wording.next_step)
        )
        for language, wording in said.items()
    }
    assert named["en"] == named["zh"]


def test_who_gives_a_call_more_time_waits_longer_for_the_next() -> None:
    limited = refused(429, retry_after="60")
    assert Retries.of(2, 60.0).wait(limited, 0) is None
    assert Retries.of(2, 300.0).wait(limited, 0) == 60.0
    assert (connect_seconds(1), connect_seconds(60), connect_seconds(600)) == (1, 5, 50)


def test_a_balance_in_a_failure_of_another_kind_is_not_that_of_the_account() -> None:
    error = as_sextant_error(ValueError("no JSON: “The balance of 2024 …”"), SERVICE)
    assert isinstance(error, ModelUnavailable)
