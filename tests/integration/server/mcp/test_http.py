"""The tools over streamable HTTP, called by the official client."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from sextant.server.mcp.server import PROBLEM
from tests.integration.server.calling import bearer
from tests.integration.server.mcp.clients import ERAS, OTHER, OWNER, client_of, text_of, told
from tests.integration.server.served import Served, judging

QUESTION = "付款节点有哪些？"
ANSWER = "付款节点分为预付款、到货款和验收款三个节点 [1]。"
KNOCK = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def found(client: Client, **more: Any) -> dict[str, Any]:
    """Return the best passage for a question about the contract."""
    result = told(await client.call_tool("kb.search", {"query": QUESTION, **more}))
    best: dict[str, Any] = result["results"][0]
    return best


@pytest.mark.parametrize("era", ERAS)
async def test_a_search_finds_passages_with_their_metadata(
    served: Served, keys: dict[str, str], era: str
) -> None:
    async with client_of(served, keys[OWNER], era=era) as client:
        result = await client.call_tool("kb.search", {"query": QUESTION, "limit": 3})
    page = told(result)
    best = page["results"][0]
    assert "预付款" in best["text"]
    assert best["parentSectionPath"][-1] == "第3章 付款"
    assert {"semanticTitle", "summary", "entities", "topics", "scores"} <= best.keys()
    assert page["graphId"] == "default"
    assert best["chunkId"] in text_of(result)
    assert best["text"] in text_of(result)


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_is_cited_and_tells_of_its_progress(
    served: Served, keys: dict[str, str], era: str
) -> None:
    served.script = judging(ANSWER)
    steps = list[tuple[float, str | None]]()

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    async with client_of(served, keys[OWNER], era=era) as client:
        result = await client.call_tool(
            "kb.ask", {"query": QUESTION, "debug": True}, progress_callback=progressed
        )
        answer = told(result)
        [source] = answer["sources"]
        seen = told(await client.call_tool("kb.preview", {"chunkId": source["chunkId"]}))
    [citation] = answer["citations"]
    assert citation["marker"] == source["marker"] == 1
    assert citation["quote"] in seen["passage"]["text"]
    assert answer["debug"]["usage"]["calls"] > 0
    assert text_of(result).startswith(answer["answer"])
    messages = [message for _, message in steps]
    assert messages[0] == "analyze"
    assert "writing the answer" in messages
    assert [done for done, _ in steps] == sorted({done for done, _ in steps})


async def test_a_search_ranks_as_the_mode_that_is_asked_for(
    served: Served, keys: dict[str, str]
) -> None:
    async with client_of(served, keys[OWNER]) as client:
        page = told(
            await client.call_tool(
                "kb.search", {"query": QUESTION, "mode": "naive", "limit": 2, "debug": True}
            )
        )
        rest = told(
            await client.call_tool(
                "kb.search",
                {"query": QUESTION, "mode": "naive", "limit": 2, "cursor": page["nextCursor"]},
            )
        )
    assert page["debug"]["mode"] == "naive"
    assert "预付款" in page["results"][0]["text"]
    assert not {one["chunkId"] for one in page["results"]} & {
        one["chunkId"] for one in rest["results"]
    }


async def test_a_passage_is_previewed_in_its_section(served: Served, keys: dict[str, str]) -> None:
    async with client_of(served, keys[OWNER]) as client:
        best = await found(client)
        result = await client.call_tool("kb.preview", {"chunkId": best["chunkId"]})
    seen = told(result)
    assert seen["passage"]["text"] == best["text"]
    assert seen["section"]["title"] == "第3章 付款"
    assert seen["section"]["path"] == best["parentSectionPath"]
    assert "签订" in seen["before"]
    assert "增值税" in seen["after"]
    assert best["text"] in text_of(result)


async def test_related_passages_come_from_the_section_tree_and_the_graph(
    served: Served, keys: dict[str, str]
) -> None:
    async with client_of(served, keys[OWNER]) as client:
        best = await found(client)
        seen = told(await client.call_tool("kb.preview", {"chunkId": best["chunkId"]}))
        around = told(await client.call_tool("kb.related", {"chunkId": best["chunkId"]}))
        within = {"parentSectionPath": ["合同", "第4章"]}
        far = await found(client, filters=within)
        linked = told(await client.call_tool("kb.related", {"chunkId": far["chunkId"]}))
    relations = {one["relation"]: one["chunkId"] for one in around["results"]}
    assert relations["previous"] == seen["previousChunkId"]
    assert relations["next"] == seen["nextChunkId"]
    assert best["chunkId"] not in relations.values()
    by_graph = [one for one in linked["results"] if one["relation"] == "linked"]
    assert [one["parentSectionPath"][-1] for one in by_graph] == ["第1章 总则"]
    assert "物流有限公司" in by_graph[0]["sharedEntities"]


async def test_a_result_s_address_can_be_read_as_a_resource(
    served: Served, keys: dict[str, str]
) -> None:
    async with client_of(served, keys[OWNER]) as client:
        best = await found(client)
        seen = told(await client.call_tool("kb.preview", {"chunkId": best["chunkId"]}))
        address = seen["passage"]["resource"]
        assert address == f"kb://doc/{best['documentId']}#{best['chunkId']}"
        passage = await client.read_resource(address)
        whole = await client.read_resource(address.partition("#")[0])
        with pytest.raises(MCPError, match="chunk_not_found"):
            await client.read_resource(f"{address[:-12]}{'0' * 12}")
    assert passage.contents[0].text == best["text"]  # type: ignore[union-attr]
    assert "第1章 总则" in whole.contents[0].text  # type: ignore[union-attr]


async def test_both_paths_have_the_same_tools_under_other_names(
    served: Served, keys: dict[str, str]
) -> None:
    listed = list[list[dict[str, Any]]]()
    for path in ("/mcp", "/mcp-compat"):
        async with client_of(served, keys[OWNER], path=path) as client:
            tools = (await client.list_tools()).tools
            listed.append([tool.model_dump() for tool in tools])
    dotted, compat = listed
    assert [tool.pop("name") for tool in dotted] == [
        "kb.search",
        "kb.related",
        "kb.preview",
        "kb.ask",
    ]
    assert [tool.pop("name") for tool in compat] == [
        "kb_search",
        "kb_related",
        "kb_preview",
        "kb_ask",
    ]
    assert dotted == compat
    assert all(tool["annotations"]["read_only_hint"] for tool in dotted)
    assert all(tool["output_schema"] for tool in dotted)


async def test_the_names_without_a_dot_are_called_as_well(
    served: Served, keys: dict[str, str]
) -> None:
    async with client_of(served, keys[OWNER], path="/mcp-compat") as client:
        page = told(await client.call_tool("kb_search", {"query": QUESTION}))
    assert "预付款" in page["results"][0]["text"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp-compat"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_no_stream_is_opened_that_nothing_would_come_on(
    served: Served, keys: dict[str, str], path: str, method: str
) -> None:
    """A GET stayed open for ever, and held a connection."""
    headers = ACCEPT | {"Authorization": f"Bearer {keys[OWNER]}"}
    async with served.client(headers=headers) as client:
        answer = await client.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "OPTIONS, POST"


@pytest.mark.parametrize("path", ["/mcp", "/mcp-compat"])
async def test_without_a_key_nothing_is_served(served: Served, path: str) -> None:
    async with served.client() as client:
        answer = await client.post(path, headers=ACCEPT)
        wrong = await client.post(path, headers=ACCEPT | bearer("sxt_wrong"))
    assert answer.status_code == wrong.status_code == 401
    assert answer.json()["code"] == "unauthorised"


async def test_a_server_is_answered_by_whatever_name_it_is_reached(
    served: Served, keys: dict[str, str]
) -> None:
    headers = ACCEPT | bearer(keys[OWNER]) | {"Host": "kb.example.com"}
    async with served.client(headers=headers) as client:
        answer: httpx.Response = await client.post("/mcp", json=KNOCK)
    assert answer.status_code == 200


async def test_nobody_sees_another_s_passages(served: Served, keys: dict[str, str]) -> None:
    async with client_of(served, keys[OTHER]) as client:
        secret = told(await client.call_tool("kb.search", {"query": "canary Zanzibar"}))
        mine = secret["results"][0]
        address = f"kb://doc/{mine['documentId']}#{mine['chunkId']}"
    assert "Zanzibar" in mine["text"]
    async with client_of(served, keys[OWNER]) as client:
        searched = await client.call_tool("kb.search", {"query": "canary Zanzibar"})
        unknown = mine["chunkId"][:-12] + "0" * 12
        for tool in ("kb.preview", "kb.related"):
            foreign = await client.call_tool(tool, {"chunkId": mine["chunkId"]})
            nothing = await client.call_tool(tool, {"chunkId": unknown})
            assert foreign.is_error
            assert text_of(foreign) == text_of(nothing).replace(unknown, mine["chunkId"])
        with pytest.raises(MCPError, match="document_not_found"):
            await client.read_resource(address)
    assert "Zanzibar" not in text_of(searched)
    assert "Zanzibar" not in str(told(searched))


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        ("kb.search", {"query": "x", "limit": 999}, "option_invalid", "limit"),
        ("kb.search", {"query": " "}, "question_invalid", "question"),
        ("kb.search", {"query": "x", "graphId": "nowhere"}, "graph_not_found", "nowhere"),
        ("kb.search", {"query": "x", "filter": {}}, "option_invalid", "filters"),
        ("kb.search", {"query": "x", "filters": {"topicLabel": ["a"]}}, "option_invalid", "topic"),
        ("kb.search", {"query": "x", "cursor": "garbage"}, "option_invalid", "cursor"),
        ("kb.preview", {"chunkId": "garbage"}, "chunk_not_found", "garbage"),
        ("kb.ask", {"query": "x", "mode": "psychic"}, "option_invalid", "mode"),
        ("kb.ask", {"query": "x", "graphId": "nowhere"}, "graph_not_found", "nowhere"),
        ("kb.search", {}, "option_invalid", "query"),
    ],
)
async def test_a_wrong_call_is_told_what_is_wrong(  # noqa: PLR0917 - reads as a row of a table
    served: Served,
    keys: dict[str, str],
    tool: str,
    arguments: dict[str, Any],
    code: str,
    says: str,
) -> None:
    async with client_of(served, keys[OWNER]) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    # What is structured has to be of the tool's schema, or the TypeScript client throws.
    assert result.structured_content is None
    assert result.meta is not None
    assert result.meta[PROBLEM]["code"] == code
    assert text_of(result).startswith(f"{code}: ")
    assert says in text_of(result)
    assert "Traceback" not in text_of(result)


async def test_the_modes_of_an_answer_are_all_told(served: Served, keys: dict[str, str]) -> None:
    async with client_of(served, keys[OWNER]) as client:
        result = await client.call_tool("kb.ask", {"query": "Why?", "mode": "telepathy"})
    modes = "'auto', 'bypass', 'naive', 'local', 'global', 'hybrid' or 'mix'"
    assert text_of(result) == f"option_invalid: mode: Input should be {modes}."


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"query": "x", "graph_id": "default"}, "graph_id"),
        ({"query": "x", "filters": {"topic_label": ["a"]}}, "filters.topic_label"),
        ({"query": "x", "graphId": "nowhere"}, "graphId"),
        ({"query": "x", "includeNeighbors": "maybe"}, "includeNeighbors"),
    ],
)
async def test_the_field_at_fault_is_told_as_the_caller_wrote_it(
    served: Served, keys: dict[str, str], arguments: dict[str, Any], field: str
) -> None:
    """`graph_id` was told as `graphId`, which is the right name."""
    async with client_of(served, keys[OWNER]) as client:
        result = await client.call_tool("kb.search", arguments)
    assert result.meta is not None
    problem = result.meta[PROBLEM]
    assert problem["field"] == field
    assert text_of(result).startswith(f"{problem['code']}: {problem['detail']}")
