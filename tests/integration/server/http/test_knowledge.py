"""The knowledge graph over HTTP: search, entities, a part to draw, communities, sections."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sextant.facade import Sextant
from sextant.server.openapi import examples

pytestmark = pytest.mark.usefixtures("book")

GRAPH = {"graphId": "rust"}
ENTITY = f"/api/knowledge/entities/{examples()['parameters']['entityId']}"


async def got(client: httpx.AsyncClient, path: str, **query: Any) -> dict[str, Any]:
    answer = await client.get(path, params=GRAPH | query)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert isinstance(body, dict)
    return body


async def test_entities_are_found_in_the_shape_of_seed_001(client: httpx.AsyncClient) -> None:
    answer = await client.post(
        "/api/knowledge/entities/search", json=examples()["requests"]["searchEntities"]
    )
    found = answer.json()
    assert found.keys() == {"results", "total", "query", "searchTimeMs"}
    best = found["results"][0]
    assert best.keys() == {"entity", "scores", "sources", "relatedEntities"}
    assert best["entity"].keys() == {"id", "name", "description", "entityType"}
    assert best["entity"]["name"] == "所有权系统"
    assert best["scores"].keys() == {"vector", "fts", "graph", "final"}
    assert set(best["sources"]) <= {"vector", "fts", "graph"}
    assert best["relatedEntities"][0] == {
        "entity": {"id": best["relatedEntities"][0]["entity"]["id"], "name": "借用检查器"},
        "relationType": "part_of",
    }


async def test_entities_come_in_pages(client: httpx.AsyncClient) -> None:
    asked = examples()["requests"]["searchEntities"] | {"topK": 1}
    first = (await client.post("/api/knowledge/entities/search", json=asked)).json()
    asked |= {"cursor": first["nextCursor"]}
    second = (await client.post("/api/knowledge/entities/search", json=asked)).json()
    assert first["results"][0]["entity"]["id"] != second["results"][0]["entity"]["id"]


async def test_an_entity_tells_its_relations_and_where_it_is_mentioned(
    client: httpx.AsyncClient,
) -> None:
    entity = await got(client, ENTITY)
    assert entity["name"] == "所有权系统"
    assert "借用检查器" in {one["source"] for one in entity["relations"]}
    assert any("所有权系统" in one["sentence"] for one in entity["mentions"])
    listed = await got(client, "/api/knowledge/communities")
    assert {one["id"] for one in entity["communities"]} <= {
        one["id"] for one in listed["communities"]
    }


async def test_a_drawing_holds_its_bounds_and_its_edges_join_its_nodes(
    client: httpx.AsyncClient,
) -> None:
    asked: list[dict[str, Any]] = [
        {"limit": 2},
        {"seed": "所有权系统", "limit": 1},
        {"seed": "借用检查器", "depth": 2, "limit": 3},
    ]
    for query in asked:
        drawn = await got(client, "/api/knowledge/graph", **query)
        ids = {one["id"] for one in drawn["nodes"]}
        assert len(drawn["nodes"]) <= query["limit"]
        assert all({one["source"], one["target"]} <= ids for one in drawn["edges"])
    assert (await got(client, "/api/knowledge/graph", seed="所有权系统", limit=1))["truncated"]


async def test_communities_come_in_pages_each_once(client: httpx.AsyncClient) -> None:
    whole = await got(client, "/api/knowledge/communities")
    seen, query = list[str](), dict[str, str]()
    while True:
        page = await got(client, "/api/knowledge/communities", limit=1, **query)
        seen += [one["id"] for one in page["communities"]]
        if page["nextCursor"] is None:
            break
        query = {"cursor": page["nextCursor"]}
    assert seen == [one["id"] for one in whole["communities"]]
    assert seen
    other = await client.get(
        "/api/knowledge/communities", params=GRAPH | {"level": 1, "cursor": "AAAA"}
    )
    assert other.status_code == 422


@pytest_asyncio.fixture
async def alike(client: httpx.AsyncClient) -> str:
    """Return a knowledge base of three towns under two names each that are alike."""
    names = [
        f"{town} {kind}"
        for town in ("Aldersbury", "Cobaltford", "Pemberquay")
        for kind in ("Harbour", "Harbours Ltd")
    ]
    await sent(client, "alike", [{"type": "entity", "name": name} for name in names])
    return "alike"


async def sent(client: httpx.AsyncClient, graph_id: str, lines: list[dict[str, Any]]) -> None:
    body = b"\n".join(json.dumps(line).encode() for line in lines)
    path = f"/api/graphs/{graph_id}/import"
    answer = await client.post(path, content=body, headers={"content-type": "application/x-ndjson"})
    assert answer.json()["problems"] == []


async def test_pairs_that_may_be_one_thing_come_in_pages_each_once(
    client: httpx.AsyncClient, alike: str
) -> None:
    path = "/api/knowledge/entities/duplicates"
    whole = await got(client, path, graphId=alike)
    assert whole["nextCursor"] is None
    seen, query = list[dict[str, Any]](), dict[str, str]()
    while True:
        page = await got(client, path, graphId=alike, limit=2, **query)
        seen += page["pairs"]
        if page["nextCursor"] is None:
            break
        query = {"cursor": page["nextCursor"]}
    assert seen == whole["pairs"]
    assert len(seen) == 3
    first = seen[0]
    assert first.keys() == {"oneId", "oneName", "otherId", "otherName", "reason", "score"}
    entity = await got(client, f"/api/knowledge/entities/{first['oneId']}", graphId=alike)
    assert entity["name"] == first["oneName"]
    elsewhere = await client.get(path, params=GRAPH | query)
    assert elsewhere.status_code == 422


async def test_a_pair_is_decided_either_way_by_a_line_of_an_import(
    client: httpx.AsyncClient, alike: str
) -> None:
    path = "/api/knowledge/entities/duplicates"
    one, two, three = (await got(client, path, graphId=alike))["pairs"]
    said = [
        {"type": "decision", "source": pair["oneName"], "target": pair["otherName"], "same": same}
        for pair, same in ((one, True), (two, False))
    ]
    await sent(client, alike, said)
    assert (await got(client, path, graphId=alike))["pairs"] == [three]
    merged = await got(client, f"/api/knowledge/entities/{one['oneId']}", graphId=alike)
    assert merged["name"] == one["otherName"]


async def test_pairs_of_others_are_never_listed(
    client: httpx.AsyncClient, rag: Sextant, alike: str
) -> None:
    other = rag.as_user("somebody-with-the-same")
    names = [
        {"type": "entity", "name": f"Zolkiewska {kind}"} for kind in ("Harbour", "Harbours Ltd")
    ]
    await other.import_graph(names, alike)
    await other.import_graph(names, "their-pairs")
    [theirs] = (await (await other.entities(alike)).duplicates()).pairs
    own = await got(client, "/api/knowledge/entities/duplicates", graphId=alike)
    assert str(theirs.one_id) not in str(own)
    assert "Zolkiewska" not in str(own)
    unseen = await client.get(
        "/api/knowledge/entities/duplicates", params={"graphId": "their-pairs"}
    )
    assert unseen.status_code == 404


async def test_sections_come_in_reading_order_each_after_the_one_it_lies_in(
    client: httpx.AsyncClient,
) -> None:
    found = (await client.post("/search", json=examples()["requests"]["search"])).json()
    document = found["results"][0]["documentId"]
    structure = await got(client, f"/documents/{document}/structure")
    unsaid = await client.get(f"/documents/{document}/structure")
    assert unsaid.json() == structure  # its id alone says which knowledge base it is of
    sections = structure["sections"]
    assert [one["title"] for one in sections] == ["Rust 程序设计", "所有权", "借用"]
    known = {None}
    for section in sections:
        assert section.keys() >= {"sectionId", "parentSectionId", "title", "summary", "tags"}
        assert section["parentSectionId"] in known
        known.add(section["sectionId"])


async def test_what_is_unknown_and_what_is_somebody_elses_answer_the_same(
    client: httpx.AsyncClient, foreign: Sextant
) -> None:
    [document] = await foreign.documents("theirs")
    [entity, *_] = await (await foreign.entities("theirs")).top()
    for path, own in (
        ("/documents/{}/structure", document.id),
        ("/api/knowledge/entities/{}", entity.id),
    ):
        told = list[dict[str, Any]]()
        for asked in (own, examples()["parameters"]["documentId"]):
            answer = await client.get(path.format(asked), params=GRAPH)
            assert answer.status_code == 404
            problem = answer.json()
            problem.pop("requestId")
            told.append(problem | {"detail": problem["detail"].replace(str(asked), "ID")})
        assert told[0] == told[1]
