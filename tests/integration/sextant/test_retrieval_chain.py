"""LangChain's own chains and agents over our retrievers, and callers without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.chains.retrieval import create_retrieval_chain
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from sextant import Sextant
from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import Settings
from sextant.graph import create_query_workflow
from sextant.graph.dependencies import dependencies_over
from sextant.models.embedding import build_embedder
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI

LEAVE = "# Leave\n\nEmployees get twenty days of annual leave.\n"


def repeat_context(request: ApiRequest) -> str:
    """Answer with the passages that the prompt holds."""
    return "According to the documents: " + request.prompt.partition("Context:")[2]


async def test_a_bound_graph_retriever_serves_a_retrieval_chain(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "leave.md").write_text(LEAVE, encoding="utf-8")
    async with Sextant.open(settings) as rag, ScriptedOpenAI(chat=repeat_context) as server:
        await rag.ingest([tmp_path], graph_id="leave")
        async with dependencies_over(rag.database, build_embedder(settings)) as opened:
            retriever = opened.retriever.bind(graph_id="leave", mode="mix", top_k=2)
            assert isinstance(retriever, BaseRetriever)
            llm = ChatOpenAI(model="m", base_url=server.base_url, api_key=SecretStr("none"))
            prompt = ChatPromptTemplate.from_template("{input}\n\nContext:{context}")
            chain: Any = create_retrieval_chain(
                retriever, create_stuff_documents_chain(llm, prompt)
            )

            asked = {"input": "How many days of annual leave are there?"}
            for done in (await chain.ainvoke(asked), await asyncio.to_thread(chain.invoke, asked)):
                assert done["context"][0].metadata["filename"] == "leave.md"
                assert "twenty days" in done["answer"]

            with pytest.raises(OptionInvalid, match="graphid"):
                opened.retriever.bind(graphid="leave")


async def test_the_workflow_is_invoked_without_an_event_loop(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "leave.md").write_text(LEAVE, encoding="utf-8")
    async with Sextant.open(settings) as rag:
        await rag.ingest([tmp_path], graph_id="invoked")
        asked = {"query": "How many days of annual leave do employees get?", "graph_id": "invoked"}
        workflow = create_query_workflow(settings=settings)
        result = await asyncio.to_thread(workflow.invoke, asked)
        assert "twenty days" in result["answer"]
        answer = await asyncio.to_thread(
            rag.query_with_multimodal, asked["query"], [], graph_id="invoked"
        )
        assert "twenty days" in answer.answer


class ToolCaller(GenericFakeChatModel):
    """A chat model that calls the tools it is given as its messages say."""

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ToolCaller:
        """Return itself, since its messages are written already."""
        assert [tool.name for tool in tools] == ["handbook"]
        return self


async def test_a_retriever_is_a_tool_of_an_agent(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text(LEAVE, encoding="utf-8")
    call = {"name": "handbook", "args": {"query": "annual leave"}, "id": "1"}
    messages = iter([AIMessage("", tool_calls=[call]), AIMessage("Twenty days.")])
    async with Sextant.open(settings) as rag:
        await rag.ingest([tmp_path], graph_id="agent")
        async with rag.hybrid_retriever("agent") as retriever:
            tool = create_retriever_tool(retriever, "handbook", "Passages of the staff handbook.")
            agent: Any = create_agent(ToolCaller(messages=messages), [tool])
            done = await agent.ainvoke({"messages": [("user", "How many days of leave?")]})
    asked, called, found, said = done["messages"]
    assert (asked.type, called.type, said.text) == ("human", "ai", "Twenty days.")
    assert "twenty days of annual leave" in found.text
