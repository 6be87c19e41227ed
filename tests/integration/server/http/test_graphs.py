"""Whole knowledge bases come and go as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest

from sextant.facade import Sextant
from sextant.server.openapi import examples

LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture
def graph() -> str:
    """Return a knowledge base that no other test knows, of a name that a path must not stumble over."""
    return f"kb/测试 {uuid4()}"


async def brought(
    client: httpx.AsyncClient, graph: str, lines: bytes | str, **query: str
) -> httpx.Response:
    content = lines.encode() if isinstance(lines, str) else lines
    path = f"/api/graphs/{graph}/import"
    return await client.post(path, content=content, headers=LINES, params=query)


async def test_what_was_imported_is_exported_and_imports_again_to_the_same(
    client: httpx.AsyncClient, graph: str
) -> None:
    first = await brought(client, graph, examples()["requests"]["importGraph"])
    assert first.json() == examples()["answers"]["importGraph"]["application/json"] | {
        "graphId": graph
    }
    exported = await client.get(f"/api/graphs/{graph}/export")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    kinds = [json.loads(line)["type"] for line in exported.text.splitlines()]
    assert kinds.count("chunk") == 2
    again = await brought(client, f"{graph} copy", exported.content)
    assert again.json()["chunks"] == 2
    assert not again.json()["problems"]


async def test_a_graph_alone_is_said_to_be_so_and_its_facts_become_passages(
    client: httpx.AsyncClient, graph: str
) -> None:
    lines = (
        '{"type": "relation", "source": "A", "target": "B", "relationType": "OWNS"}\n'
        '{"type": "entity", "name": "A"}\n{"type": "entity", "name": "B"}'
    )
    alone = (await brought(client, graph, lines)).json()
    assert (alone["chunks"], alone["graphAlone"]) == (0, True)
    told = (await brought(client, graph, lines, factsAsPassages="true")).json()
    assert (told["documents"], told["chunks"], told["graphAlone"]) == (1, 1, False)


async def test_lines_come_however_the_body_is_cut(client: httpx.AsyncClient, graph: str) -> None:
    async def drops() -> AsyncIterator[bytes]:
        content = examples()["requests"]["importGraph"].encode()
        for start in range(0, len(content), 7):
            yield content[start : start + 7]

    answer = await client.post(f"/api/graphs/{graph}/import", content=drops(), headers=LINES)
    assert answer.json() == examples()["answers"]["importGraph"]["application/json"] | {
        "graphId": graph
    }


async def test_a_bad_line_is_told_by_its_number_and_the_good_ones_stay(
    client: httpx.AsyncClient, graph: str
) -> None:
    lines = b'\n{"type": "entity", "name": "A"}\nno json\n\xff\xfe\n{"type": "entity", "name": "B"}'
    report = (await brought(client, graph, lines)).json()
    assert report["entities"] == 2
    assert [one["line"] for one in report["problems"]] == [3, 4]


async def test_strict_stops_at_the_first_bad_line_and_stores_nothing(
    client: httpx.AsyncClient, graph: str
) -> None:
    answer = await brought(client, graph, '{"type": "entity", "name": "A"}\nno json', strict="true")
    assert answer.status_code == 422
    assert "Line 2" in answer.json()["detail"]
    assert '"path"' not in answer.text  # a word of the command line, as is what begins so:
    assert "--" not in answer.text
    assert (await client.get(f"/api/graphs/{graph}/export")).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "application/json"},
        {"content-type": "text/plain"},
        {},
        LINES | {"content-encoding": "gzip"},
    ],
)
async def test_another_type_of_body_is_refused(
    client: httpx.AsyncClient, graph: str, headers: dict[str, str]
) -> None:
    answer = await client.post(f"/api/graphs/{graph}/import", content=b"{}", headers=headers)
    assert answer.status_code == 415


async def test_graphs_are_listed_in_pages_by_name_and_deleted(
    client: httpx.AsyncClient, graph: str
) -> None:
    for name in (f"{graph} 1", f"{graph} 2"):
        await brought(client, name, '{"type": "entity", "name": "A"}')
    seen, query = list[str](), dict[str, str]()
    while True:
        page = (await client.get("/api/graphs", params={"limit": "1"} | query)).json()
        seen += [one["graphId"] for one in page["graphs"]]
        if page["nextCursor"] is None:
            break
        query = {"cursor": page["nextCursor"]}
    assert seen == sorted(set(seen))
    assert {f"{graph} 1", f"{graph} 2"} <= set(seen)
    assert (await client.delete(f"/api/graphs/{graph} 1")).status_code == 204
    gone = await client.delete(f"/api/graphs/{graph} 1")
    assert (gone.status_code, gone.json()["code"]) == (404, "graph_not_found")


async def test_nobody_deletes_or_takes_what_is_somebody_elses(
    client: httpx.AsyncClient, foreign: Sextant
) -> None:
    assert (await client.delete("/api/graphs/theirs")).status_code == 404
    assert (await client.get("/api/graphs/theirs/export")).status_code == 404
    assert [one.graph_id for one in await foreign.graphs()] == ["theirs"]
