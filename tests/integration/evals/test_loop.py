"""What the loop of searches adds to one, from files to figures, on a real PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import Settings
from sextant.evals import loop_grader, sets
from sextant.evals.sets import SetFiles
from sextant.testing.hash_embedder import HashEmbedder

PASSAGES = [
    {"id": "mounds", "title": "Pocahontas Mounds", "text": "The mounds are located in Utopia."},
    {"id": "utopia", "title": "Utopia", "text": "Utopia became part of the Union in 1817."},
    {"id": "other", "title": "Weather", "text": "It was mild that week."},
]
QUESTIONS = [
    {
        "id": "q1",
        "query": "When did the state of the Pocahontas Mounds become part of the Union?",
        "gold_ids": ["mounds", "utopia"],
        "answers": ["1817"],
        "type": "2hop",
    },
    {"id": "q2", "query": "Who sang?", "gold_ids": [], "answers": [], "type": "null"},
]


def write(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.fixture
def files(tmp_path: Path) -> SetFiles:
    return SetFiles(write(tmp_path / "c.jsonl", PASSAGES), write(tmp_path / "q.jsonl", QUESTIONS))


@pytest.fixture(autouse=True)
def hashed_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embeds without the model, which these tests are not about."""
    monkeypatch.setattr(sets, "build_embedder", lambda _: HashEmbedder(384))


async def test_the_loop_is_compared_with_one_search_and_what_it_costs_is_told(
    settings: Settings, files: SetFiles
) -> None:
    seen: list[tuple[str, int, int]] = []
    report = await loop_grader.measure(
        files, settings, "mix", on_progress=lambda *step: seen.append(step)
    )
    assert report.questions == 1
    assert report.all_gold["@10"].loop >= report.all_gold["@10"].once
    assert report.searches >= 1
    assert (report.calls, report.prompt_tokens) == (0, 0)
    assert seen == [("questions", 1, 1)]
    assert len(report.cells()) == len(loop_grader.COLUMNS)


async def test_one_who_knows_the_right_passages_needs_no_round_where_all_are_found(
    settings: Settings, files: SetFiles
) -> None:
    report = await loop_grader.measure(files, settings, "mix", knowing=True)
    assert report.all_gold["@5"].loop == 1
    assert (report.calls, report.went_round) == (1, 0)
    assert report.prompt_tokens > 100


@pytest.mark.parametrize("empty", ["c.jsonl", "q.jsonl"])
async def test_a_file_without_rows_is_named(
    settings: Settings, files: SetFiles, empty: str
) -> None:
    (files.corpus.parent / empty).write_text("")
    with pytest.raises(OptionInvalid, match=empty):
        await loop_grader.measure(files, settings, "mix")


def test_only_what_can_grade_is_taken() -> None:
    assert (loop_grader.is_knowing("rule"), loop_grader.is_knowing("knowing")) == (False, True)
    with pytest.raises(OptionInvalid, match="rule or knowing"):
        loop_grader.is_knowing("guess")
