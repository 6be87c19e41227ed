"""The knowledge bases as tools and as a subagent of LangChain's own agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from deepagents import create_deep_agent  # type: ignore[import-untyped]
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

from sextant import Sextant, create_query_workflow
from sextant.domain.settings import Settings
from sextant.nodes.context import Context
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, calling
from sextant.tools import Answered, FoundPage, RelatedPassages, create_tools, kb_ask

LEAVE = """# Leave

## Annual leave

Employees get twenty days of annual leave.

## Sick leave

A doctor's note is due on the third day of sick leave.
"""
CANARY = "# Birds\n\nThe canary sings at midnight in the Zanzibar office.\n"
QUESTION = "How many days of annual leave do employees get?"


@pytest_asyncio.fixture(scope="module")
async def rag(settings: Settings) -> AsyncIterator[Sextant]:
    """Yield knowledge bases: `hr` of the settings' user, and another user's of the same name."""
    async with Sextant.open(settings) as opened:
        folder = Path(settings.data_dir)
        for owner, name, text in (
            (opened, "leave.md", LEAVE),
            (opened.as_user("other"), "birds.md", CANARY),
        ):
            (folder / name).write_text(text, encoding="utf-8")
            await owner.ingest([folder / name], graph_id="hr")
        yield opened


def model_of(server: ScriptedOpenAI) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=server.base_url, api_key=SecretStr("none"))


async def called(one: BaseTool, **arguments: object) -> ToolMessage:
    """Return the message of a call as a model makes it."""
    call = {"name": one.name, "args": arguments, "id": str(uuid4()), "type": "tool_call"}
    message = await one.ainvoke(call)
    assert isinstance(message, ToolMessage)
    return message


async def test_results_are_text_for_the_model_and_typed_for_the_program(rag: Sextant) -> None:
    search, ask, related = create_tools(rag, graph_id="hr")
    found = await called(search, query="annual leave", limit=1)
    assert isinstance(found.artifact, FoundPage)
    [hit] = found.artifact.results
    assert "twenty days" in hit.text
    assert "twenty days" in found.text
    assert hit.chunk_id in found.text

    around = await called(related, chunk_id=hit.chunk_id)
    assert isinstance(around.artifact, RelatedPassages)
    assert any("doctor's note" in one.text for one in around.artifact.results)

    answer = await called(ask, query=QUESTION)
    assert isinstance(answer.artifact, Answered)
    assert answer.artifact.citations[0].quote == "Employees get twenty days of annual leave."
    assert answer.text.startswith(answer.artifact.answer)
    assert "[1] leave.md" in answer.text


async def test_no_argument_of_a_model_names_a_user_or_a_knowledge_base(rag: Sextant) -> None:
    for one in create_tools(rag, graph_id="hr", user_id="other"):
        schema: dict[str, Any] = one.tool_call_schema.model_json_schema()  # type: ignore[union-attr]
        assert not {"userId", "user_id", "graphId", "graph_id"} & schema["properties"].keys()
    search = create_tools(rag, graph_id="hr", user_id="other").search
    refused = await called(search, query="annual leave", user_id=rag.user_id)
    assert (refused.status, refused.artifact) == ("error", None)
    assert refused.text.startswith("option_invalid: user_id: ")
    found = await called(search, query="annual leave")
    assert {hit.filename for hit in found.artifact.results} == {"birds.md"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"query": "leave", "limit": -1}, "limit"),
        ({"query": "leave", "mode": "nonsense"}, "mode"),
        ({"query": ""}, "query"),
        ({}, "query"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model(
    arguments: dict[str, Any], field: str, rag: Sextant
) -> None:
    refused = await called(create_tools(rag, graph_id="hr").search, **arguments)
    assert refused.status == "error"
    assert refused.text.startswith(f"option_invalid: {field}: ")


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": None, "filters": None},
        {"mode": "", "filters": ""},
        {"filters": "{}"},
        {"filters": {"tags": None, "documentIds": "leave.md"}},
        {"filters": '{"documentIds": ["leave.md"]}'},
    ],
)
async def test_arguments_are_read_as_models_write_them(
    arguments: dict[str, Any], rag: Sextant
) -> None:
    for one in create_tools(rag, graph_id="hr")[:2]:
        found = await called(one, query=QUESTION, **arguments)
        assert found.status == "success", found.text


async def test_whom_a_call_is_for_may_be_asked_at_each_call(rag: Sextant) -> None:
    users = iter(["other", rag.user_id])
    search = create_tools(rag, graph_id=lambda: "hr", user_id=lambda: next(users)).search
    names = [(await called(search, query="leave")).artifact.results[0].filename for _ in "12"]
    assert names == ["birds.md", "leave.md"]


async def test_what_goes_wrong_is_a_message_that_says_what_to_do(rag: Sextant) -> None:
    missing = await called(create_tools(rag, graph_id="none").ask, query=QUESTION)
    assert missing.status == "error"
    assert missing.text.startswith("graph_not_found: ")
    assert "create_tools(graph_id=…)" in missing.text
    assert "--" not in missing.text, "no flag of a command line, which a model has not"
    strange = await called(create_tools(rag, graph_id="hr").related, chunk_id="x")
    assert (strange.status, strange.artifact) == ("error", None)
    assert strange.text.startswith("chunk_not_found: ")


@pytest.mark.parametrize("effort", ["medium", "high"])
async def test_an_agent_looks_up_and_answers(rag: Sextant, effort: str) -> None:
    def reply(request: ApiRequest) -> Reply | str:
        tools = [one["function"]["name"] for one in request.body["tools"]]
        assert tools == ["kb_search", "kb_ask", "kb_related"]
        if request.messages[-1]["role"] == "user":
            return calling("kb_ask", query=QUESTION, effort=effort)
        return "Twenty days [1]." if "twenty days" in request.prompt else "I do not know."

    async with ScriptedOpenAI(reply) as server:
        agent: Any = create_agent(
            model_of(server), create_tools(rag, graph_id="hr"), checkpointer=InMemorySaver()
        )
        run = {"configurable": {"thread_id": "1"}}
        done = await agent.ainvoke({"messages": [("user", QUESTION)]}, run)
    _, _, found, said = done["messages"]
    assert said.text == "Twenty days [1]."
    assert isinstance(found.artifact, Answered)


async def test_a_misspelt_bound_is_told_to_the_model_and_widens_nothing(rag: Sextant) -> None:
    def reply(request: ApiRequest) -> Reply | str:
        if request.messages[-1]["role"] == "user":
            return calling("kb_search", query="leave", filters={"tag": ["x"]})
        return "Sorry."

    async with ScriptedOpenAI(reply) as server:
        agent: Any = create_agent(model_of(server), create_tools(rag, graph_id="hr"))
        done = await agent.ainvoke({"messages": [("user", QUESTION)]})
    refused = done["messages"][2]
    assert refused.status == "error"
    assert "Did you mean `tags`?" in refused.text


def test_tools_over_settings_serve_callers_with_and_without_an_event_loop(
    settings: Settings, rag: Sextant
) -> None:
    ask = create_tools(settings=settings, graph_id="hr").ask
    assert "twenty days" in ask.invoke({"query": QUESTION})
    for _ in range(2):  # each with a loop of its own
        assert "twenty days" in asyncio.run(ask.ainvoke({"query": QUESTION}))


async def test_an_agent_without_a_loop_keeps_its_own_checkpoints(
    settings: Settings, rag: Sextant
) -> None:
    async with ScriptedOpenAI([calling("kb_ask", query=QUESTION), "Twenty days."]) as server:
        saver = InMemorySaver()
        agent: Any = create_agent(
            model_of(server), create_tools(settings=settings, graph_id="hr"), checkpointer=saver
        )
        run = {"configurable": {"thread_id": "1"}}
        asked = {"messages": [("user", QUESTION)]}
        done = await asyncio.to_thread(agent.invoke, asked, run)
    assert "twenty days" in done["messages"][2].text
    assert list(saver.storage["1"]) == [""]


def test_the_tools_of_the_environment_open_nothing_until_they_are_called() -> None:
    assert (kb_ask.name, kb_ask.response_format) == ("kb_ask", "content_and_artifact")


async def test_the_workflow_is_a_subagent(rag: Sextant) -> None:
    """As deepagents calls a `CompiledSubAgent`: with the task as its only message, inside of a tool."""
    workflow = create_query_workflow(
        dependencies=await rag.dependencies(), context=Context(graph_id="hr")
    )
    assert await task_of(workflow, context={"agent": "a"}) == "twenty days"
    others = create_query_workflow(
        dependencies=await rag.as_user("other").dependencies(), context=Context(graph_id="hr")
    )
    assert await task_of(others, context=None) == "canary"


async def test_a_deep_agent_delegates_to_the_workflow(rag: Sextant) -> None:
    documents: Any = {
        "name": "documents",
        "description": "Answers questions about the staff handbook, with citations.",
        "runnable": create_query_workflow(
            dependencies=await rag.dependencies(), context=Context(graph_id="hr")
        ),
    }
    delegating = calling("task", description=QUESTION, subagent_type="documents")
    async with ScriptedOpenAI([delegating, "Done."]) as server:
        agent: Any = create_deep_agent(model=model_of(server), subagents=[documents])
        done = await agent.ainvoke({"messages": [("user", QUESTION)]})
    [said] = [one.text for one in done["messages"] if one.type == "tool"]
    assert "twenty days" in said
    assert "[1] " in said.partition("Sources:")[2]  # its citations reach no further than its text
    assert done["messages"][-1].text == "Done."


async def task_of(workflow: Any, context: object) -> str:
    """Return what an agent learns that delegates to the workflow."""

    @tool
    async def task(description: str) -> str:
        """Delegate to a subagent."""
        state = await workflow.ainvoke({"messages": [HumanMessage(description)]})
        last = state["messages"][-1]
        assert isinstance(last, AIMessage)
        return last.text

    async with ScriptedOpenAI([calling("task", description=QUESTION), "Done."]) as server:
        agent: Any = create_agent(
            model_of(server), [task], checkpointer=InMemorySaver(), context_schema=dict
        )
        run = {"configurable": {"thread_id": "1"}}
        done = await agent.ainvoke({"messages": [("user", QUESTION)]}, run, context=context)
    said = done["messages"][2].text
    return next(word for word in ("twenty days", "canary") if word in said)
