"""Whether given passages answer: how the set is read and what its table says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from sextant.evals.nomiracl import read_judged, write_row


def test_a_question_comes_with_its_passages_in_their_order(tmp_path: Path) -> None:
    row = {
        "id": "en-1",
        "language": "en",
        "query": "Who built it?",
        "passages": [
            {"title": "Hall", "text": "Mira built it."},
            {"title": "", "text": "It rains."},
        ],
        "answerable": True,
    }
    path = tmp_path / "public.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    (question,) = read_judged(path)
    assert question.is_answerable
    assert [one.text for one in question.passages] == ["Mira built it.", "It rains."]
    assert question.passages[0].metadata["title"] == "Hall"
    assert question.passages[0].score > question.passages[1].score


def test_a_row_means_both_kinds_of_question_equally() -> None:
    outcomes = [
        (True, True),
        (True, True),
        (True, False),
        (True, True),
        (False, False),
        (False, True),
    ]
    assert write_row("en", outcomes) == "| en | 6 | 75.0 % | 50.0 % | 62.5 % |"
