"""A knowledge base whose embedding model, reranker and judge are models of sentence-transformers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sextant import Sextant
from sextant.domain.settings import Settings
from sextant.domain.settings.questions import AnswerSettings
from sextant.testing.openai_server import ScriptedOpenAI
from tests.integration.own_database import settings_over, short_folder
from tests.local.tiny_models import ENTAILMENT, save_cross_encoder, save_encoder

LINES = (
    "Employees get twenty days of annual leave.",
    "A laptop is replaced after four years.",
    "The canteen opens at noon.",
)
QUESTION = "How many days of annual leave do employees get?"
WORDS = re.findall(r"\w+|[.?:]", " ".join((*LINES, QUESTION, "query passage")).lower())
MODEL = "sentence-transformers:"
# What an entailment model says whatever it reads.
YES, NO = (0.0, 30.0, 0.0), (30.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Yield the settings of one data folder and one embedding model for all tests here."""
    encoder = save_encoder(tmp_path_factory.mktemp("models") / "encoder", WORDS)
    with short_folder() as folder:
        yield settings_over(folder).model_copy(update={"embedding": MODEL + encoder})


@asynccontextmanager
async def opened(settings: Settings, **changed: object) -> AsyncIterator[Sextant]:
    """Provide a knowledge base of `LINES`, each a document."""
    async with Sextant.open(settings.model_copy(update=changed)) as rag:
        await rag.import_graph(
            {"type": "document", "id": f"d{number}", "text": line}
            for number, line in enumerate(LINES)
        )
        yield rag


async def test_a_model_by_its_path_embeds_documents_and_questions(settings: Settings) -> None:
    async with opened(settings) as rag:
        answer = await rag.query(QUESTION)
        found = await rag.search(QUESTION, mode="naive")
    assert [citation.quote for citation in answer.citations] == [LINES[0]]
    assert found.warnings == ()
    assert {item.text for item in found.results} == set(LINES)


async def test_a_cross_encoder_orders_what_was_found(settings: Settings, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    model = save_cross_encoder(tmp_path, WORDS)
    scores = CrossEncoder(model).predict([(QUESTION, line) for line in LINES])
    expected = sorted(zip(map(float, scores), LINES, strict=True), reverse=True)
    patient = settings.retrieval.model_copy(update={"rerank_timeout": 600.0})
    async with opened(settings, reranker=MODEL + model, retrieval=patient) as rag:
        found = await rag.search(QUESTION, mode="mix")
    assert found.warnings == ()
    assert [item.text for item in found.results] == [line for _, line in expected]
    assert [item.lanes["rerank"].score for item in found.results] == pytest.approx(
        [score for score, _ in expected], abs=1e-5
    )


@pytest.mark.parametrize(
    ("verdict", "model"),
    [
        pytest.param(YES, "scripted", id="what it lets pass stands"),
        pytest.param(NO, "extractive", id="what it refuses is replaced by a quotation"),
    ],
)
async def test_an_entailment_model_judges_what_a_chat_model_wrote(
    settings: Settings, tmp_path: Path, verdict: tuple[float, ...], model: str
) -> None:
    judge = save_cross_encoder(tmp_path, WORDS, ENTAILMENT, verdict)
    patient = settings.limits.model_copy(update={"answer_seconds": 600.0})
    async with (
        ScriptedOpenAI(lambda _: "Staff may stay away for twenty days[1].") as endpoint,
        opened(
            settings,
            answers=AnswerSettings(judge=MODEL + judge),
            chat_model="scripted",
            openai_base_url=endpoint.base_url,
            limits=patient,
        ) as rag,
    ):
        answer = await rag.query(QUESTION)
    assert answer.model == model
    # Words alone would give the first less, since it shares two of them with its quotation.
    assert [citation.support for citation in answer.citations] == [1.0]
    assert [citation.quote for citation in answer.citations] == [LINES[0]]
