"""What kind of body a request says that it has."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from sextant.server.connections import content_type_of, is_encoded, is_json


def request(**headers: str) -> Request:
    named = [
        (name.replace("_", "-").encode(), value.encode("latin-1"))
        for name, value in headers.items()
    ]
    return Request({"type": "http", "headers": named})


def test_a_type_is_told_without_case_and_parameters() -> None:
    assert content_type_of(request(content_type="Application/X-NDJSON; charset=utf-8")) == (
        "application/x-ndjson"
    )
    assert content_type_of(request()) == ""


@pytest.mark.parametrize(
    ("said", "so"),
    [
        ("application/json", True),
        ("application/json;charset=utf-8", True),
        ("Application/Problem+JSON", True),
        ("text/json", False),
        ("application/x-ndjson", False),
        ("json", False),
        ("", False),
    ],
)
def test_json_is_told_by_its_type_or_by_what_its_type_is_built_on(said: str, so: bool) -> None:
    assert is_json(request(content_type=said)) is so


def test_what_is_compressed_says_so() -> None:
    assert is_encoded(request(content_encoding="gzip"))
    assert not is_encoded(request(content_encoding="identity"))
    assert not is_encoded(request())
