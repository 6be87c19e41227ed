"""Whether a question speaks of somebody."""

from __future__ import annotations

import pytest

from sextant.text.statements import has_who


@pytest.mark.parametrize(
    ("question", "somebody"),
    [
        ("how many employees who joined in 2023 are in oslo?", True),
        ("whose salary is the highest?", True),
        ("谁的工资最高？", True),
        ("what is the whole sum?", False),
    ],
)
def test_a_question_speaks_of_somebody_in_whatever_place(question: str, somebody: bool) -> None:
    assert has_who(question) is somebody
