"""Answers of a chat model are measured from a folder of sets to the report, over a loopback endpoint."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest

from benchmarks.quality import model_answers, sets
from benchmarks.quality.model_answers import COLUMNS, REPORT, measure
from benchmarks.quality.sets import CORPUS, JUDGED, QUERIES
from sextant.domain.errors import ModelUnavailable, SettingsInvalid
from sextant.domain.settings import Settings
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, failing

PASSAGES = [
    {"id": "p1", "title": "Contract", "text": "Payment is due within 30 days of each milestone."},
    {"id": "p2", "title": "Rust", "text": "Ownership frees memory in Rust without a collector."},
]
QUESTIONS = [
    {"id": "q1", "query": "When is payment due?", "gold_ids": ["p1"], "answers": ["30 days"]},
    {"id": "q2", "query": "What frees memory?", "gold_ids": ["p2"], "answers": ["Ownership"]},
]
JUDGED_ROW = {
    "id": "n1",
    "language": "en",
    "query": "When is payment due?",
    "passages": [{"title": "Weather", "text": "It was mild that week."}],
    "answerable": False,
}


UseSettings = Callable[..., None]


def write(path: Path, rows: Sequence[object]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "facts" / CORPUS, PASSAGES)
    write(tmp_path / "facts" / QUERIES, QUESTIONS)
    write(tmp_path / "judged" / JUDGED, [JUDGED_ROW])
    (tmp_path / "docs" / "reports").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def use_settings(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> UseSettings:
    """Measure with these changes of the session's settings, and without the embedding model."""
    monkeypatch.setattr(sets, "build_embedder", lambda _: HashEmbedder(384))

    def use(**changes: object) -> None:
        chosen = settings.model_copy(update={"model_retries": 0, **changes})
        monkeypatch.setattr(model_answers, "load_settings", lambda: chosen)

    return use


def reply(request: ApiRequest) -> str:
    if request.wants_json:
        return "{}"
    if "mild" in request.prompt:
        return "The documents do not say."
    number = 1 if request.prompt.index("30 days") < request.prompt.index("Ownership frees") else 2
    return f"Payment is due within 30 days of each milestone [{number}]."


async def test_sets_are_asked_once_and_written_as_a_report(
    folder: Path, use_settings: UseSettings
) -> None:
    async with ScriptedOpenAI(reply) as endpoint:
        use_settings(chat_model="scripted", openai_base_url=endpoint.base_url)
        await measure(folder, ["facts", "judged"], "mix", 5, folder / "docs")
        asked = len(endpoint.chat_requests)
        await measure(folder, ["facts", "judged"], "mix", 5, folder / "docs")
        assert len(endpoint.chat_requests) == asked
    report = orjson.loads((folder / "docs" / "reports" / f"{REPORT}.json").read_bytes())
    facts, judged = (dict(zip(COLUMNS, row, strict=True)) for row in report["rows"])
    command = "make eval-answers QUESTIONS=5 ANSWER_SETS='facts judged'"
    assert report["measured"]["command"] == command
    assert (facts["set"], facts["model"], facts["questions"]) == ("facts", "scripted", 2)
    assert facts["tokens in"] > 0
    assert facts["answer held"] == [50, 0, 100]
    assert (judged["set"], judged["questions"]) == ("judged", 1)
    assert judged["declined, unanswerable"] == [100, 100, 100]
    assert judged["answer held"] == "–"


async def test_a_question_that_a_model_fails_at_is_left_out_and_asked_again(
    folder: Path, use_settings: UseSettings
) -> None:
    rows = [{**JUDGED_ROW, "id": f"n{number}"} for number in range(2)]
    write(folder / "judged" / JUDGED, rows)
    replies: list[Reply | str] = [failing(500), *["The documents do not say."] * 2]
    async with ScriptedOpenAI(replies) as endpoint:
        use_settings(chat_model="scripted", openai_base_url=endpoint.base_url)
        asked = list[int]()
        for _ in range(2):
            await measure(folder, ["judged"], "mix", 5, folder / "docs")
            report = orjson.loads((folder / "docs" / "reports" / f"{REPORT}.json").read_bytes())
            [row] = report["rows"]
            asked.append(dict(zip(COLUMNS, row, strict=True))["questions"])
    assert asked == [1, 2]


async def test_a_model_that_is_gone_ends_the_measuring(
    folder: Path, use_settings: UseSettings
) -> None:
    rows = [{**JUDGED_ROW, "id": f"n{number}"} for number in range(9)]
    write(folder / "judged" / JUDGED, rows)
    async with ScriptedOpenAI(lambda _: failing(500)) as endpoint:
        use_settings(chat_model="scripted", openai_base_url=endpoint.base_url)
        with pytest.raises(ModelUnavailable):
            await measure(folder, ["judged"], "mix", 9, folder / "docs")
        assert len(endpoint.chat_requests) == 3


async def test_without_a_chat_model_it_is_said_what_to_set(
    folder: Path, use_settings: UseSettings
) -> None:
    use_settings(chat_model=None)
    with pytest.raises(SettingsInvalid, match="No chat model") as raised:
        await measure(folder, ["facts"], "mix", 5, folder / "docs")
    assert "SEXTANT_CHAT_MODEL" in raised.value.next_step
