"""`POST /search` answers page by page, and to nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI

from sextant.server.lifespan import Serving
from sextant.server.openapi import examples

SOME_ID = examples()["parameters"]["documentId"]
pytestmark = pytest.mark.usefixtures("book")

ASKED = {"query": "Rust 的所有权和借用", "graphId": "rust"}


async def search(client: httpx.AsyncClient, **options: object) -> dict[str, Any]:
    answer = await client.post("/search", json=ASKED | options)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert isinstance(body, dict)
    return body


async def test_a_result_has_the_fields_of_the_seed(client: httpx.AsyncClient) -> None:
    found = await search(client, includeNeighbors=True)
    assert {"results", "nextCursor", "total", "searchTimeMs"} <= found.keys()
    best = found["results"][0]
    wanted = {"chunkId", "documentId", "externalId", "text", "score", "scores", "semanticTitle"}
    wanted |= {"summary", "topics", "keywords", "entities", "parentSectionPath", "neighbors"}
    assert wanted <= best.keys()
    assert best["externalId"] == "book-1"
    assert {"name": "所有权系统", "type": "concept"} in best["entities"]


@pytest.mark.parametrize("mode", [None, "naive", "local", "hybrid", "mix", "auto"])
async def test_every_mode_answers_in_the_same_shape(
    client: httpx.AsyncClient, mode: str | None
) -> None:
    plain, found = await search(client), await search(client, mode=mode)
    assert found["results"]
    assert all(one.keys() == plain["results"][0].keys() for one in found["results"])
    scores = [one["score"] for one in found["results"]]
    assert scores == sorted(scores, reverse=True)


class Longest:
    """A reranker that prefers long passages."""

    name = "longest"

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]


@pytest.mark.parametrize("mode", [None, "mix"])
async def test_the_reranker_is_left_out_where_it_is_not_wanted(
    client: httpx.AsyncClient, app: FastAPI, mode: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = cast("Serving", app.state.serving)
    retriever = (await serving.rag.dependencies()).retriever
    searching = await serving.rag._parts.chunk_search()
    monkeypatch.setitem(retriever.__dict__, "reranker", Longest())
    monkeypatch.setattr(searching, "_reranker", Longest())
    judged = await search(client, mode=mode)
    plain = await search(client, mode=mode, rerank=False)
    assert any("rerank" in one["scores"] for one in judged["results"])
    assert not any("rerank" in one["scores"] for one in plain["results"])


@pytest.mark.parametrize("mode", [None, "naive", "local", "global", "hybrid", "mix", "auto"])
async def test_pages_lead_through_all_results_once(
    client: httpx.AsyncClient, mode: str | None
) -> None:
    whole = await search(client, mode=mode)
    seen, cursor = [], None
    while True:
        page = await search(client, mode=mode, limit=1, cursor=cursor)
        seen += [one["chunkId"] for one in page["results"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == [one["chunkId"] for one in whole["results"]]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"entityTypes": ["tool"]}, True),
        ({"entityTypes": ["PERSON"]}, False),
        ({"parentSectionPath": ["借用"]}, True),
        ({"createdAfter": "2999-01-01"}, False),
        ({"documentIds": [SOME_ID]}, False),
    ],
)
async def test_filters_bound_what_is_found(
    client: httpx.AsyncClient, filters: dict[str, Any], left: bool
) -> None:
    assert bool((await search(client, filters=filters))["results"]) is left


@pytest.mark.parametrize("mode", [None, "naive"])
@pytest.mark.parametrize("change", ["cut", "turn", "other question", "nonsense"])
async def test_a_cursor_that_is_not_of_this_search_is_refused(
    client: httpx.AsyncClient, mode: str | None, change: str
) -> None:
    cursor = (await search(client, mode=mode, limit=1))["nextCursor"]
    asked: dict[str, Any] = ASKED | {"mode": mode, "limit": 1}
    match change:
        case "cut":
            asked["cursor"] = cursor[:-4]
        case "turn":
            asked["cursor"] = cursor[:8] + ("A" if cursor[8] != "A" else "B") + cursor[9:]
        case "other question":
            asked |= {"cursor": cursor, "query": "something else"}
        case _:
            asked["cursor"] = "\u0000../../é"
    answer = await client.post("/search", json=asked)
    assert (answer.status_code, answer.json()["field"]) == (422, "cursor")


async def test_a_misspelt_filter_is_refused_with_the_one_that_was_meant(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.post("/search", json=ASKED | {"filters": {"topicLabel": ["x"]}})
    assert answer.status_code == 422
    assert "topicLabels" in answer.json()["nextStep"]


@pytest.mark.parametrize(
    ("ranking", "field"),
    [({"vector": "a"}, "ranking.vector"), ({"keyword": -1}, "ranking.keyword"), ([], "ranking")],
)
async def test_a_ranking_that_means_nothing_is_refused_by_name(
    client: httpx.AsyncClient, ranking: object, field: str
) -> None:
    answer = await client.post("/search", json=ASKED | {"ranking": ranking})
    assert (answer.status_code, answer.json()["field"]) == (422, field)


async def test_debug_says_how_a_score_came_about(client: httpx.AsyncClient) -> None:
    found = await search(client, debug=True)
    signals = found["results"][0]["signals"]
    whole = sum(one["contribution"] for one in signals.values())
    assert whole == pytest.approx(found["results"][0]["scores"]["hybrid"])
    assert found["debug"]["timings"]["total"] > 0


@pytest.mark.parametrize(
    ("mode", "stepping_in"), [("naive", False), ("mix", True), ("hybrid", True)]
)
async def test_debug_tells_the_constants_that_a_mode_goes_by(
    client: httpx.AsyncClient, mode: str, stepping_in: bool
) -> None:
    """Every constant is reported in `debug`."""
    told = (await search(client, mode=mode, debug=True))["debug"]
    constants = told["constants"]
    index = {"hnswM": 8, "hnswEfConstruction": 128, "hnswEfSearch": 200, "maxKeywords": 10}
    fusion = {"rrfK": 60, "vectorWeight": 0.7, "keywordWeight": 0.3}
    assert told["mode"] == mode
    assert index.items() <= constants.items()
    assert (fusion.items() <= constants.items()) == ("entityEfSearch" in constants) == stepping_in
    assert "rerankPairs" not in constants


@pytest.mark.usefixtures("foreign")
async def test_somebody_elses_knowledge_base_is_not_there(client: httpx.AsyncClient) -> None:
    theirs = await client.post("/search", json=ASKED | {"graphId": "theirs"})
    nobodys = await client.post("/search", json=ASKED | {"graphId": "nobody's"})
    assert (theirs.status_code, theirs.json()["code"]) == (404, "graph_not_found")
    told = [one.json()["detail"].partition("'. ")[2] for one in (theirs, nobodys)]
    assert theirs.json().keys() == nobodys.json().keys()
    assert "theirs" not in told[0]
