"""Users with knowledge bases that hold words which nobody else may ever see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI

from sextant.facade import Sextant
from sextant.server.lifespan import Serving
from tests.integration.server.auth.routes import GRAPH, QUESTION, Ids
from tests.integration.server.calling import bearer, calling


def canaries(user: str) -> dict[str, str]:
    """Return words of one user's documents, by where they stand."""
    return {
        place: f"{place}{user}canary"
        for place in ("title", "text", "entity", "described", "chunk", "meta", "external")
    }


async def _lines(user: str, graph: str) -> AsyncIterator[dict[str, Any]]:
    word = canaries(user)
    yield {
        "type": "document", "id": f"{word['external']}-{graph}", "title": f"Contract {word['title']}",
        "metadata": {"note": word["meta"]},
    }  # fmt: skip
    for number in range(4):
        yield {
            "type": "chunk", "id": f"{word['external']}-{graph}-{number}",
            "documentId": f"{word['external']}-{graph}", "title": f"Part {number} {word['chunk']}",
            "text": f"The contract of the Northern office is signed by {word['text']}, part {number}.",
            "entities": ["Northern office", f"Office {word['entity']}"],
            "triples": [["Northern office", "signs with", f"Office {word['entity']}"]],
        }  # fmt: skip
    yield {
        "type": "entity", "name": f"Office {word['entity']}", "entityType": "place",
        "description": f"An office, {word['described']}",
    }  # fmt: skip


def of_user(app: FastAPI, user: str) -> Sextant:
    serving: Serving = app.state.serving
    return serving.rag.as_user(user)


async def furnish(app: FastAPI, user: str, key: str, graph: str = GRAPH) -> Ids:
    """Return a knowledge base of a user with everything that has an id; an answer of which is kept."""
    rag = of_user(app, user)
    await rag.import_graph(_lines(user, graph), graph)
    async with calling(app, bearer(key)) as client:
        asked = {"query": QUESTION, "graphId": graph}
        thread = f"contracts of {user}/{graph}"
        await client.post("/api/query", json=asked | {"mode": "naive", "threadId": thread})
        run = await client.post("/api/query", json=asked | {"mode": "naive", "stream": True})
        found = (await client.post("/search", json=asked)).json()["results"][0]
        seen = (await client.get("/api/knowledge/graph", params={"graphId": graph})).json()
    return Ids(
        document=found["documentId"],
        entity=seen["nodes"][0]["id"],
        chunk=found["chunkId"],
        run=run.headers["content-location"].split("/")[3],
        graph=graph,
        thread=thread,
    )
