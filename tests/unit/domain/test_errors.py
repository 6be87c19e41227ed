"""What errors say."""

from __future__ import annotations

from domain.errors import RetrievalError


def test_of_each_lane_that_failed_one_line_is_told_and_the_cause_kept() -> None:
    statement = ValueError("relation is gone\n[SQL: select a page of text]")

    error = RetrievalError({"vector": statement, "keyword": TimeoutError()})

    assert str(error).startswith("知识库检索失败 (vector: relation is gone; keyword: TimeoutError)")
    assert error.causes["vector"] is statement
