"""Upload, retriever, LangChain chain, answer: the packaged model, a real database, a scripted chat model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from sextant import Sextant
from sextant.domain.errors import GraphNotFound, OptionInvalid
from sextant.domain.settings import Settings
from sextant.retrievers import HybridRetriever
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI

FILES = {
    "糖尿病.md": "# 糖尿病\n\n糖尿病患者的主要症状是多饮、多尿、多食和体重下降。\n",
    "付款.md": "# 付款节点\n\n合同签订后支付 30%，终验合格后支付 15%。\n",
    "rust.md": "# Rust\n\nEach value in Rust has exactly one owner at a time.\n",
}


def first_passage(request: ApiRequest) -> str:
    """Return a chat model that answers with the first passage that it was given."""
    return "依据文档：" + request.prompt.partition("<1>")[2].partition("</1>")[0]


def retrieval_chain(
    retriever: HybridRetriever, llm: ChatOpenAI
) -> Runnable[dict[str, Any], dict[str, object]]:
    """Return what `create_retrieval_chain` makes, in LCEL: input → context → answer."""
    prompt = ChatPromptTemplate.from_template("{passages}\n\n问题：{input}")

    def numbered(found: dict[str, Sequence[Document]]) -> str:
        return "\n".join(
            f"<{place}>{one.page_content}</{place}>"
            for place, one in enumerate(found["context"], start=1)
        )

    find = RunnablePassthrough.assign(
        context=RunnableLambda(lambda asked: asked["input"]) | retriever
    )
    answer = RunnablePassthrough.assign(passages=numbered) | prompt | llm | StrOutputParser()
    return find | RunnablePassthrough.assign(answer=answer)


async def test_an_uploaded_document_is_what_the_chain_answers_with(
    settings: Settings, tmp_path: Path
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    async with Sextant.open(settings) as rag, ScriptedOpenAI(chat=first_passage) as server:
        await rag.ingest([tmp_path])
        llm = ChatOpenAI(model="scripted", base_url=server.base_url, api_key=SecretStr("none"))
        async with rag.hybrid_retriever(limit=2) as retriever:
            chain = retrieval_chain(retriever, llm)
            for question, name, held in (
                ("糖尿病有哪些症状？", "糖尿病.md", "多饮、多尿"),
                ("签订合同后付多少？", "付款.md", "支付 30%"),
                ("How many owners has a value in Rust?", "rust.md", "exactly one owner"),
            ):
                done = await chain.ainvoke({"input": question})
                context = done["context"]
                assert isinstance(context, list)
                assert context[0].metadata["filename"] == name
                assert held in str(done["answer"])
            also = await asyncio.to_thread(chain.invoke, {"input": "糖尿病有哪些症状？"})
            assert "多饮、多尿" in str(also["answer"])


async def test_the_settings_are_the_options_but_for_those_given(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text(FILES["rust.md"], encoding="utf-8")
    tuned = settings.retrieval.model_copy(
        update={"rrf_k": 10, "bm25_rerank": False, "bm25_at_start": True}
    )
    async with Sextant.open(settings.model_copy(update={"retrieval": tuned})) as rag:
        await rag.ingest([tmp_path], graph_id="tuned")
        async with rag.hybrid_retriever("tuned", limit=3, bm25Weight=0.5) as retriever:
            options = retriever.options
            assert (options.rrf_k, options.limit, options.bm25_weight) == (10, 3, 0.5)
            assert retriever.bm25.keys == [retriever._store.rows.key]
            [found] = await retriever.ainvoke("owner Rust")
            assert found.metadata["score"] == pytest.approx(0.7 / 11 + 0.3 / 11)
        with pytest.raises(OptionInvalid, match="limit"):
            async with rag.hybrid_retriever("tuned", limit=0):
                pass
        with pytest.raises(GraphNotFound):
            async with rag.hybrid_retriever("nowhere"):
                pass
