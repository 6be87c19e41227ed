"""The knowledge graph over HTTP: seed 001's search, entities, a part to draw, communities, sections."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from server.schemas import examples
from sextant.facade import Sextant

pytestmark = pytest.mark.usefixtures("book")

GRAPH = {"graphId": examples.GRAPH}
ENTITY = f"/api/knowledge/entities/{examples.ENTITY_ID}"


async def got(client: httpx.AsyncClient, path: str, **query: Any) -> dict[str, Any]:
    answer = await client.get(path, params=GRAPH | query)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert isinstance(body, dict)
    return body


async def test_entities_are_found_in_the_shape_of_seed_001(client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/knowledge/entities/search", json=examples.ENTITY_SEARCH)
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
    asked = examples.ENTITY_SEARCH | {"topK": 1}
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


async def test_sections_come_in_reading_order_each_after_the_one_it_lies_in(
    client: httpx.AsyncClient,
) -> None:
    found = (await client.post("/search", json=examples.SEARCH)).json()
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
        for asked in (own, examples.SOME_ID):
            answer = await client.get(path.format(asked), params=GRAPH)
            assert answer.status_code == 404
            problem = answer.json()
            problem.pop("requestId")
            told.append(problem | {"detail": problem["detail"].replace(str(asked), "ID")})
        assert told[0] == told[1]
