"""Errors as problem documents."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from sextant.domain.answers import Failed
from sextant.domain.errors import (
    EmbeddingModelChanged,
    GraphNotFound,
    OptionInvalid,
    SettingsInvalid,
    SextantError,
    TimedOut,
)
from sextant.server.problems import _of_validation, problem_fields, problem_of
from sextant.server.schemas.answers import QueryRequest


@pytest.mark.parametrize(
    ("error", "field"),
    [
        (GraphNotFound("There is none.", field="graph_id"), "graphId"),
        (OptionInvalid("Too many.", field="limit"), "limit"),
        (
            OptionInvalid("No image.", field="multimodal_content[0].img_path"),
            "multimodalContent[0].img_path",
        ),
        (OptionInvalid("Foreign.", field="If-None-Match"), "If-None-Match"),
        (SettingsInvalid("None is set.", field="chat_model"), "chat_model"),
        (OptionInvalid("Something."), None),
    ],
)
def test_a_problem_names_the_field_as_requests_do_and_settings_as_they_are_set(
    error: SextantError, field: str | None
) -> None:
    assert problem_of(error).field == field


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (OptionInvalid("top_k is 99."), "Option invalid"),
        (GraphNotFound("There is none."), "Graph not found"),
        (EmbeddingModelChanged("Another."), "Embedding model changed"),
        (TimedOut("Too late."), "Timed out"),
    ],
)
def test_the_title_of_a_problem_is_its_code_in_words(error: SextantError, title: str) -> None:
    assert problem_of(error).title == title


def test_the_sentence_of_a_problem_names_the_field_as_requests_do_too() -> None:
    told = problem_of(OptionInvalid("top_k is 99, and top_kinds 2.", field="top_k"))
    assert told.detail == "topK is 99, and top_kinds 2."


def test_the_end_of_a_stream_tells_of_a_failure_as_a_problem_does() -> None:
    detail = {"next_step": "Ask for fewer.", "field": "top_k"}
    told = problem_fields(Failed("option_invalid", "top_k is 99.", retryable=False, detail=detail))
    assert told == {"message": "topK is 99.", "nextStep": "Ask for fewer.", "field": "topK"}


def test_what_is_wrong_with_a_body_is_told_in_the_words_of_json() -> None:
    wrong = {
        "type": "tuple_type",
        "loc": ("body", "multimodalContent"),
        "msg": "Input should be a valid tuple",
    }
    told = _of_validation([wrong], None, "en")
    assert told.detail == "multimodalContent: Input should be a valid list."
    assert told.field == "multimodalContent"


def test_what_is_wrong_with_a_body_is_told_in_chinese() -> None:
    wrong = {"type": "greater_than_equal", "loc": ("body", "limit"), "msg": "-", "ctx": {"ge": 1}}
    told = _of_validation([wrong, wrong], None, "zh")
    assert told.detail == "limit: 应不小于 1（另有 1 处）。"
    assert told.next_step == "/docs 列出了每个字段及其限制。"


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        ({"query": "谁？", "grapId": "hr"}, "grapId: 没有这个字段。您是不是想写 `graphId`？"),
        (
            {"query": "谁？", "history": [{"role": "user", "zz": "Hi"}]},
            "history[0].zz: 没有这个字段。可用的字段：role、content。",
        ),
    ],
)
def test_a_misspelt_field_is_suggested_in_chinese_too(sent: dict[str, object], detail: str) -> None:
    with pytest.raises(ValidationError) as caught:
        QueryRequest.model_validate(sent)
    errors = [{**one, "loc": ("body", *one["loc"])} for one in caught.value.errors()]
    assert _of_validation(errors, None, "zh").detail == detail


@pytest.mark.parametrize(
    ("place", "field"),
    [
        (("body", "multimodalContent", 0), "multimodalContent[0]"),
        (("body", "history", 1, "content"), "history[1].content"),
        (("query", "limit"), "limit"),
        (("body",), "body"),
    ],
)
def test_places_within_a_body_are_named_as_in_every_other_error(
    place: tuple[str | int, ...], field: str
) -> None:
    told = _of_validation([{"type": "string_type", "loc": place, "msg": "No."}], None, "en")
    assert (told.field, told.detail) == (field, f"{field}: No.")
