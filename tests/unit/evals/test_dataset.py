"""Question sets as they are read."""

from __future__ import annotations

import json
from pathlib import Path

from sextant.evals.dataset import read_questions


def test_every_spelling_of_an_answer_counts_nested_or_not(tmp_path: Path) -> None:
    row = {"id": "q", "query": "Who directed it?", "gold_ids": ["a"]}
    file = tmp_path / "queries.jsonl"
    file.write_text(json.dumps({**row, "answers": [["James Cameron", "Cameron"], "J. Cameron"]}))
    [question] = read_questions(file)
    assert question.answers == ("James Cameron", "Cameron", "J. Cameron")
