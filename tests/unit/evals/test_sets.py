"""Question sets: which of their questions are asked."""

from __future__ import annotations

import pytest

from sextant.evals.dataset import EvalQuestion
from sextant.evals.sets import sample


@pytest.mark.parametrize(
    ("number", "about", "asked"), [(10, 3, 4), (9, 3, 3), (2, 3, 2), (0, 3, 0)]
)
def test_a_sample_has_about_as_many_questions_as_are_wanted_and_all_of_a_small_set(
    number: int, about: int, asked: int
) -> None:
    questions = [EvalQuestion(str(place), "?", ()) for place in range(number)]
    assert len(sample(questions, about)) == asked


def test_a_sample_comes_from_all_over_the_set() -> None:
    questions = [EvalQuestion(str(place), "?", ()) for place in range(100)]
    assert [question.id for question in sample(questions, 4)] == ["0", "25", "50", "75"]
