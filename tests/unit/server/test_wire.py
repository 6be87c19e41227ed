"""How our models are read from JSON."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from sextant.server.schemas.answers import QueryRequest


@pytest.mark.parametrize(
    ("sent", "place", "said"),
    [
        ({"grapId": "hr"}, ("grapId",), "There is no such field. Did you mean `graphId`?"),
        ({"top_K": 3}, ("top_K",), "There is no such field. Did you mean `topK`?"),
        (
            {"history": [{"role": "user", "contnt": "Hi"}]},
            ("history", 0, "contnt"),
            "There is no such field. Did you mean `content`?",
        ),
        (
            {"history": [{"role": "user", "zz": "Hi"}]},
            ("history", 0, "zz"),
            "There is no such field. Fields: role, content.",
        ),
    ],
)
def test_an_unknown_field_is_refused_with_the_one_that_was_probably_meant(
    sent: dict[str, object], place: tuple[str | int, ...], said: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        QueryRequest.model_validate({"query": "Who?", **sent})
    [error] = caught.value.errors()
    assert (error["type"], error["loc"], error["msg"]) == ("extra_forbidden", place, said)


def test_fields_are_read_by_both_of_their_names() -> None:
    assert QueryRequest.model_validate({"query": "Who?", "top_k": 3}).top_k == 3
    assert QueryRequest.model_validate({"query": "Who?", "topK": 3}).top_k == 3
