"""`langgraph dev` as LangGraph Studio uses it: assistants, the context form, runs, streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from sextant.graph.streaming import parse_event
from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.studio import developing, foreign_routes

pytestmark = pytest.mark.e2e

# An image of one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
QUESTION = {"query": "糖尿病患者的主要症状是什么？", "graph_id": "studio"}


@pytest.fixture(scope="module")
def server(environment: dict[str, str], sextant: Sextant) -> Iterator[str]:
    """Yield a running `langgraph dev` over one ingested sample, without logins."""
    guide = SAMPLES / "documents" / "糖尿病诊疗指南.pdf"
    sextant("ingest", guide, "--graph", "studio", "--json").json()
    with developing(environment) as address:
        yield address


@pytest.fixture
def client(server: str) -> LangGraphClient:
    return get_client(url=server)


async def run(client: LangGraphClient, **options: Any) -> list[tuple[str, Any]]:
    parts = client.runs.stream(None, "sextant", stream_mode=["custom", "values"], **options)
    return [(part.event, part.data) async for part in parts]


async def test_studio_finds_the_graph_and_its_context_form(client: LangGraphClient) -> None:
    # Those that a developer made with `make dev` are kept in the checkout.
    [assistant] = await client.assistants.search(metadata={"created_by": "system"})
    assert assistant["graph_id"] == "sextant"
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    form = schemas["context_schema"]
    assert form is not None
    assert set(form["properties"]) == {
        "mode", "graph_id", "top_k", "max_attempts", "repair", "language", "interrupts", "approve_sources",
        "effort",
    }  # fmt: skip
    assert all(field["description"] for field in form["properties"].values())
    assert "bypass" in form["properties"]["mode"]["enum"]
    drawn = await client.assistants.get_graph(assistant["assistant_id"])
    names = [str(node["id"]) for node in drawn["nodes"]]
    assert names[1:-1] == [
        "analyze", "route", "retrieve", "grade", "refine", "generate", "research", "compose",
    ]  # fmt: skip
    within = await client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert {"research:plan", "research:write"} <= {str(node["id"]) for node in within["nodes"]}


async def test_a_report_streams_its_plan_and_its_sections(client: LangGraphClient) -> None:
    parts = await run(client, input=QUESTION | {"effort": "high"}, stream_subgraphs=True)
    events = [parse_event(data) for kind, data in parts if kind.partition("|")[0] == "custom"]
    assert {"plan", "progress", "token"} <= {event.type for event in events}
    result = [data for kind, data in parts if kind == "values"][-1]
    assert "".join(event.text for event in events if event.type == "token") == result["answer"]
    assert (result["effort"], bool(result["citations"])) == ("high", True)


async def test_a_run_streams_events_and_ends_with_a_cited_answer(client: LangGraphClient) -> None:
    parts = await run(client, input=QUESTION, context={"top_k": 4})
    events = [parse_event(data) for kind, data in parts if kind == "custom"]
    assert {event.type for event in events} == {
        "status", "retrieval", "token", "citation", "sources"
    }  # fmt: skip
    result = [data for kind, data in parts if kind == "values"][-1]
    assert "".join(event.text for event in events if event.type == "token") == result["answer"]
    assert result["mode"] == "mix"
    assert result["citations"]
    assert result["sources"][0]["filename"] == "糖尿病诊疗指南.pdf"
    assert not [data for kind, data in parts if kind == "error"]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({}, "question_invalid"),
        ({"query": "Why?", "mode": "telepathy"}, "mode_not_available"),
        ({"query": "Why?", "graph_id": "nowhere"}, "graph_not_found"),
    ],
)
async def test_bad_input_is_told_with_its_code_and_next_step(
    client: LangGraphClient, asked: dict[str, Any], code: str
) -> None:
    parts = await run(client, input=asked)
    [failed] = [data for kind, data in parts if kind == "custom" and data["type"] == "error"]
    assert failed["code"] == code
    assert failed["detail"]["next_step"]
    assert parts[-1][0] == "error"


async def test_a_thread_keeps_its_state_and_starts_each_turn_afresh(
    client: LangGraphClient,
) -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "sextant", input=QUESTION)
    again = await client.runs.wait(thread, "sextant", input={"query": "你好"})
    assert isinstance(again, dict)
    assert (again["mode"], again["citations"], again["attempts"]) == ("bypass", [], 0)
    history = await client.threads.get_history(thread)
    assert len(history) > 2


async def test_whoever_only_waits_for_a_run_is_told_what_is_wrong(client: LangGraphClient) -> None:
    with pytest.raises(Exception, match=r"no mode `telepathy`\. Available modes"):
        await client.runs.wait(None, "sextant", input={"query": "Why?", "mode": "telepathy"})


async def test_an_assistant_is_of_a_knowledge_base_and_chats_with_it_by_messages_alone(
    client: LangGraphClient,
) -> None:
    chosen = {"graph_id": "studio", "mode": "naive"}
    assistant = (await client.assistants.create("sextant", context=chosen))["assistant_id"]
    said: dict[str, Any] = {"messages": [{"role": "user", "content": QUESTION["query"]}]}
    result = await client.runs.wait(None, assistant, input=said)
    await client.assistants.delete(assistant)
    assert isinstance(result, dict)
    assert result["mode"] == "naive"
    assert result["citations"]


async def test_a_run_that_was_stopped_goes_on_with_its_question_and_edited_passages(
    client: LangGraphClient,
) -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "sextant", input=QUESTION, interrupt_after=["retrieve"])
    values = (await client.threads.get_state(thread))["values"]
    assert isinstance(values, dict)
    await client.threads.update_state(thread, {"items": values["items"][:1]}, as_node="retrieve")
    result = await client.runs.wait(thread, "sextant", input=None)
    assert isinstance(result, dict)
    assert result["messages"][0]["content"] == QUESTION["query"]
    assert [one["chunk_id"] for one in result["sources"]] == [values["items"][0]["id"]]


async def test_a_run_waits_for_a_person_and_goes_on_as_agent_chat_ui_resumes_it(
    client: LangGraphClient,
) -> None:
    thread = (await client.threads.create())["thread_id"]
    asks = {"interrupts": True, "approve_sources": True}
    await client.runs.wait(thread, "sextant", input=QUESTION, context=asks)
    waiting = await client.threads.get(thread)
    assert waiting["status"] == "interrupted"
    [[interrupt]] = waiting["interrupts"].values()
    request: Any = interrupt["value"]
    # What agent-chat-ui takes for a form, and the edit that it sends back.
    [action], [config] = request["action_requests"], request["review_configs"]
    assert config["action_name"] == action["name"] == "approve_sources"
    edit = {"name": action["name"], "args": action["args"] | {"choice": "1"}}
    decisions = [{"type": "edit", "edited_action": edit}]
    result = await client.runs.wait(thread, "sextant", command={"resume": {"decisions": decisions}})
    assert isinstance(result, dict)
    assert len({source["chunk_id"] for source in result["sources"]}) == 1
    assert (await client.threads.get(thread))["status"] == "idle"


async def test_branches_of_a_round_are_streamed_with_their_queries(client: LangGraphClient) -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "sextant", input=QUESTION, interrupt_before=["retrieve"])
    due = {"search": "糖尿病症状", "extra_queries": ["糖尿病治疗"], "cross_lingual_queries": []}
    await client.threads.update_state(thread, due, as_node="route")
    parts = client.runs.stream(
        thread, "sextant", input=None, stream_mode="updates", stream_subgraphs=True
    )
    branches = [
        outcome
        async for part in parts
        if part.event.startswith("updates|retrieve:")
        for _, outcome in part.data["search"]["outcomes"]
    ]
    assert {branch["query"] for branch in branches} == {"糖尿病症状", "糖尿病治疗"}
    assert all(branch["found"]["timings"]["total"] > 0 for branch in branches)


async def test_langgraph_s_own_agent_protocols_are_off_and_mcp_is_ours(server: str) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=server, timeout=60) as client:
        assert (await client.post("/a2a/sextant", json=hello)).status_code == 404
        assert (await client.get("/.well-known/agent-card.json")).status_code == 404
        tools = await client.post("/mcp", json=hello, headers=accept)
    assert "kb.ask" in tools.text


async def test_a_chat_goes_on_by_messages_alone(client: LangGraphClient) -> None:
    """As Studio's chat and agent-chat-ui talk: messages in, messages out."""
    thread = (await client.threads.create())["thread_id"]
    image = {"type": "image", "mime_type": "image/png", "base64": PIXEL}
    asked: list[Any] = [QUESTION["query"], [{"type": "text", "text": "它怎么治疗？"}, image]]
    for content in asked:
        said: dict[str, Any] = {
            "messages": [{"role": "user", "content": content}],
            "graph_id": "studio",
        }
        parts = [
            part
            async for part in client.runs.stream(
                thread, "sextant", input=said, stream_mode=["messages-tuple", "values"]
            )
        ]
        assert not [part.data for part in parts if part.event == "error"]
    streamed = [part.data[0] for part in parts if part.event == "messages"]
    values = (await client.threads.get_state(thread))["values"]
    assert isinstance(values, dict)
    messages = values["messages"]
    assert [one["type"] for one in messages] == ["human", "ai"] * 2
    assert messages[1]["additional_kwargs"]["citations"]
    assert messages[3]["content"] == values["answer"]
    assert messages[3]["id"] in [one["id"] for one in streamed]
    assert messages[2]["content"] == "它怎么治疗？\n[image]"
    assert "糖尿病" in values["question"]  # what "它" is, from the first turn
    assert PIXEL not in str(values)


