"""Question sets: which of their questions are asked, and those that bring their passages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality.sets import read_judged, sample
from sextant.evals.dataset import EvalQuestion


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


def test_a_judged_question_comes_with_its_passages_in_their_order(tmp_path: Path) -> None:
    passages = [{"title": "Hall", "text": "Mira built it."}, {"title": "", "text": "It rains."}]
    row = {"id": "en-1", "language": "en", "query": "Who built it?", "answerable": True}
    file = tmp_path / "public.jsonl"
    file.write_text(json.dumps({**row, "passages": passages}))
    [question] = read_judged(file)
    assert question.is_answerable
    assert [one.text for one in question.passages] == ["Mira built it.", "It rains."]
    assert question.passages[0].metadata["title"] == "Hall"
    assert question.passages[0].score > question.passages[1].score
