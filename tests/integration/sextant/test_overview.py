"""What documents are about is told without a chat model: of few each by itself, of one by its sections."""

from __future__ import annotations

from pathlib import Path

import pytest

from sextant import Sextant
from sextant.domain.settings import Settings
from sextant.models.embedding.cache import CachedEmbedder
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ScriptedOpenAI

FILES = {
    "lease.md": "# Lease\n\nThe flat at 14 Quay Street is let to Petra Novak.\n\n## Rent\n\nThe rent is 840 EUR.\n",
    "tea.md": "# Tea\n\nWhere does green tea come from? Green tea comes from Camellia sinensis.\n",
    "prices.csv": "product,price\ntable,320\nchair,95\n",
}


async def ask(settings: Settings, folder: Path, question: str, mode: str) -> tuple[str, bool]:
    async with Sextant.open(settings, embedder=CachedEmbedder(HashEmbedder(384), 9)) as rag:
        await rag.ingest([folder])
        answer = await rag.query(question, mode=mode)
        return answer.answer, answer.declined


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("What are these documents about?", "auto"),
        ("Give me an overview.", "naive"),
        ("这些文档讲了什么？", "auto"),
        ("文档里有哪些内容？", "mix"),
    ],
)
async def test_each_of_few_documents_is_told(
    settings: Settings, tmp_path: Path, question: str, mode: str
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    answer, declined = await ask(settings, tmp_path, question, mode)
    assert not declined
    for told in ("14 Quay Street", "Camellia sinensis", "product"):
        assert told in answer


@pytest.mark.usefixtures("database")
async def test_a_document_that_is_alone_is_told_by_its_sections(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "lease.md").write_text(FILES["lease.md"])
    answer, declined = await ask(settings, tmp_path, "What is this document about?", "auto")
    assert not declined
    assert "14 Quay Street" in answer
    assert "840 EUR" in answer


@pytest.mark.usefixtures("database")
async def test_a_chat_model_reads_the_beginning_of_each_document(
    settings: Settings, tmp_path: Path
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    async with ScriptedOpenAI(lambda _: "They are about a lease, tea and prices.") as server:
        chosen = settings.model_copy(
            update={"chat_model": "tiny", "openai_base_url": server.base_url}
        )
        async with Sextant.open(chosen, embedder=CachedEmbedder(HashEmbedder(384), 9)) as rag:
            await rag.ingest([tmp_path])
            server.requests.clear()
            await rag.query("What are these documents about?")
        prompt = server.chat_requests[-1].prompt
    for told in ("14 Quay Street", "Camellia sinensis", "| chair | 95 |"):
        assert told in prompt