@pytest.mark.parametrize(
    ("origin", "status"), [("https://smith.langchain.com", 200), ("https://other.example", 403)]
)
async def test_of_other_sites_only_studio_s_page_may_ask(
    server: str, origin: str, status: int
) -> None:
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
    async with httpx.AsyncClient(base_url=server, headers=headers, timeout=60) as client:
        assert (await client.post("/assistants/search", json={})).status_code == status


async def test_a_chat_page_of_another_site_may_ask_whether_the_server_is_there(server: str) -> None:
    asked = {
        "Origin": "https://chat.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "x-api-key",
    }
    async with httpx.AsyncClient(base_url=server, headers=asked, timeout=60) as page:
        allowed = [(await page.options(path)).headers for path in ("/info", "/threads/search")]
        ours = (await page.options("/api/graphs")).headers
    assert all(one["access-control-allow-origin"] == "*" for one in allowed)
    assert "access-control-allow-headers" not in ours


@pytest.mark.parametrize(
    "fetched", [{"Origin": "https://other.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
async def test_a_page_of_another_site_reaches_nothing(
    server: str, environment: dict[str, str], client: LangGraphClient, fetched: dict[str, str]
) -> None:
    thread = (await client.threads.create())["thread_id"]
    async with httpx.AsyncClient(base_url=server, headers=fetched, timeout=60) as page:
        for path, method in foreign_routes(environment):
            if path in {"/", "/ok", "/docs", "/openapi.json"}:
                continue
            # A form or an image of a page sends this without asking first.
            told = await page.request(method, path, content=b"{}")
            assert told.status_code in {403, 404, 405}, (method, path, told.status_code)
    assert (await client.threads.get(thread))["thread_id"] == thread


async def test_our_own_routes_are_there_too(server: str) -> None:
    async with httpx.AsyncClient(base_url=server, timeout=60) as client:
        graphs = (await client.get("/api/graphs")).json()["graphs"]
        assert "studio" in [graph["graphId"] for graph in graphs]


@pytest.mark.parametrize("body", [{}, {"namespace_prefix": None}])
async def test_a_search_of_stored_items_without_a_namespace_is_refused_with_its_way_out(
    server: str, body: dict[str, None]
) -> None:
    async with httpx.AsyncClient(base_url=server) as browser:
        answer = await browser.post("/store/items/search", json=body)
        every = await browser.post("/store/items/search", json={"namespace_prefix": []})
    assert (answer.status_code, answer.json()["code"]) == (422, "option_invalid")
    assert "namespace_prefix" in answer.json()["nextStep"]
    assert every.status_code == 200
