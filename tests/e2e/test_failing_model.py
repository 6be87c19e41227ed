"""What `sextant ask` says when the chat model fails: one note with a next step, and quotations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Sextant
from tests.e2e.failing_model import FAILURES, FailingModel, failing_model, speaks_of_model

pytestmark = pytest.mark.e2e

GRAPH = "failing model"
TEXTS = {
    "症状.md": "# 糖尿病\n\n糖尿病患者的主要症状是多饮、多尿、多食和体重下降。\n",
    "ferry.md": "# Ferry\n\nThe ferry to Harwich leaves at seven in the evening.\n",
}


@pytest.fixture(scope="module")
def model() -> Iterator[FailingModel]:
    with failing_model() as listening:
        yield listening


@pytest.fixture(scope="module")
def filled(sextant: Sextant, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("texts")
    for name, text in TEXTS.items():
        Path(folder / name).write_text(text, "utf-8")
    sextant("ingest", folder, "--graph", GRAPH, "--json").json()


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("how", "question", "quoted"),
    [(how, "糖尿病患者的主要症状是什么？", "多饮") for how in FAILURES]
    + [("refused key", "When does the ferry to Harwich leave?", "seven in the evening")],
)
def test_one_note_says_in_the_questions_language_what_failed_and_what_to_do(
    sextant: Sextant, model: FailingModel, how: str, question: str, quoted: str
) -> None:
    model.failure = failure = FAILURES[how]
    answer = sextant("ask", question, "--graph", GRAPH, "--json", **model.variables).json()
    notes = [warning for warning in answer["warnings"] if speaks_of_model(warning)]
    assert len(notes) == 1, notes
    assert (failure.step if question.isascii() else failure.step_zh) in notes[0]
    assert quoted in answer["answer"]
    assert answer["citations"]


@pytest.mark.usefixtures("filled")
def test_a_failure_without_quotations_is_told_with_its_next_step(
    sextant: Sextant, model: FailingModel
) -> None:
    model.failure = FAILURES["refused key"]
    asked = ("ask", "请写一首短诗。", "--graph", GRAPH, "--mode", "bypass")
    error = sextant(*asked, "--json", **model.variables).error()
    assert error["message"] == "聊天模型 scripted 拒绝了密钥（401）。"
    assert error["next_step"] == "请把 OPENAI_API_KEY 设为该服务接受的密钥。"
    told = sextant(*asked, **model.variables)
    assert (told.status, told.out.strip()) == (3, "")
    assert "拒绝了密钥（401）。" in told.err
    assert "请把 OPENAI_API_KEY 设为该服务接受的密钥。" in told.err
