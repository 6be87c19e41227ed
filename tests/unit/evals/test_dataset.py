"""Question sets as they are read."""

from __future__ import annotations

import json
from pathlib import Path

from sextant.evals.dataset import read_judged, read_questions


def test_every_spelling_of_an_answer_counts_nested_or_not(tmp_path: Path) -> None:
    row = {"id": "q", "query": "Who directed it?", "gold_ids": ["a"]}
    file = tmp_path / "queries.jsonl"
    file.write_text(json.dumps({**row, "answers": [["James Cameron", "Cameron"], "J. Cameron"]}))
    [question] = read_questions(file)
    assert question.answers == ("James Cameron", "Cameron", "J. Cameron")


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
