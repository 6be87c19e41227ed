"""What errors say."""

from __future__ import annotations

from sextant.domain import errors
from sextant.domain.errors import (
    ContextTooLong,
    DatabaseUnavailable,
    GraphNotFound,
    SextantError,
    Wording,
    error_of,
)
from sextant.domain.retrieval import RetrievalError


def test_of_each_lane_that_failed_one_line_is_told_and_the_cause_kept() -> None:
    statement = ValueError("relation is gone\n[SQL: select a page of text]")

    error = RetrievalError.of({"vector": statement, "keyword": TimeoutError()})

    assert str(error).startswith("知识库检索失败 (vector: relation is gone; keyword: TimeoutError)")
    assert error.causes["vector"] is statement


def test_a_search_that_fails_for_want_of_the_database_says_so_in_the_language_it_is_told_in() -> (
    None
):
    lost = DatabaseUnavailable("No answer.", translations={"zh": Wording("没有回答。")})

    error = RetrievalError.of({"vector": lost, "keyword": lost})

    assert isinstance(error, DatabaseUnavailable)
    assert (error.code, error.status) == ("database_unavailable", 503)
    assert error.wording("zh").message == "知识库检索失败（vector, keyword: 没有回答）。"
    assert error.wording("en").message == "The search failed (vector, keyword: No answer)."
    assert RetrievalError.of({"vector": lost, "keyword": ValueError()}).code == "retrieval_failed"


def test_a_failed_search_that_was_data_keeps_its_language() -> None:
    chinese = RetrievalError.of({}).wording("zh")
    error = error_of("retrieval_failed", chinese.message, next_step=chinese.next_step)
    assert error.wording("zh") == error.wording("en") == chinese


def test_a_code_is_the_name_of_its_error_unless_it_says_another() -> None:
    assert ContextTooLong.code == "context_too_long"
    assert RetrievalError.of({}).code == "retrieval_failed"


def test_an_error_that_was_data_is_itself_again() -> None:
    error = error_of("graph_not_found", "There is none.", next_step="Make one.", field="graph_id")
    assert isinstance(error, GraphNotFound)
    assert (error.status, error.next_step, error.field) == (404, "Make one.", "graph_id")
    assert type(error_of("of_another_version", "What?")) is SextantError


def test_every_error_is_found_again_by_its_code() -> None:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, SextantError):
            again = error_of(kind.code, "Why.")
            assert issubclass(kind, type(again))
            assert (again.status, again.exit_code) == (kind.status, kind.exit_code)
