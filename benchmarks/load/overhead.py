"""What HTTP adds to a search: the same one by call and over TCP, by turns, in one process."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import median

import orjson
import uvicorn
from fastapi import FastAPI

from benchmarks.hybrid.store import scope_of
from benchmarks.load.world import Question, World
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.retrievers.chunk_search.search import SearchRequest
from sextant.server.app import create_app

TURNS, WARM_UP = 300, 60


async def overhead(settings: Settings, made: World) -> tuple[float, float]:
    """Return median seconds of CPU of the event loop's thread for a search over HTTP, and for the call.

    The client has a thread of its own, whose CPU is not counted.
    """
    app = create_app(settings)
    async with listening(app) as port:
        rag: Sextant = app.state.serving.rag
        connection = http.client.HTTPConnection("127.0.0.1", port)
        by_http, by_call = list[float](), list[float]()
        for number in range(TURNS):
            question = made.questions[number % len(made.questions)]
            user = rag.as_user(scope_of(question.tenant).user_id)
            started = time.thread_time()
            await user.search_chunks(SearchRequest(query=question.text), "library")
            by_call.append(time.thread_time() - started)
            started = time.thread_time()
            status = await asyncio.to_thread(_post, connection, question)
            by_http.append(time.thread_time() - started)
            assert status == 200
        connection.close()
    return median(by_http[WARM_UP:]), median(by_call[WARM_UP:])


def _post(connection: http.client.HTTPConnection, question: Question) -> int:
    body = orjson.dumps({"query": question.text, "graphId": "library"})
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {question.key}"}
    connection.request("POST", "/search", body, headers)
    response = connection.getresponse()
    response.read()
    return response.status


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[int]:
    """Provide the port on which this process serves `app` meanwhile."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn tells no event
        await asyncio.sleep(0.05)
    port: int = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield port
    finally:
        server.should_exit = True
        await running
