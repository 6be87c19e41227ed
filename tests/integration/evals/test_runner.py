"""`sextant eval` from files to report, on a real PostgreSQL."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import Settings
from sextant.evals import runner
from sextant.evals.runner import EvalOptions, evaluate
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder

PASSAGES = [
    {"id": "p1", "title": "糖尿病", "text": "糖尿病患者的主要症状是多饮、多尿。"},
    {"id": "p2", "title": "Contract", "text": "Payment is due within 30 days of each milestone."},
    {"id": "p3", "title": "", "text": "Ownership frees memory in Rust without a collector."},
]
QUESTIONS = [
    {
        "id": "q1",
        "query": "糖尿病的主要症状",
        "gold_ids": ["p1"],
        "answers": ["多饮"],
        "type": "zh",
    },
    {
        "id": "q2",
        "query": "When is payment due?",
        "gold_ids": ["p2"],
        "answers": ["30 days"],
        "type": "en",
    },
    {"id": "q3", "query": "谁发明了电话？", "gold_ids": [], "answers": [], "type": "null"},
]


def write(path: Path, rows: Sequence[object]) -> Path:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def options(tmp_path: Path) -> EvalOptions:
    return EvalOptions(
        corpus=write(tmp_path / "corpus.jsonl.gz", PASSAGES),
        queries=write(tmp_path / "queries.jsonl", QUESTIONS),
        lanes=("keyword",),
    )


@pytest.fixture(autouse=True)
def hashed_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embeds without the model, which these tests are not about."""
    monkeypatch.setattr(runner, "build_embedder", lambda _: HashEmbedder(384))


async def test_a_corpus_and_its_questions_give_measures_by_type(
    database: Database, settings: Settings, options: EvalOptions
) -> None:
    seen: list[tuple[str, int, int]] = []
    report = await evaluate(options, settings, lambda *step: seen.append(step))
    assert report.passages == 3
    assert report.questions == 3
    assert report.measures["recall@2"].mean == 1.0
    assert report.measures["recall@2"].count == 2
    assert report.by_type["zh"]["mrr@10"].mean == 1.0
    assert report.by_type["null"] == {}
    assert report.refusal == {"auroc": 1.0}
    assert ("corpus", 3, 3) in seen
    assert ("questions", 3, 3) in seen


async def test_a_corpus_is_loaded_once(
    database: Database, settings: Settings, options: EvalOptions
) -> None:
    first = await evaluate(options, settings)
    seen: list[tuple[str, int, int]] = []
    again = await evaluate(options, settings, lambda *step: seen.append(step))
    assert again.measures == first.measures
    assert {stage for stage, _, _ in seen} == {"questions"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [(["not json"], "line 1: not a JSON object"), ([{"id": "x"}], "gold_ids"), ([], "is empty")],
)
async def test_a_bad_question_file_is_refused_with_the_line(
    settings: Settings, options: EvalOptions, tmp_path: Path, rows: list[object], said: str
) -> None:
    bad = EvalOptions(options.corpus, write(tmp_path / "bad.jsonl", rows))
    with pytest.raises(OptionInvalid, match=said):
        await evaluate(bad, settings)


async def test_a_question_that_is_empty_finds_nothing_and_is_named(
    settings: Settings, options: EvalOptions, tmp_path: Path
) -> None:
    empty = {"id": "q0", "query": " ", "gold_ids": ["p1"], "answers": [], "type": "zh"}
    queries = write(tmp_path / "queries.jsonl", [empty, *QUESTIONS[:1]])
    report = await evaluate(EvalOptions(options.corpus, queries, lanes=("keyword",)), settings)
    assert report.by_type["zh"]["recall@2"].mean == 0.5
    assert report.warnings == ("q0: The question is empty.",)


async def test_questions_whose_passages_the_corpus_has_not_are_told(
    settings: Settings, options: EvalOptions
) -> None:
    write(options.queries, [*QUESTIONS, {"id": "q4", "query": "糖尿病", "gold_ids": ["p1", "p9"]}])

    report = await evaluate(options, settings)

    [warning] = report.warnings
    assert "1 of 4 questions name some, the first is q4" in warning


async def test_passages_that_hold_nothing_are_left_out(
    settings: Settings, options: EvalOptions, tmp_path: Path
) -> None:
    nothing = [{"id": "p4", "title": "", "text": ""}, {"id": "p5", "title": "", "text": " "}]
    corpus = write(tmp_path / "some.jsonl", [*PASSAGES, *nothing])
    report = await evaluate(EvalOptions(corpus, options.queries, lanes=("keyword",)), settings)
    assert report.passages == len(PASSAGES)
    assert report.measures["recall@2"].mean == 1.0


async def test_a_missing_file_is_refused_by_name(settings: Settings, options: EvalOptions) -> None:
    with pytest.raises(OptionInvalid, match=r"nowhere\.jsonl"):
        await evaluate(EvalOptions(Path("nowhere.jsonl"), options.queries), settings)
